#include "tuning/verify.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

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

// The share of elements of an output that may be unverifiable
// (docs/VERIFICATION.md).
constexpr double kMaxUnverifiable = 0.01;

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
    hlo::EquivalenceOptions options;
    options.random_inputs = kind == hlo::ArgumentKind::kRandom ? 1 : 0;
    options.mixed_inputs = kind == hlo::ArgumentKind::kMixed ? 1 : 0;
    options.adversarial_inputs =
        kind == hlo::ArgumentKind::kAdversarial ? 1 : 0;
    // Once is enough.
    options.covers_control_flow = kind == hlo::ArgumentKind::kRandom;
    options.seed = seed;
    options.evaluate.pool = options_.pool;
    options.evaluate.max_live_bytes = options_.max_live_bytes;
    // Both modules have to fit, in double precision too.
    options.evaluate.time_limit = Remaining() / 4;
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
    if (options.covers_control_flow) control_flow_ = report->control_flow;
    unverifiable_ = std::min(unverifiable_, report->unverifiable);
    max_rel_error_ = std::max(max_rel_error_, report->max_rel_error);
    last_ = SystemClock().Monotonic() - start;
    return absl::OkStatus();
  }

  // Errors: FailedPrecondition if what was compared shows too little.
  absl::Status CheckEvidence() const {
    if (unverifiable_ <= kMaxUnverifiable) return absl::OkStatus();
    return absl::FailedPreconditionError(absl::StrFormat(
        "%.2g %% of the elements of an output are rounding errors on every "
        "input, expected at most %.2g %%",
        100 * unverifiable_, 100 * kMaxUnverifiable));
  }

  // Returns true if there is time for another check like the last.
  bool HasTimeForAnother() const { return Remaining() > last_ * 1.5; }

  double max_rel_error() const { return max_rel_error_; }
  const std::string& control_flow() const { return control_flow_; }

 private:
  absl::Duration Remaining() const {
    return deadline_ - SystemClock().Monotonic();
  }

  const VerifyOptions& options_;
  const absl::Duration deadline_;
  absl::Duration last_;
  double max_rel_error_ = 0;
  double unverifiable_ = 1;
  std::string control_flow_;
};

// All outputs, on as many of the inputs as there is time for, at least one.
absl::StatusOr<storage::Verification> CheckWhole(const hlo::Module& input,
                                                 const hlo::Module& rewritten,
                                                 const VerifyOptions& options) {
  Checker checker(options);
  // The adversarial input second: of two, they should be of both kinds.
  constexpr hlo::ArgumentKind kInputs[] = {hlo::ArgumentKind::kRandom,
                                           hlo::ArgumentKind::kAdversarial,
                                           hlo::ArgumentKind::kMixed};
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
    ++(kInputs[i] == hlo::ArgumentKind::kAdversarial ? adversarial : random);
  }
  HONE_RETURN_IF_ERROR(checker.CheckEvidence());
  return storage::Verification{
      absl::StrCat("evaluator: ", random, " random, ", adversarial,
                   " adversarial inputs", checker.control_flow(),
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
  HONE_RETURN_IF_ERROR(checker.CheckEvidence());
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
