#ifndef HONE_HLO_EVALUATOR_PLAN_H_
#define HONE_HLO_EVALUATOR_PLAN_H_

#include <memory>
#include <vector>

#include "hlo/evaluator/elementwise/program.h"
#include "hlo/ir/computation.h"

namespace hone::hlo::evaluator {

// The order in which a computation's instructions are evaluated, with chains of
// elementwise instructions merged so that what lies between them stays in the
// cache.
struct Plan {
  struct Step {
    // The instruction whose value the step produces.
    InstructionId id = kNoInstruction;
    // Values the step needs: the instruction's operands, or the program's
    // inputs.
    std::vector<InstructionId> inputs;
    // For each of `inputs`, true if this is its last use, so that the value may
    // be overwritten; at most once per value.
    std::vector<bool> last_use;
    // Set for elementwise instructions; computes the instruction from `inputs`.
    std::unique_ptr<ElementwiseProgram> program;
  };
  std::vector<Step> steps;
};

Plan MakePlan(const Computation& computation);

}  // namespace hone::hlo::evaluator

#endif  // HONE_HLO_EVALUATOR_PLAN_H_
