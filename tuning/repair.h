#ifndef HONE_TUNING_REPAIR_H_
#define HONE_TUNING_REPAIR_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "space/sequential_problem.h"
#include "space/trial.h"
#include "tuning/subject.h"
#include "tuning/task.h"
#include "tuning/verify.h"

namespace hone::tuning {

// Leaves the steps out of a sequence that make its result wrong, found by
// bisection over how far it is followed, until the rest verifies. `refusal` is
// what Task::Judge said of `candidate`. The verification of the result names
// the steps left out, and why. Takes at most options.time_limit.
// Errors: FailedPrecondition if the rest does not cost less than
// `default_cost`; DeadlineExceeded; those of Task::Judge but
// FailedPrecondition.
absl::StatusOr<Winner> Repair(const Task& task, const Subject& subject,
                              const space::SequentialProblem& problem,
                              space::Candidate candidate, absl::Status refusal,
                              double default_cost,
                              const VerifyOptions& options);

}  // namespace hone::tuning

#endif  // HONE_TUNING_REPAIR_H_
