#include "backends/tpu_sim/vector_costs.h"

#include <algorithm>

namespace hone::backends {
namespace {

VectorCost ListedCost(hlo::Opcode opcode) {
  switch (opcode) {
#define HONE_VECTOR_COST(enumerator, alu, transcendental) \
  case hlo::Opcode::enumerator:                           \
    return {alu, transcendental};
#include "backends/tpu_sim/vector_costs.def"
#undef HONE_VECTOR_COST
    default:
      return {1, 0};
  }
}

}  // namespace

VectorCost ElementwiseCost(const hlo::Instruction& instruction) {
  VectorCost cost = ListedCost(instruction.opcode());
  const hlo::Shape& shape = instruction.shape();
  if (!shape.IsArray()) return cost;
  const bool divides = instruction.opcode() == hlo::Opcode::kDivide ||
                       instruction.opcode() == hlo::Opcode::kRemainder;
  // There is no integer division: it is a loop over the bits or a correction of
  // that of floats.
  if (divides && hlo::IsIntegral(shape.element_type())) cost = {20, 1};
  // Two registers per element are counted already.
  if (hlo::IsComplex(shape.element_type())) cost.alu *= 3;
  return cost;
}

VectorCost AppliedCost(const hlo::Module& module, hlo::ComputationId id) {
  VectorCost sum;
  if (module.Contains(id)) {
    for (const hlo::Instruction& instruction :
         module.computation(id).instructions()) {
      if (!hlo::IsElementwise(instruction.opcode())) continue;
      const VectorCost cost = ElementwiseCost(instruction);
      sum.alu += cost.alu;
      sum.transcendental += cost.transcendental;
    }
  }
  sum.alu = std::max(sum.alu, 1.0);
  return sum;
}

}  // namespace hone::backends
