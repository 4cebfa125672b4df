// slice-hoister: slices before computing instead of after.
//
//   slice(add(a, b)) → add(slice(a), slice(b))
//   slice(transpose(a)) → transpose(slice(a))
//
// for every elementwise operation of two operands of its type. Legal always;
// exact. What only the slice needed is computed on less; what others need too
// is computed twice, and there are more instructions: for when memory traffic
// matters. slice-sinker goes the other way. Equal slices are made once, so
// that no chain of operations grows exponentially.

#include <algorithm>
#include <memory>
#include <vector>

#include "hlo/passes/registry.h"
#include "hlo/passes/rule_pass.h"
#include "hlo/rewrite/makers.h"

namespace hone::hlo {
namespace {

// The slice of `operand`, which may be there already.
InstructionId Sliced(Rewriter& r, InstructionId operand,
                     const std::vector<SliceDimension>& slice) {
  for (InstructionId user : r[operand].users()) {
    if (r.Is(user, Opcode::kSlice) && r[user].attributes().slice == slice &&
        r.MayReplace(user)) {
      return user;
    }
  }
  return MakeSlice(r, operand, slice);
}

// The elementwise operation on slices of its operands, which may be there
// already.
InstructionId OnSlices(Rewriter& r, InstructionId operation,
                       const std::vector<SliceDimension>& slice) {
  InstructionIds operands;
  for (InstructionId operand : r[operation].operands()) {
    operands.push_back(Sliced(r, operand, slice));
  }
  if (!r.ok()) return kNoInstruction;
  for (InstructionId user : r[operands[0]].users()) {
    if (r.Is(user, r[operation].opcode()) && r[user].operands() == operands &&
        r[user].attributes() == r[operation].attributes()) {
      return user;
    }
  }
  return MakeLike(r, operation, operands);
}

bool Hoist(Rewriter& r, InstructionId id) {
  const InstructionId operation = r.operand(id, 0);
  if (!r.MayReplace(operation)) return false;
  const std::vector<SliceDimension> slice = r[id].attributes().slice;
  if (r.Is(operation, Opcode::kTranspose)) {
    const DimensionVector permutation = r[operation].dimensions();
    std::vector<SliceDimension> before(slice.size());
    for (size_t i = 0; i < slice.size(); ++i) {
      before[static_cast<size_t>(permutation[i])] = slice[i];
    }
    const InstructionId source = Sliced(r, r.operand(operation, 0), before);
    return r.Replace(id, MakeTranspose(r, source, permutation));
  }
  const InstructionIds& operands = r[operation].operands();
  if (!IsElementwise(r[operation].opcode()) || operands.size() != 2 ||
      !std::all_of(operands.begin(), operands.end(),
                   [&](InstructionId operand) {
                     return Shape::Equal(r.shape(operand), r.shape(operation));
                   })) {
    return false;
  }
  return r.Replace(id, OnSlices(r, operation, slice));
}

}  // namespace

std::unique_ptr<Pass> MakeSliceHoister() {
  return MakeRulePass({.name = "slice-hoister",
                       .opcodes = {Opcode::kSlice},
                       .visit = Visit::kFixedPoint},
                      Hoist);
}

}  // namespace hone::hlo
