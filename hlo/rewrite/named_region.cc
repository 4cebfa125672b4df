#include "hlo/rewrite/named_region.h"

#include <string>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"

namespace hone::hlo {

ComputationId AddNamedRegion(Module& module, Computation region) {
  absl::flat_hash_set<absl::string_view> taken;
  for (ComputationId id = 0; id < module.computation_slots(); ++id) {
    if (module.has_computation(id)) taken.insert(module.computation(id).name());
  }
  std::string name = region.name();
  for (int i = 1; taken.contains(name); ++i) {
    name = absl::StrCat(region.name(), ".", i);
  }
  region.set_name(std::move(name));
  return module.AddComputation(std::move(region));
}

ComputationId AddSumRegion(Module& module, ElementType type) {
  const ShapePtr scalar = Shape::Scalar(type);
  Computation region("sum");
  const InstructionId a =
      region.AddInstruction(Instruction::Parameter(0, scalar));
  const InstructionId b =
      region.AddInstruction(Instruction::Parameter(1, scalar));
  region.set_root(
      region.AddInstruction(Instruction(Opcode::kAdd, scalar, {a, b})));
  return AddNamedRegion(module, std::move(region));
}

}  // namespace hone::hlo
