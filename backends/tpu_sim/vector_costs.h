#ifndef HONE_BACKENDS_TPU_SIM_VECTOR_COSTS_H_
#define HONE_BACKENDS_TPU_SIM_VECTOR_COSTS_H_

#include "hlo/ir/instruction.h"
#include "hlo/ir/module.h"

namespace hone::backends {

// The operations of an elementwise instruction on one register.
struct VectorCost {
  double alu = 0;
  double transcendental = 0;
};

// By vector_costs.def; integer divisions and complex numbers cost more.
VectorCost ElementwiseCost(const hlo::Instruction& instruction);

// The cost of applying a computation to the elements of registers once: the sum
// over its instructions; at least one operation.
VectorCost AppliedCost(const hlo::Module& module, hlo::ComputationId id);

}  // namespace hone::backends

#endif  // HONE_BACKENDS_TPU_SIM_VECTOR_COSTS_H_
