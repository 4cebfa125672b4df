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
    // Set for deciding predicates (coverage.h) of an observed computation.
    bool decides = false;
    // The elements of the root that the value is, where outputs are taken one
    // by one, and true if nothing needs it then.
    std::vector<int64_t> outputs;
    bool is_only_output = false;
  };
  std::vector<Step> steps;
};

struct PlanOptions {
  // Each deciding predicate gets a step of its own.
  bool observes_predicates = false;
  // The operands of the root, a tuple, are taken one by one: those of the first
  // are computed first, and the root has no step.
  bool takes_outputs = false;
  // Results in f64 and c128 have steps of their own, so that each is rounded
  // where it can be seen.
  bool parts_doubles = false;
};
Plan MakePlan(const Computation& computation, const PlanOptions& options = {});

}  // namespace hone::hlo::evaluator

#endif  // HONE_HLO_EVALUATOR_PLAN_H_
