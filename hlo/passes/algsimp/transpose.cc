#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "hlo/passes/algsimp/rules.h"

namespace hone::hlo::algsimp {
namespace {

// transpose(broadcast(x)) → broadcast(x), when the dimensions of x stay in
// order (a broadcast should not transpose).
bool TransposeOfBroadcast(Rewriter& r, InstructionId id) {
  const InstructionId broadcast = r.operand(id, 0);
  const DimensionVector inverse = InversePermutation(r[id].dimensions());
  DimensionVector mapping;
  for (int64_t dimension : r[broadcast].dimensions()) {
    mapping.push_back(inverse[static_cast<size_t>(dimension)]);
  }
  if (!std::is_sorted(mapping.begin(), mapping.end())) return false;
  return r.Replace(id, MakeBroadcast(r, r.operand(broadcast, 0),
                                     r.dimensions_of(id), mapping));
}

// transpose(dot(a, b)) → dot(b, a), when the permutation keeps the batch
// dimensions in front and swaps the block of a's free dimensions with b's. When
// the dot has no other user.
bool TransposeOfDot(Rewriter& r, InstructionId id) {
  const InstructionId dot = r.operand(id, 0);
  const Attributes& attributes = r[dot].attributes();
  if (!r.DiesWith(dot, id) || attributes.dot == nullptr ||
      !attributes.others.empty() || r[dot].operand_count() != 2) {
    return false;
  }
  const DotDimensions& d = *attributes.dot;
  const int64_t batch = static_cast<int64_t>(d.lhs_batch.size());
  const int64_t lhs_free = r.shape(r.operand(dot, 0)).rank() - batch -
                           static_cast<int64_t>(d.lhs_contracting.size());
  const int64_t rank = r.shape(dot).rank();
  DimensionVector swapped = IdentityPermutation(batch);
  for (int64_t i = batch + lhs_free; i < rank; ++i) swapped.push_back(i);
  for (int64_t i = batch; i < batch + lhs_free; ++i) swapped.push_back(i);
  if (swapped != r[id].dimensions()) return false;
  auto dimensions = std::make_shared<DotDimensions>();
  dimensions->lhs_batch = d.rhs_batch;
  dimensions->rhs_batch = d.lhs_batch;
  dimensions->lhs_contracting = d.rhs_contracting;
  dimensions->rhs_contracting = d.lhs_contracting;
  auto result = std::make_shared<Attributes>(attributes);
  result->dot = std::move(dimensions);
  return r.ReplaceWith(id, Instruction(Opcode::kDot, r[id].shape_ptr(),
                                       {r.operand(dot, 1), r.operand(dot, 0)},
                                       std::move(result)));
}

}  // namespace

// transpose(x) → x: identity permutation
// transpose(transpose(x)) → transpose(x)
// transpose(x) → reshape(x): only dimensions of size 1 move
// transpose(iota) → iota
// TransposeOfBroadcast, TransposeOfDot
bool SimplifyTranspose(Rewriter& r, InstructionId id) {
  const InstructionId x = r.operand(id, 0);
  const DimensionVector& permutation = r[id].dimensions();
  if (IsIdentityPermutation(permutation)) return r.Replace(id, x);
  if (r.Is(x, Opcode::kTranspose)) {
    DimensionVector composed;
    for (int64_t d : permutation) {
      composed.push_back(r[x].dimensions()[static_cast<size_t>(d)]);
    }
    return r.Replace(id, MakeTranspose(r, r.operand(x, 0), composed));
  }
  int64_t last = -1;
  bool only_degenerate = true;
  for (int64_t d : permutation) {
    if (r.shape(x).dimension(d) == 1) continue;
    only_degenerate &= d > last;
    last = d;
  }
  if (only_degenerate) {
    return r.Replace(id, MakeReshape(r, x, r.dimensions_of(id)));
  }
  switch (r[x].opcode()) {
    case Opcode::kBroadcast:
      return TransposeOfBroadcast(r, id);
    case Opcode::kDot:
      return TransposeOfDot(r, id);
    case Opcode::kIota: {
      const DimensionVector inverse = InversePermutation(permutation);
      return r.ReplaceWith(
          id, Instruction(
                  Opcode::kIota, r[id].shape_ptr(), {},
                  DimensionAttributes(
                      {inverse[static_cast<size_t>(r[x].dimensions()[0])]})));
    }
    default:
      return false;
  }
}

// reverse(x) → x: all reversed dimensions have size 1, or x is a broadcast that
// made them
// reverse(reverse(x)) → x: same dimensions
bool SimplifyReverse(Rewriter& r, InstructionId id) {
  const InstructionId x = r.operand(id, 0);
  const DimensionVector& reversed = r[id].dimensions();
  const auto is_trivial = [&](int64_t d) {
    if (r.shape(x).dimension(d) <= 1) return true;
    if (!r.Is(x, Opcode::kBroadcast)) return false;
    const DimensionVector& mapping = r[x].dimensions();
    return std::find(mapping.begin(), mapping.end(), d) == mapping.end();
  };
  if (std::all_of(reversed.begin(), reversed.end(), is_trivial)) {
    return r.Replace(id, x);
  }
  if (r.Is(x, Opcode::kReverse) && r[x].dimensions() == reversed) {
    return r.Replace(id, r.operand(x, 0));
  }
  return false;
}

}  // namespace hone::hlo::algsimp
