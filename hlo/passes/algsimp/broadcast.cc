#include <memory>
#include <optional>
#include <utility>

#include "hlo/passes/algsimp/rules.h"

namespace hone::hlo::algsimp {
namespace {

bool IsAscending(absl::Span<const int64_t> values) {
  for (size_t i = 1; i < values.size(); ++i) {
    if (values[i] <= values[i - 1]) return false;
  }
  return true;
}

Instruction MakeIota(ShapePtr shape, int64_t dimension) {
  return Instruction(Opcode::kIota, std::move(shape), {},
                     DimensionAttributes({dimension}));
}

// broadcast(reshape(x)) → broadcast(x'), x' being x or a reshape of x: where
// the reshape only inserts dimensions of size 1, x can be broadcast directly.
bool SkipDegenerateReshape(Rewriter& r, InstructionId id) {
  const InstructionId reshape = r.operand(id, 0);
  const InstructionId x = r.operand(reshape, 0);
  const DimensionVector& from = r.dimensions_of(reshape);
  const DimensionVector& to = r.dimensions_of(x);
  if (to.size() > from.size() || !OnlyDegenerateDimensionsDiffer(from, to)) {
    return false;
  }
  // Find each dimension of x, in order, among those of the reshape.
  const DimensionVector& mapping = r[id].dimensions();
  DimensionVector composed;
  size_t i = 0;
  for (int64_t size : to) {
    while (i < from.size() && from[i] != size) ++i;
    if (i == from.size()) return false;
    composed.push_back(mapping[i++]);
  }
  return r.Replace(id, MakeBroadcast(r, x, r.dimensions_of(id), composed));
}

}  // namespace

// broadcast(x) → x: nothing added or moved
// broadcast(x) → reshape(x): only dimensions of size 1 added
// broadcast(broadcast(x)) → broadcast(x)
// broadcast(iota) → iota
// SkipDegenerateReshape
bool SimplifyBroadcast(Rewriter& r, InstructionId id) {
  const InstructionId x = r.operand(id, 0);
  const DimensionVector& mapping = r[id].dimensions();
  const DimensionVector& to = r.dimensions_of(id);
  if (r.shape(x).num_elements() == r.shape(id).num_elements() &&
      r.shape(id).num_elements() > 0 && IsAscending(mapping)) {
    if (r.dimensions_of(x) == to) return r.Replace(id, x);
    return r.Replace(id, MakeReshape(r, x, to));
  }
  if (r.Is(x, Opcode::kBroadcast)) {
    DimensionVector composed;
    for (int64_t dimension : r[x].dimensions()) {
      composed.push_back(mapping[static_cast<size_t>(dimension)]);
    }
    return r.Replace(id, MakeBroadcast(r, r.operand(x, 0), to, composed));
  }
  if (r.Is(x, Opcode::kIota)) {
    const int64_t dimension = r[x].dimensions()[0];
    return r.ReplaceWith(id, MakeIota(r[id].shape_ptr(),
                                      mapping[static_cast<size_t>(dimension)]));
  }
  if (r.Is(x, Opcode::kReshape)) return SkipDegenerateReshape(r, id);
  return false;
}

// iota of one element → constant 0
bool SimplifyIota(Rewriter& r, InstructionId id) {
  const Shape& shape = r.shape(id);
  if (shape.num_elements() != 1) return false;
  return r.Replace(
      id, MakeFilledConstant(r, Literal::ScalarInt(shape.element_type(), 0),
                             shape.dimensions()));
}

}  // namespace hone::hlo::algsimp
