#include "hlo/passes/control_flow/select_branches.h"

#include <algorithm>

#include "absl/algorithm/container.h"

#include "hlo/passes/control_flow/while_trip_count.h"
#include "hlo/rewrite/carried_attributes.h"
#include "hlo/rewrite/makers.h"
#include "hlo/rewrite/tuples/elements.h"

namespace hone::hlo {
namespace {

bool IsExpensive(Opcode opcode) {
  switch (opcode) {
    case Opcode::kBroadcast:
    case Opcode::kConcatenate:
    case Opcode::kConstant:
    case Opcode::kDynamicSlice:
    case Opcode::kGetTupleElement:
    case Opcode::kPad:
    case Opcode::kParameter:
    case Opcode::kReduce:
    case Opcode::kReshape:
    case Opcode::kSlice:
    case Opcode::kTuple:
      return false;
    default:
      return !IsElementwise(opcode);
  }
}

bool HasStaticArraysOnly(const Shape& shape) {
  if (!shape.IsTuple()) return shape.IsArray() && !shape.is_dynamic();
  return std::all_of(
      shape.tuple_elements().begin(), shape.tuple_elements().end(),
      [](const ShapePtr& element) { return HasStaticArraysOnly(*element); });
}

InstructionId Select(Rewriter& r, InstructionId predicate, InstructionId a,
                     InstructionId b) {
  const Shape& shape = r.shape(a);
  if (shape.IsTuple()) {
    InstructionIds elements;
    for (size_t i = 0; i < shape.tuple_elements().size(); ++i) {
      elements.push_back(
          Select(r, predicate, ElementOf(r, a, i), ElementOf(r, b, i)));
    }
    return MakeTuple(r, elements);
  }
  if (!shape.IsScalar()) {
    predicate = MakeBroadcast(r, predicate, shape.dimensions(), {});
  }
  return MakeSelect(r, predicate, a, b);
}

// The most instructions that Select makes for a value of this shape.
// Returns true if Select would lose annotations of a tuple that it takes apart.
bool IsAnnotatedTuple(const Computation& branch, InstructionId id) {
  const Instruction& tuple = branch[id];
  return tuple.opcode() == Opcode::kTuple &&
         (IsAnnotated(tuple) ||
          absl::c_any_of(tuple.operands(), [&](InstructionId operand) {
            return IsAnnotatedTuple(branch, operand);
          }));
}

int64_t SelectSize(const Shape& shape) {
  if (!shape.IsTuple()) return shape.IsScalar() ? 1 : 2;
  int64_t size = 1;
  for (const ShapePtr& element : shape.tuple_elements()) {
    size += 2 + SelectSize(*element);  // and takes both tuples apart
  }
  return size;
}

}  // namespace

bool MaySelectBranches(const Rewriter& r, InstructionId id) {
  const Instruction& conditional = r[id];
  if (conditional.operand_count() != 3 ||
      KindOf(r.shape(conditional.operand(0)).element_type()) !=
          ElementKind::kPred ||
      !HasStaticArraysOnly(conditional.shape())) {
    return false;
  }
  for (size_t i = 0; i < 2; ++i) {
    const Computation& branch = r.module().computation(conditional.called()[i]);
    if (branch.suffix() != r.computation().suffix() ||
        !ParametersMayGo(branch) || IsAnnotatedTuple(branch, branch.root()) ||
        !Shape::Equal(branch[branch.root()].shape(), conditional.shape()) ||
        !Shape::Equal(branch[branch.parameters()[0]].shape(),
                      r.shape(conditional.operand(i + 1)))) {
      return false;
    }
  }
  return SurelyEnds(r.module(), r.computation(), id);
}

bool SelectBranches(Rewriter& r, InstructionId id, Callees& callees) {
  const ComputationIds branches = r[id].called();
  const InstructionIds operands = r[id].operands();
  int64_t added = SelectSize(r.shape(id));
  for (ComputationId branch : branches) {
    added += r.module().computation(branch).live_count();
  }
  if (!callees.Spend(added)) return false;
  const InstructionId a = callees.Copy(r, branches[0], {operands[1]});
  const InstructionId b = callees.Copy(r, branches[1], {operands[2]});
  return callees.ReplaceSite(r, id, Select(r, operands[0], a, b),
                             /*is_new=*/true);
}

bool IsCheapBranch(const Computation& branch) {
  bool computes = false;
  for (const Instruction& instruction : branch.instructions()) {
    const Opcode opcode = instruction.opcode();
    if (IsExpensive(opcode)) return false;
    computes |= opcode != Opcode::kTuple &&
                opcode != Opcode::kGetTupleElement &&
                opcode != Opcode::kParameter;
  }
  return computes && !branch.has_control_dependencies();
}

}  // namespace hone::hlo
