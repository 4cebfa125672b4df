#include "tuning/verify.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

#include "base/clock.h"
#include "base/status_macros.h"
#include "hlo/analysis/cost_analysis.h"
#include "hlo/analysis/fingerprint.h"
#include "hlo/equivalence/equivalence.h"
#include "hlo/inference/verifier.h"
#include "tuning/output_slice.h"

namespace hone::tuning {
namespace {

// Returns true if only a part of the module can be checked.
bool IsTooLarge(const absl::Status& status) {
  return absl::IsDeadlineExceeded(status) || absl::IsResourceExhausted(status);
}

// Compares modules input by input within a time limit.
class Checker {
 public:
  explicit Checker(const VerifyOptions& options)
      : options_(options),
        deadline_(SystemClock().Monotonic() + options.time_limit) {}

  // Runs both modules on one input.
  // Errors: FailedPrecondition when they differ; as hlo::CheckEquivalent.
  absl::Status Check(const hlo::Module& a, const hlo::Module& b,
                     hlo::ArgumentKind kind, uint64_t seed) {
    const absl::Duration start = SystemClock().Monotonic();
    const bool random = kind == hlo::ArgumentKind::kRandom;
    hlo::EquivalenceOptions options;
    options.random_inputs = random ? 1 : 0;
    options.adversarial_inputs = random ? 0 : 1;
    options.seed = seed;
    options.evaluate.pool = options_.pool;
    options.evaluate.max_live_bytes = options_.max_live_bytes;
    // Two evaluations have to fit.
    options.evaluate.time_limit = Remaining() / 2;
    const absl::StatusOr<hlo::EquivalenceReport> report =
        hlo::CheckEquivalent(a, b, options);
    if (absl::IsInvalidArgument(report.status())) {
      return absl::FailedPreconditionError(report.status().message());
    }
    HONE_RETURN_IF_ERROR(report.status());
    if (!report->equal) {
      return absl::FailedPreconditionError(
          absl::StrCat("modules differ: ", report->explanation));
    }
    max_rel_error_ = std::max(max_rel_error_, report->max_rel_error);
    last_ = SystemClock().Monotonic() - start;
    return absl::OkStatus();
  }

  // Returns true if there is time for another check like the last.
  bool HasTimeForAnother() const { return Remaining() > last_ * 1.5; }

  double max_rel_error() const { return max_rel_error_; }

 private:
  absl::Duration Remaining() const {
    return deadline_ - SystemClock().Monotonic();
  }

  const VerifyOptions& options_;
  const absl::Duration deadline_;
  absl::Duration last_;
  double max_rel_error_ = 0;
};

// All outputs, on as many of the inputs as there is time for, at least one.
absl::StatusOr<storage::Verification> CheckWhole(const hlo::Module& input,
                                                 const hlo::Module& rewritten,
                                                 const VerifyOptions& options) {
  Checker checker(options);
  // The adversarial input second: of two, they should be of both kinds.
  constexpr hlo::ArgumentKind kInputs[] = {hlo::ArgumentKind::kRandom,
                                           hlo::ArgumentKind::kAdversarial,
                                           hlo::ArgumentKind::kRandom};
  int random = 0;
  int adversarial = 0;
  bool complete = true;
  for (uint64_t i = 0; i < std::size(kInputs); ++i) {
    if (i > 0 && !checker.HasTimeForAnother()) {
      complete = false;
      break;
    }
    const absl::Status status =
        checker.Check(input, rewritten, kInputs[i], options.seed + i);
    if (i > 0 && IsTooLarge(status)) {
      complete = false;
      break;
    }
    HONE_RETURN_IF_ERROR(status);
    ++(kInputs[i] == hlo::ArgumentKind::kRandom ? random : adversarial);
  }
  return storage::Verification{
      absl::StrCat("evaluator: ", random, " random, ", adversarial,
                   " adversarial inputs",
                   complete ? "" : " (no time for more)"),
      checker.max_rel_error()};
}

// The outputs of `module`, those that need the least work first.
std::vector<int64_t> OutputsByWork(const hlo::Module& module) {
  const int64_t count = OutputCount(module);
  std::vector<double> work(static_cast<size_t>(count), 0);
  for (int64_t output = 0; output < count; ++output) {
    const absl::StatusOr<hlo::Module> slice =
        SliceOutputs(module, absl::MakeConstSpan(&output, 1));
    if (!slice.ok()) continue;
    const hlo::Costs costs = hlo::CostAnalysis(*slice).ModuleCosts();
    work[static_cast<size_t>(output)] = costs.flops + costs.bytes();
  }
  std::vector<int64_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return work[static_cast<size_t>(a)] < work[static_cast<size_t>(b)];
  });
  return order;
}

// The scaled-down check: one random input, and only the outputs that need the
// least work, in groups of 1, 2, 4, … as long as the limits allow. Each is
// computed by the rewritten instructions in full size; what it cannot see is
// an error in an instruction that only the other outputs need.
absl::StatusOr<storage::Verification> CheckOutputs(
    const hlo::Module& input, const hlo::Module& rewritten,
    const VerifyOptions& options) {
  Checker checker(options);
  const std::vector<int64_t> order = OutputsByWork(input);
  size_t checked = 0;
  for (size_t group = 1; checked < order.size(); group *= 2) {
    const absl::Span<const int64_t> outputs =
        absl::MakeConstSpan(order).subspan(checked, group);
    HONE_ASSIGN_OR_RETURN(const hlo::Module a, SliceOutputs(input, outputs));
    HONE_ASSIGN_OR_RETURN(const hlo::Module b,
                          SliceOutputs(rewritten, outputs));
    const absl::Status status =
        checker.Check(a, b, hlo::ArgumentKind::kRandom, options.seed);
    if (checked > 0 && IsTooLarge(status)) break;
    HONE_RETURN_IF_ERROR(status);
    checked += outputs.size();
  }
  return storage::Verification{
      absl::StrCat("evaluator, scaled down: 1 random input, ", checked, " of ",
                   order.size(), " outputs"),
      checker.max_rel_error()};
}

}  // namespace

absl::StatusOr<storage::Verification> VerifyRewrite(
    const hlo::Module& input, const hlo::Module& rewritten,
    const VerifyOptions& options) {
  if (absl::Status status = hlo::VerifyModule(rewritten); !status.ok()) {
    return absl::FailedPreconditionError(
        absl::StrCat("the rewritten module is malformed: ", status.message()));
  }
  if (hlo::Fingerprint(input) == hlo::Fingerprint(rewritten)) {
    return storage::Verification{"identical to the input", 0};
  }
  absl::StatusOr<storage::Verification> whole =
      CheckWhole(input, rewritten, options);
  if (!IsTooLarge(whole.status()) || OutputCount(input) < 2 ||
      OutputCount(input) != OutputCount(rewritten)) {
    return whole;
  }
  absl::StatusOr<storage::Verification> part =
      CheckOutputs(input, rewritten, options);
  if (!part.ok()) return part;
  absl::StrAppend(&part->method, " (in full: ", whole.status().message(), ")");
  return part;
}

}  // namespace hone::tuning
