// Broadcasts and iotas. All exact.
//
//   broadcast(x) → x                         nothing added or moved
//   broadcast(x) → reshape(x)                only dimensions of size 1 added
//   broadcast(broadcast(x)) → broadcast(x)
//   broadcast(iota) → iota
//   broadcast(reshape(x)) → broadcast(x)     the reshape inserts ones only
//   iota of one element → constant 0

#include "hlo/passes/algsimp/rules.h"

namespace hone::hlo::algsimp {
namespace {

bool IsAscending(absl::Span<const int64_t> values) {
  for (size_t i = 1; i < values.size(); ++i) {
    if (values[i] <= values[i - 1]) return false;
  }
  return true;
}

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

bool SimplifyBroadcast(Rewriter& r, InstructionId id) {
  const InstructionId x = r.operand(id, 0);
  const DimensionVector& mapping = r[id].dimensions();
  const DimensionVector& to = r.dimensions_of(id);
  const int64_t elements = r.shape(id).num_elements();
  if (elements > 0 && r.shape(x).num_elements() == elements &&
      IsAscending(mapping)) {
    return r.Replace(id, MakeReshape(r, x, to));
  }
  if (r.Is(x, Opcode::kReshape)) return SkipDegenerateReshape(r, id);
  const bool is_iota = r.Is(x, Opcode::kIota);
  if (!is_iota && !r.Is(x, Opcode::kBroadcast)) return false;
  DimensionVector composed;
  for (int64_t d : r[x].dimensions()) {
    composed.push_back(mapping[static_cast<size_t>(d)]);
  }
  return r.Replace(
      id, is_iota ? MakeIota(r, r.shape(id).element_type(), to, composed[0])
                  : MakeBroadcast(r, r.operand(x, 0), to, composed));
}

bool SimplifyIota(Rewriter& r, InstructionId id) {
  const Shape& shape = r.shape(id);
  if (shape.num_elements() != 1) return false;
  return r.Replace(
      id, MakeFilledConstant(r, Literal::ScalarInt(shape.element_type(), 0),
                             shape.dimensions()));
}

}  // namespace hone::hlo::algsimp
