#include "loops/lowering/complex/complex_expansion.h"

#include <utility>

#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "loops/lowering/complex/computation_expander.h"
#include "loops/lowering/complex/part_shapes.h"

namespace hone::loops {

using hlo::Computation;
using hlo::ComputationId;
using hlo::ElementType;
using hlo::Instruction;
using hlo::InstructionId;
using hlo::Opcode;
using hlo::Shape;
using hlo::ShapePtr;

namespace {

bool UsesComplex(const hlo::Module& module) {
  for (ComputationId id : module.ComputationIds()) {
    for (const Instruction& i : module.computation(id).instructions()) {
      if (HasComplex(i.shape())) return true;
    }
  }
  return false;
}

}  // namespace

absl::StatusOr<ComputationId> ModuleExpander::Expanded(ComputationId id,
                                                       Interface interface) {
  const std::pair<ComputationId, Interface> key(id, interface);
  if (const auto known = done_.find(key); known != done_.end()) {
    return known->second;
  }
  // A copy, since adding a computation moves the others.
  const Computation from = module_.computation(id);
  HONE_ASSIGN_OR_RETURN(Computation to,
                        ComputationExpander(*this, from, interface).Run());
  to.set_name(absl::StrCat(from.name(), ".parts", done_.size()));
  const ComputationId result = module_.AddComputation(std::move(to));
  done_.emplace(key, result);
  return result;
}

ComputationId ModuleExpander::Sum(ElementType type) {
  const auto [at, is_new] = sums_.try_emplace(type, hlo::kNoComputation);
  if (!is_new) return at->second;
  const ShapePtr shape = Shape::Scalar(type);
  Computation sum(absl::StrCat("sum.", hlo::ElementTypeName(type)));
  const InstructionId a = sum.AddInstruction(Instruction::Parameter(0, shape));
  const InstructionId b = sum.AddInstruction(Instruction::Parameter(1, shape));
  sum.set_root(sum.AddInstruction(Instruction(Opcode::kAdd, shape, {a, b})));
  at->second = module_.AddComputation(std::move(sum));
  return at->second;
}

absl::Status ExpandComplex(hlo::Module& module) {
  if (!UsesComplex(module)) return absl::OkStatus();
  ModuleExpander expander(module);
  HONE_ASSIGN_OR_RETURN(const ComputationId entry,
                        expander.Expanded(module.entry(), Interface::kEntry));
  module.set_entry(entry);
  module.RemoveUnreachableComputations();
  return absl::OkStatus();
}

}  // namespace hone::loops
