#include "tuning/tasks/kernel_confirmation.h"

#include <cstdint>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "base/status_macros.h"

namespace hone::tuning {
namespace {

constexpr int32_t kConfirmations = 2;

absl::Status CheckValid(const backends::KernelTiming& timing) {
  if (timing.outcome == space::Outcome::kOk) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("measured once more, it is ",
                   space::OutcomeName(timing.outcome), ": ", timing.message));
}

}  // namespace

absl::Status CheckFaster(const backends::KernelTiming& timing) {
  HONE_RETURN_IF_ERROR(CheckValid(timing));
  if (timing.ratio_high < 1) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrFormat(
      "measured once more, it is not surely faster than the default: "
      "%.3f of its time (%.3f to %.3f)",
      timing.ratio, timing.ratio_low, timing.ratio_high));
}

absl::StatusOr<KernelConfirmation> ConfirmKernel(
    const KernelProblem& problem, const space::Candidate& candidate) {
  const bool is_default = candidate == problem.DefaultCandidate();
  KernelConfirmation confirmation;
  for (int32_t i = 0; i < kConfirmations; ++i) {
    // One machine that errs or lies must not make a winner.
    const bool by_two = !is_default && i == kConfirmations - 1;
    HONE_ASSIGN_OR_RETURN(KernelProblem::Confirmation next,
                          problem.Confirm(candidate, i, by_two));
    AddNew(next.workers, confirmation.workers);
    AddNew(next.machines, confirmation.machines);
    HONE_RETURN_IF_ERROR(is_default ? CheckValid(next.timing)
                                    : CheckFaster(next.timing));
    if (i == 0 || next.timing.ratio > confirmation.slowest.timing.ratio) {
      confirmation.slowest = std::move(next);
    }
    if (is_default) break;
  }
  return confirmation;
}

void AddNew(const std::vector<std::string>& names,
            std::vector<std::string>& list) {
  for (const std::string& name : names) {
    if (!absl::c_linear_search(list, name)) list.push_back(name);
  }
}

std::string DescribeWorkers(const std::vector<std::string>& workers) {
  std::string text;
  for (size_t i = 0; i < workers.size(); ++i) {
    absl::StrAppend(&text, i == 0 ? "; measured by worker " : ", confirmed by ",
                    workers[i]);
  }
  return text;
}

}  // namespace hone::tuning
