#ifndef HONE_HLO_EVALUATOR_PLAN_H_
#define HONE_HLO_EVALUATOR_PLAN_H_

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "hlo/evaluator/elementwise/program.h"
#include "hlo/ir/computation.h"

namespace hone::hlo::evaluator {

// The order in which a computation's instructions are evaluated, with chains of
// elementwise instructions merged so that what lies between them stays in the
// cache.
struct Plan {
  // A boundary (coverage.h) of a step, and which of its inputs lie beside it.
  struct Beside {
    // Among those of the instruction.
    size_t number = 0;
    size_t value = 0;
    // The input that is the bound; `constant` is, if there is none.
    std::optional<size_t> bound;
    double constant = 0;
  };
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
    // Likewise, of an instruction that has boundaries.
    std::vector<Beside> beside;
    // The elements of the root that the value is, where outputs are taken one
    // by one, and true if nothing needs it then.
    std::vector<int64_t> outputs;
    bool is_only_output = false;
  };
  std::vector<Step> steps;
};

struct PlanOptions {
  // Each deciding predicate gets a step of its own, and so does what lies
  // beside a boundary.
  bool observes_predicates = false;
  // The operands of the root, a tuple, are taken one by one: those of the first
  // are computed first, and the root has no step.
  bool takes_outputs = false;
  // Instructions that get a step of their own, so that their values can be
  // changed; none if not set.
  std::function<bool(const Instruction&)> stands_alone = nullptr;
};
Plan MakePlan(const Computation& computation, const PlanOptions& options = {});

}  // namespace hone::hlo::evaluator

#endif  // HONE_HLO_EVALUATOR_PLAN_H_
