// Transposes and reversals. All exact but TransposeOfDot.
//
//   transpose(x) → x                         identity permutation
//   transpose(transpose(x)) → transpose(x)
//   transpose(x) → reshape(x)                only dimensions of size 1 move
//   transpose(iota) → iota
//   transpose(broadcast(x)) → broadcast(x)   the dimensions of x stay in order
//   reverse(x) → x                           all reversed dimensions have at
//     most one element, or x is a broadcast that made them
//   reverse(reverse(x)) → x                  same dimensions

#include <algorithm>

#include "hlo/passes/algsimp/rules.h"

namespace hone::hlo::algsimp {

bool SimplifyTranspose(Rewriter& r, InstructionId id) {
  const InstructionId x = r.operand(id, 0);
  const DimensionVector& permutation = r[id].dimensions();
  const DimensionVector& sizes = r.dimensions_of(id);
  if (IsIdentityPermutation(permutation)) return r.Replace(id, x);
  if (r.Is(x, Opcode::kTranspose)) {
    DimensionVector composed;
    for (int64_t d : permutation) {
      composed.push_back(r[x].dimensions()[static_cast<size_t>(d)]);
    }
    return r.Replace(id, MakeTranspose(r, r.operand(x, 0), composed));
  }
  DimensionVector moved;
  for (int64_t d : permutation) {
    if (r.shape(x).dimension(d) != 1) moved.push_back(d);
  }
  if (std::is_sorted(moved.begin(), moved.end())) {
    return r.Replace(id, MakeReshape(r, x, sizes));
  }
  // Where the dimensions that x names go.
  const DimensionVector inverse = InversePermutation(permutation);
  DimensionVector mapping;
  switch (r[x].opcode()) {
    case Opcode::kDot:
      return TransposeOfDot(r, id);
    case Opcode::kBroadcast:
    case Opcode::kIota:
      for (int64_t d : r[x].dimensions()) {
        mapping.push_back(inverse[static_cast<size_t>(d)]);
      }
      break;
    default:
      return false;
  }
  if (r.Is(x, Opcode::kIota)) {
    return r.Replace(
        id, MakeIota(r, r.shape(id).element_type(), sizes, mapping[0]));
  }
  return std::is_sorted(mapping.begin(), mapping.end()) &&
         r.Replace(id, MakeBroadcast(r, r.operand(x, 0), sizes, mapping));
}

bool SimplifyReverse(Rewriter& r, InstructionId id) {
  const InstructionId x = r.operand(id, 0);
  const DimensionVector& reversed = r[id].dimensions();
  const auto is_trivial = [&](int64_t d) {
    return r.shape(x).dimension(d) <= 1 ||
           (r.Is(x, Opcode::kBroadcast) && !Contains(r[x].dimensions(), d));
  };
  if (std::all_of(reversed.begin(), reversed.end(), is_trivial)) {
    return r.Replace(id, x);
  }
  return r.Is(x, Opcode::kReverse) && r[x].dimensions() == reversed &&
         r.Replace(id, r.operand(x, 0));
}

}  // namespace hone::hlo::algsimp
