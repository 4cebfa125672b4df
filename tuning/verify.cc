#include "tuning/verify.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"

#include "base/clock.h"
#include "base/status_macros.h"
#include "hlo/analysis/cost_analysis.h"
#include "hlo/analysis/fingerprint.h"
#include "hlo/equivalence/effects.h"
#include "hlo/equivalence/equivalence.h"
#include "hlo/equivalence/interface.h"
#include "hlo/evaluator/evaluable.h"
#include "hlo/inference/verifier.h"
#include "tuning/output_slice.h"

namespace hone::tuning {
namespace {

// Returns true if only a part of the module can be checked.
bool IsTooLarge(const absl::Status& status) {
  return absl::IsDeadlineExceeded(status) || absl::IsResourceExhausted(status);
}

// Compares two modules input by input within a time limit.
class Checker {
 public:
  // Errors: FailedPrecondition if the signatures differ.
  static absl::StatusOr<Checker> Create(const hlo::Module& a,
                                        const hlo::Module& b,
                                        const VerifyOptions& options,
                                        absl::Duration deadline) {
    hlo::EvaluateOptions evaluate;
    evaluate.pool = options.pool;
    evaluate.max_live_bytes = options.max_live_bytes;
    absl::StatusOr<std::unique_ptr<hlo::EquivalenceCheck>> check =
        hlo::EquivalenceCheck::Create(a, b, evaluate);
    if (!check.ok()) {
      return absl::FailedPreconditionError(check.status().message());
    }
    return Checker(*std::move(check), options, deadline);
  }

  // Runs both modules on one input.
  // Errors: FailedPrecondition when they differ; as hlo::CheckEquivalent.
  absl::Status CheckInput(hlo::ArgumentKind kind) {
    const absl::Duration start = SystemClock().Monotonic();
    check_->SetTimeLimit(Remaining());
    HONE_RETURN_IF_ERROR(check_->CheckInput(kind, seed_++));
    last_ = SystemClock().Monotonic() - start;
    return Difference();
  }
  absl::Status CheckControlFlow() {
    check_->SetTimeLimit(Remaining());
    HONE_RETURN_IF_ERROR(check_->CheckControlFlow(seed_++));
    return Difference();
  }

  bool IsUseful(hlo::ArgumentKind kind) const { return check_->IsUseful(kind); }
  // Returns true if there is time for another check like the last.
  bool HasTimeForAnother() const { return Remaining() > last_ * 1.5; }

  hlo::EquivalenceReport Report() const { return check_->Report(); }

 private:
  Checker(std::unique_ptr<hlo::EquivalenceCheck> check,
          const VerifyOptions& options, absl::Duration deadline)
      : check_(std::move(check)), deadline_(deadline), seed_(options.seed) {}

  absl::Status Difference() const {
    const hlo::EquivalenceReport report = check_->Report();
    if (report.equal) return absl::OkStatus();
    return absl::FailedPreconditionError(
        absl::StrCat("modules differ: ", report.explanation));
  }
  absl::Duration Remaining() const {
    return deadline_ - SystemClock().Monotonic();
  }

  std::unique_ptr<hlo::EquivalenceCheck> check_;
  absl::Duration deadline_;
  absl::Duration last_;
  uint64_t seed_;
};

// All outputs, on as many of the inputs as there is time for, at least one.
absl::StatusOr<storage::Verification> CheckWhole(const hlo::Module& input,
                                                 const hlo::Module& rewritten,
                                                 const VerifyOptions& options) {
  HONE_ASSIGN_OR_RETURN(
      Checker checker,
      Checker::Create(input, rewritten, options,
                      SystemClock().Monotonic() + options.time_limit));
  HONE_RETURN_IF_ERROR(checker.CheckInput(hlo::ArgumentKind::kRandom));
  const auto check_more = [&]() -> absl::Status {
    HONE_RETURN_IF_ERROR(checker.CheckControlFlow());
    // The adversarial input second: of two, they should be of both kinds.
    for (hlo::ArgumentKind kind :
         {hlo::ArgumentKind::kAdversarial, hlo::ArgumentKind::kMixed,
          hlo::ArgumentKind::kExtreme, hlo::ArgumentKind::kExtreme}) {
      if (!checker.IsUseful(kind) ||
          (kind == hlo::ArgumentKind::kExtreme &&
           options.numerics == hlo::Numerics::kFast)) {
        continue;
      }
      if (!checker.HasTimeForAnother()) {
        return absl::DeadlineExceededError("no time for another input");
      }
      HONE_RETURN_IF_ERROR(checker.CheckInput(kind));
    }
    return absl::OkStatus();
  };
  const absl::Status more = check_more();
  if (!IsTooLarge(more)) HONE_RETURN_IF_ERROR(more);
  const hlo::EquivalenceReport report = checker.Report();
  HONE_RETURN_IF_ERROR(hlo::CheckEvidence(report.unverifiable));
  return storage::Verification{
      absl::StrCat(report.method, more.ok() ? "" : " (no time for more)"),
      report.max_rel_error};
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
  const absl::Duration deadline =
      SystemClock().Monotonic() + options.time_limit;
  const std::vector<int64_t> order = OutputsByWork(input);
  size_t checked = 0;
  double unverifiable = 0;
  double max_rel_error = 0;
  for (size_t group = 1; checked < order.size(); group *= 2) {
    const absl::Span<const int64_t> outputs =
        absl::MakeConstSpan(order).subspan(checked, group);
    HONE_ASSIGN_OR_RETURN(const hlo::Module a, SliceOutputs(input, outputs));
    HONE_ASSIGN_OR_RETURN(const hlo::Module b,
                          SliceOutputs(rewritten, outputs));
    HONE_ASSIGN_OR_RETURN(Checker checker,
                          Checker::Create(a, b, options, deadline));
    const absl::Status status = checker.CheckInput(hlo::ArgumentKind::kRandom);
    if (checked > 0 && IsTooLarge(status)) break;
    HONE_RETURN_IF_ERROR(status);
    const hlo::EquivalenceReport report = checker.Report();
    unverifiable = std::max(unverifiable, report.unverifiable);
    max_rel_error = std::max(max_rel_error, report.max_rel_error);
    checked += outputs.size();
  }
  HONE_RETURN_IF_ERROR(hlo::CheckEvidence(unverifiable));
  return storage::Verification{
      absl::StrCat("evaluator, scaled down: 1 random input, ", checked, " of ",
                   order.size(), " outputs"),
      max_rel_error};
}

// Both checks above: in full, or what the limits allow.
absl::StatusOr<storage::Verification> CheckByEvaluation(
    const hlo::Module& input, const hlo::Module& rewritten,
    const VerifyOptions& options) {
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

storage::Verification NotEvaluated(absl::string_view why) {
  return {absl::StrCat("not evaluated (", why, "), exact rewrites only"), 0};
}

// Checks the outputs that can be evaluated of modules of which others cannot,
// which is `why`.
absl::StatusOr<storage::Verification> CheckEvaluableOutputs(
    const hlo::Module& input, const hlo::Module& rewritten,
    const VerifyOptions& options, absl::string_view why,
    absl::string_view outputs_name) {
  const int64_t count = OutputCount(input);
  if (OutputCount(rewritten) != count) {
    return absl::FailedPreconditionError(
        absl::StrCat("the rewritten module has ", OutputCount(rewritten),
                     " outputs, expected ", count));
  }
  const std::vector<int64_t> of_input = EvaluableOutputs(input);
  const std::vector<int64_t> of_rewritten = EvaluableOutputs(rewritten);
  std::vector<int64_t> outputs;
  std::set_intersection(of_input.begin(), of_input.end(), of_rewritten.begin(),
                        of_rewritten.end(), std::back_inserter(outputs));
  if (outputs.empty()) return NotEvaluated(why);
  const auto judged =
      [&](const hlo::Module& module) -> absl::StatusOr<hlo::Module> {
    // Where only an effect cannot be judged, the result need not be a tuple.
    if (static_cast<int64_t>(outputs.size()) == count) return module;
    return SliceOutputs(module, outputs);
  };
  HONE_ASSIGN_OR_RETURN(const hlo::Module a, judged(input));
  HONE_ASSIGN_OR_RETURN(const hlo::Module b, judged(rewritten));
  absl::StatusOr<storage::Verification> part = CheckByEvaluation(a, b, options);
  // Not everything shows before (an argument that cannot be made).
  if (absl::IsUnimplemented(part.status())) return NotEvaluated(why);
  if (!part.ok()) return part;
  absl::StrAppend(&part->method, ", ", outputs.size(), " of ", count, " ",
                  outputs_name, ", exact rewrites only (", why, ")");
  return part;
}

// Errors: FailedPrecondition if the modules differ in something that shows
// before any value is computed. Stricter than hone diff, which compares modules
// of different sources: a tuned module keeps all of the input's header and of
// its parameters' attributes, `origin` among them.
absl::Status CheckStatically(const hlo::Module& input,
                             const hlo::Module& rewritten) {
  std::optional<std::string> difference =
      hlo::StaticDifference(input, rewritten);
  if (!difference.has_value() &&
      (input.header() != rewritten.header() ||
       input.is_scheduled() != rewritten.is_scheduled())) {
    difference = "the rewritten module has another header than the input";
  }
  const hlo::Computation& a = input.entry_computation();
  const hlo::Computation& b = rewritten.entry_computation();
  for (size_t i = 0; i < a.parameters().size() && !difference.has_value();
       ++i) {
    if (a[a.parameters()[i]].attributes() !=
        b[b.parameters()[i]].attributes()) {
      difference = absl::StrCat(
          "the rewritten module has other attributes of parameter ", i,
          " than the input");
    }
  }
  if (!difference.has_value()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("modules differ: ", *difference));
}

// Checks an exact rewrite; `evaluable` tells what of it cannot be evaluated, OK
// if everything can.
absl::StatusOr<storage::Verification> CheckExact(
    const hlo::Module& input, const hlo::Module& rewritten,
    const VerifyOptions& options, const absl::Status& evaluable,
    absl::string_view outputs_name) {
  if (!evaluable.ok()) {
    return CheckEvaluableOutputs(input, rewritten, options, evaluable.message(),
                                 outputs_name);
  }
  absl::StatusOr<storage::Verification> all =
      CheckByEvaluation(input, rewritten, options);
  if (!absl::IsUnimplemented(all.status())) return all;
  return NotEvaluated(all.status().message());
}

absl::Status CheckRoot(const hlo::Module& module) {
  const hlo::Evaluability evaluability(module);
  return evaluability.Check(module.entry_computation().root());
}

}  // namespace

absl::Status CheckEvaluable(const hlo::Module& module) {
  HONE_ASSIGN_OR_RETURN(const hlo::Module judged,
                        hlo::WithEffectOperands(module));
  return CheckRoot(judged);
}

absl::StatusOr<storage::Verification> VerifyRewrite(
    const hlo::Module& input, const hlo::Module& rewritten,
    const VerifyOptions& options) {
  if (absl::Status status = hlo::VerifyModule(rewritten); !status.ok()) {
    return absl::FailedPreconditionError(
        absl::StrCat("the rewritten module is malformed: ", status.message()));
  }
  HONE_RETURN_IF_ERROR(CheckStatically(input, rewritten));
  if (hlo::Fingerprint(input) == hlo::Fingerprint(rewritten)) {
    return storage::Verification{"identical to the input", 0};
  }
  const absl::StatusOr<hlo::Module> a = hlo::WithEffectOperands(input);
  const absl::StatusOr<hlo::Module> b = hlo::WithEffectOperands(rewritten);
  absl::Status evaluable = a.status();
  evaluable.Update(b.status());
  if (options.numerics != hlo::Numerics::kExact) {
    HONE_RETURN_IF_ERROR(evaluable);
    return CheckByEvaluation(*a, *b, options);
  }
  if (!evaluable.ok()) {
    return CheckExact(input, rewritten, options, evaluable, "outputs");
  }
  evaluable.Update(CheckRoot(*a));
  evaluable.Update(CheckRoot(*b));
  return CheckExact(*a, *b, options, evaluable,
                    OutputCount(*a) > OutputCount(input)
                        ? "outputs and operands of side effects"
                        : "outputs");
}

}  // namespace hone::tuning
