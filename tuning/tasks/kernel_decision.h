#ifndef HONE_TUNING_TASKS_KERNEL_DECISION_H_
#define HONE_TUNING_TASKS_KERNEL_DECISION_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "loops/transforms/transform.h"
#include "space/trial.h"
#include "tuning/tasks/kernel_problem.h"

namespace hone::tuning {

// Returns the decision about a kernel as JSON: {"script": ["split 0 16", …],
// "choices": [3, …]}, a schedule and the candidate that it comes from.
// Errors: those of KernelProblem::ScriptOf.
absl::StatusOr<std::string> KernelDecision(const KernelProblem& problem,
                                           const space::Candidate& candidate);

// Returns the script of a decision. Errors: InvalidArgument if it is none.
absl::StatusOr<std::vector<loops::Step>> ScriptOfDecision(
    absl::string_view json);

// Returns the candidate of a decision; nothing if its choices do not lead to
// its script in `problem`.
std::optional<space::Candidate> CandidateOfDecision(
    const KernelProblem& problem, absl::string_view json);

}  // namespace hone::tuning

#endif  // HONE_TUNING_TASKS_KERNEL_DECISION_H_
