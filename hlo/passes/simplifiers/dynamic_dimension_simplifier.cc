// dynamic-dimension-simplifier: takes apart how frontends carry dimension sizes
// around, as vectors of scalars.
//
//   concatenate(concatenate(a, b), c) → concatenate(a, b, c), up to
//     kMaxJoinedOperands
//   slice(concatenate(a, b, c)) → b, for vectors, when it takes just that
//   reshape(broadcast(s)) → s, for scalars
//   reshape(reshape(a)) → a, when the shapes agree
//   convert(a), reshape(a) → a, when they change nothing
//
// Stronger than upstream's: the last two hold for every array, not for sizes
// alone.
//
// Legal always; what is in between keeps its sharding or frontend attributes,
// and so its place. Numeric class: exact. Never adds an instruction; a small
// part of algsimp.

#include <memory>

#include "hlo/passes/joined_operands.h"
#include "hlo/passes/registry.h"
#include "hlo/passes/rule_pass.h"
#include "hlo/rewrite/carried_attributes.h"
#include "hlo/rewrite/makers.h"

namespace hone::hlo {
namespace {

bool SimplifyConcatenate(Rewriter& r, InstructionId id) {
  InstructionIds parts;
  bool nested = false;
  for (InstructionId operand : r[id].operands()) {
    const Instruction& inner = r[operand];
    if (inner.opcode() != Opcode::kConcatenate ||
        inner.dimensions() != r[id].dimensions() || IsAnnotated(inner)) {
      parts.push_back(operand);
      continue;
    }
    nested = true;
    parts.insert(parts.end(), inner.operands().begin(), inner.operands().end());
    if (parts.size() > kMaxJoinedOperands) return false;
  }
  return nested && r.Replace(id, MakeLike(r, id, parts));
}

bool SimplifySlice(Rewriter& r, InstructionId id) {
  const Instruction& concatenate = r[r.operand(id, 0)];
  const SliceDimension* range = r[id].attributes().slice.data();
  if (concatenate.opcode() != Opcode::kConcatenate || r.shape(id).rank() != 1 ||
      range->stride != 1) {
    return false;
  }
  int64_t start = 0;
  for (InstructionId operand : concatenate.operands()) {
    if (start > range->start) return false;
    const int64_t limit = start + r.shape(operand).dimension(0);
    if (start == range->start && limit == range->limit) {
      return r.Replace(id, operand);
    }
    start = limit;
  }
  return false;
}

bool SimplifyReshape(Rewriter& r, InstructionId id) {
  const InstructionId operand = r.operand(id, 0);
  const bool forwards =
      r.Is(operand, Opcode::kReshape) ||
      (r.Is(operand, Opcode::kBroadcast) && r.shape(id).rank() == 0);
  return forwards && !IsAnnotated(r[operand]) &&
         Shape::Equal(r.shape(id), r.shape(r.operand(operand, 0))) &&
         r.Replace(id, r.operand(operand, 0));
}

bool Simplify(Rewriter& r, InstructionId id) {
  switch (r[id].opcode()) {
    case Opcode::kConcatenate:
      return SimplifyConcatenate(r, id);
    case Opcode::kSlice:
      return SimplifySlice(r, id);
    default:
      break;
  }
  const InstructionId operand = r.operand(id, 0);
  if (Shape::Equal(r.shape(id), r.shape(operand))) {
    return r.Replace(id, operand);
  }
  return r.Is(id, Opcode::kReshape) && SimplifyReshape(r, id);
}

}  // namespace

std::unique_ptr<Pass> MakeDynamicDimensionSimplifier() {
  return MakeRulePass({.name = "dynamic-dimension-simplifier",
                       .opcodes = {Opcode::kConcatenate, Opcode::kConvert,
                                   Opcode::kReshape, Opcode::kSlice},
                       .visit = Visit::kFixedPoint},
                      Simplify);
}

}  // namespace hone::hlo
