#include "hlo/rewrite/regions/named_region.h"

#include <string>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"

#include "hlo/rewrite/owned_computations.h"
#include "hlo/rewrite/regions/reductions.h"

namespace hone::hlo {

ComputationId AddNamedRegion(Module& module, Computation region) {
  absl::flat_hash_set<absl::string_view> taken;
  for (const Computation& other : module.computations()) {
    taken.insert(other.name());
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

ComputationId FindOrAddSumRegion(Module& module, ElementType type) {
  for (ComputationId id : RewritableComputations(module)) {
    const Computation& region = module.computation(id);
    // A computation with attributes of its own belongs to its callers.
    if (ReductionOpcode(region) == Opcode::kAdd &&
        region[region.root()].shape().element_type() == type &&
        region[region.root()].attributes().others.empty() &&
        region.suffix().empty() && region.id() != module.entry()) {
      return region.id();
    }
  }
  return AddSumRegion(module, type);
}

}  // namespace hone::hlo
