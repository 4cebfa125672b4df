#ifndef HONE_TUNING_TASKS_KERNEL_CONFIRMATION_H_
#define HONE_TUNING_TASKS_KERNEL_CONFIRMATION_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

#include "backends/kernel_measurer.h"
#include "space/trial.h"
#include "tuning/tasks/kernel_problem.h"

namespace hone::tuning {

// Measurements of a candidate against the default by fresh processes.
struct KernelConfirmation {
  // The slowest ratio of them: the best one of several would be too good.
  KernelProblem::Confirmation slowest;
  // The workers and machines that measured, without repetitions.
  std::vector<std::string> workers;
  std::vector<std::string> machines;
};

// Measures a candidate in two fresh processes, in each of which it must surely
// be faster than the default; the default itself in one. One process errs in
// one of 40 candidates that are no faster. A second machine repeats the last
// measurement, if there is one.
// Errors: FailedPrecondition if it is not faster, or is no valid schedule;
// those of KernelProblem::Confirm.
absl::StatusOr<KernelConfirmation> ConfirmKernel(
    const KernelProblem& problem, const space::Candidate& candidate);

// Returns OK if a candidate is surely faster than its baseline. Errors:
// FailedPrecondition, with the reason.
absl::Status CheckFaster(const backends::KernelTiming& timing);

// Appends those names that are not in the list.
void AddNew(const std::vector<std::string>& names,
            std::vector<std::string>& list);

// Returns "; measured by worker a, confirmed by b"; empty for no workers.
std::string DescribeWorkers(const std::vector<std::string>& workers);

}  // namespace hone::tuning

#endif  // HONE_TUNING_TASKS_KERNEL_CONFIRMATION_H_
