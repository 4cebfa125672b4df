#include "hlo/equivalence/equivalence.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "base/rng.h"
#include "base/status_macros.h"
#include "hlo/equivalence/control_flow.h"
#include "hlo/equivalence/influence.h"
#include "hlo/equivalence/internal.h"
#include "hlo/equivalence/judge.h"
#include "hlo/equivalence/literal_scan.h"
#include "hlo/equivalence/merged_module.h"
#include "hlo/equivalence/paired_runs.h"

namespace hone::hlo {
namespace {

// Share of NaN in a result above which its input is taken for outside of what
// the module is meant for (a negative second moment under a square root).
constexpr double kMaxNanShare = 0.01;

// Runs with other rounding, to see how far it moves a result.
constexpr uint64_t kMovedRuns = 3;

// The part of the memory that values kept for them may take is one in this.
constexpr int64_t kTruthShare = 4;

// An output that the modules compute differently, and what else is known of it.
struct Differing {
  Evidence evidence;
  // False where there was no memory to keep it.
  bool has_truth = false;
};
using DifferingOutputs = std::map<int64_t, Differing>;

class Check final : public EquivalenceCheck {
 public:
  Check(const Module& a, const Module& b, const EvaluateOptions& options)
      : runs_(a, b, options),
        control_flow_(runs_.merged().module()),
        signature_(a),
        floats_(FloatsOf(
            a.entry_computation()[a.entry_computation().root()].shape())),
        shares_(static_cast<size_t>(runs_.merged().output_count()), 1),
        nan_shares_(shares_.size()) {}

  absl::Status CheckInput(ArgumentKind kind, uint64_t seed) override {
    const int number = counts_[kind]++;
    switch (kind) {
      case ArgumentKind::kRandom:
        return CheckRandom(absl::StrCat("random input ", number), kind, seed,
                           number % 2 == 0);
      case ArgumentKind::kMixed:
        return CheckRandom(
            absl::StrCat("random input of mixed magnitudes ", number), kind,
            seed, number % 2 == 0);
      case ArgumentKind::kAdversarial:
        return CheckAdversarial(absl::StrCat("adversarial input ", number),
                                seed);
      case ArgumentKind::kExtreme:
        break;
    }
    HONE_ASSIGN_OR_RETURN(std::vector<Literal> arguments,
                          // Both ends of the range in turns.
                          Arguments(signature_, kind, number % 2 == 0, seed,
                                    runs_.options().pool));
    Adapt(arguments);
    return Compare(absl::StrCat("input of extreme scalars ", number), arguments)
        .status();
  }

  absl::Status CheckControlFlow(uint64_t seed) override {
    if (!report_.equal || control_flow_.Open(coverage_).empty()) {
      return absl::OkStatus();
    }
    HONE_ASSIGN_OR_RETURN(std::vector<Literal> base,
                          Arguments(signature_, ArgumentKind::kRandom, false,
                                    seed, runs_.options().pool));
    Adapt(base);
    for (const std::vector<Literal>& arguments :
         FindWays(runs_.merged().module(), control_flow_, base, runs_.options(),
                  seed, coverage_)) {
      HONE_RETURN_IF_ERROR(
          Compare(absl::StrCat("input for control flow ", ways_), arguments)
              .status());
      ++ways_;
      if (!report_.equal) break;
    }
    return absl::OkStatus();
  }

  bool IsUseful(ArgumentKind kind) const override {
    if (kind != ArgumentKind::kExtreme) return true;
    const Computation& entry = signature_.entry_computation();
    const std::vector<size_t> scalars = ScalarParameters(signature_);
    return std::any_of(scalars.begin(), scalars.end(), [&](size_t i) {
      return IsFloat(entry[entry.parameters()[i]].shape().element_type());
    });
  }

  void SetTimeLimit(absl::Duration limit) override {
    runs_.set_time_limit(limit);
  }

  EquivalenceReport Report() const override {
    EquivalenceReport report = report_;
    if (!control_flow_.empty()) {
      report.control_flow =
          absl::StrCat(", ", ways_, " for control flow (",
                       control_flow_.Describe(coverage_), ")");
    }
    const auto count = [&](ArgumentKind kind) {
      const auto it = counts_.find(kind);
      return it == counts_.end() ? 0 : it->second;
    };
    report.method = absl::StrCat(
        "evaluator: ",
        count(ArgumentKind::kRandom) + count(ArgumentKind::kMixed), " random, ",
        count(ArgumentKind::kAdversarial) + count(ArgumentKind::kExtreme),
        " adversarial inputs", report.control_flow);
    for (double share : shares_) {
      report.unverifiable = std::max(report.unverifiable, share);
    }
    return report;
  }

 private:
  // `adapts` where a's result would be NaN to a large part: takes the absolute
  // values instead.
  absl::Status CheckRandom(const std::string& name, ArgumentKind kind,
                           uint64_t seed, bool adapts) {
    HONE_ASSIGN_OR_RETURN(
        std::vector<Literal> arguments,
        Arguments(signature_, kind, true, seed, runs_.options().pool));
    if (!adapts) return Compare(name, arguments).status();
    if (!prefers_non_negative_) {
      HONE_ASSIGN_OR_RETURN(const bool done,
                            Compare(name, arguments, kMaxNanShare));
      if (done) return absl::OkStatus();
      prefers_non_negative_ = true;
    }
    Adapt(arguments);
    return Compare(name, arguments).status();
  }

  void Adapt(std::vector<Literal>& arguments) const {
    if (!prefers_non_negative_) return;
    for (Literal& argument : arguments) MakeNonNegative(argument);
  }

  // Infinities and NaN must come out the same too. Where they drown the result,
  // the same input with finite special values only is checked as well.
  absl::Status CheckAdversarial(const std::string& name, uint64_t seed) {
    HONE_ASSIGN_OR_RETURN(std::vector<Literal> arguments,
                          Arguments(signature_, ArgumentKind::kAdversarial,
                                    true, seed, runs_.options().pool));
    FloatCounts counts;
    HONE_RETURN_IF_ERROR(Compare(name, arguments, 2, &counts).status());
    if (!report_.equal || 2 * counts.non_finite <= counts.floats) {
      return absl::OkStatus();
    }
    HONE_ASSIGN_OR_RETURN(
        arguments, Arguments(signature_, ArgumentKind::kAdversarial, false,
                             seed, runs_.options().pool));
    Adapt(arguments);
    return Compare(absl::StrCat(name, " without infinities and NaN"), arguments)
        .status();
  }

  // Compares the modules on one input. Returns false, and judges nothing, where
  // more than `max_nan` of a's result is NaN. Counts into `counts`, if not
  // null.
  absl::StatusOr<bool> Compare(absl::string_view input,
                               absl::Span<const Literal> arguments,
                               double max_nan = 2,
                               FloatCounts* counts = nullptr) {
    FloatCounts own_counts;
    if (counts == nullptr) counts = &own_counts;
    DifferingOutputs differing;
    const absl::Status status =
        RunInOwnTypes(arguments, max_nan, *counts, differing);
    if (IsTooMuchNan(*counts, max_nan)) return false;
    HONE_RETURN_IF_ERROR(status);
    // Equal bits need no excuse, but NaN shows nothing.
    for (size_t i = 0; i < shares_.size(); ++i) {
      if (differing.contains(static_cast<int64_t>(i))) continue;
      shares_[i] = std::min(shares_[i], nan_shares_[i]);
    }
    if (differing.empty()) return true;
    HONE_RETURN_IF_ERROR(JudgeByTruth(input, arguments, differing));
    HONE_RETURN_IF_ERROR(
        JudgeWithOtherRounding(input, arguments, std::move(differing)));
    return true;
  }

  bool IsTooMuchNan(const FloatCounts& counts, double max_nan) const {
    return static_cast<double>(counts.nan) >
           max_nan * static_cast<double>(floats_);
  }

  // Finds the outputs that differ. Fails as soon as there is too much NaN.
  absl::Status RunInOwnTypes(absl::Span<const Literal> arguments,
                             double max_nan, FloatCounts& floats,
                             DifferingOutputs& differing) {
    return runs_.InOwnTypes(
        arguments, coverage_,
        [&](int64_t output, Literal a, Literal b) -> absl::Status {
          const int64_t nan = floats.nan;
          floats.Add(a, runs_.options().pool);
          if (IsTooMuchNan(floats, max_nan)) {
            return absl::CancelledError("too much of a result is NaN");
          }
          if (runs_.merged().IsShared(output)) return absl::OkStatus();
          nan_shares_[static_cast<size_t>(output)] =
              static_cast<double>(floats.nan - nan) /
              static_cast<double>(std::max<int64_t>(1, FloatsOf(a.shape())));
          if (a == b) return absl::OkStatus();
          Evidence& evidence = differing[output].evidence;
          evidence.original = std::move(a);
          evidence.rewritten = std::move(b);
          return absl::OkStatus();
        });
  }

  // Judges the outputs beside what double precision makes of them. Leaves those
  // that are wrong as far as that can tell.
  absl::Status JudgeByTruth(absl::string_view input,
                            absl::Span<const Literal> arguments,
                            DifferingOutputs& differing) {
    int64_t kept_bytes = 0;
    const absl::Status status = runs_.InDoublePrecision(
        arguments, NumbersOf(differing),
        [&](int64_t output, Literal truth, Literal rewritten_truth) {
          const auto it = differing.find(output);
          Differing& one = it->second;
          one.evidence.truth = std::move(truth);
          one.evidence.rewritten_truth = std::move(rewritten_truth);
          const std::vector<ArrayVerdict> verdicts = Judge(output, one);
          if (!IsWrong(verdicts)) {
            Record(input, output, verdicts);
            differing.erase(it);
            return absl::OkStatus();
          }
          if (IsWrongBeyondRounding(verdicts)) {
            Record(input, output, verdicts);
            return absl::CancelledError("the modules differ");
          }
          Keep(one, kept_bytes);
          return absl::OkStatus();
        });
    return report_.equal ? status : absl::OkStatus();
  }

  // Judges outputs again beside runs with other rounding: first all beside one
  // of the original, which excuses most; then one of those that are left, which
  // may be wrong by more than that, and at last the others.
  absl::Status JudgeWithOtherRounding(absl::string_view input,
                                      absl::Span<const Literal> arguments,
                                      DifferingOutputs failed) {
    DifferingOutputs open;
    int64_t kept_bytes = 0;
    while (!failed.empty()) {
      DifferingOutputs group = TakeGroup(failed, failed.size());
      HONE_RETURN_IF_ERROR(CompleteTruth(arguments, group));
      HONE_RETURN_IF_ERROR(runs_.OfAWithRoundingNoise(
          arguments, NumbersOf(group), 1, [&](int64_t output, Literal a) {
            group[output].evidence.moved.push_back(std::move(a));
            return absl::OkStatus();
          }));
      RecordRight(input, group);
      for (auto& [output, one] : group) {
        one.evidence.moved.clear();
        Keep(one, kept_bytes);
      }
      open.merge(group);
    }
    for (bool is_first = true; !open.empty() && report_.equal;
         is_first = false) {
      DifferingOutputs group = TakeGroup(open, is_first ? 1 : open.size());
      HONE_RETURN_IF_ERROR(CompleteTruth(arguments, group));
      for (uint64_t run = 1; run <= kMovedRuns && !group.empty(); ++run) {
        HONE_RETURN_IF_ERROR(runs_.WithRoundingNoise(
            arguments, NumbersOf(group), run,
            [&](int64_t output, Literal a, Literal b) {
              Evidence& evidence = group[output].evidence;
              evidence.moved.push_back(std::move(a));
              evidence.moved_rewritten.push_back(std::move(b));
              return absl::OkStatus();
            }));
        RecordRight(input, group);
      }
      for (const auto& [output, one] : group) {
        Record(input, output, Judge(output, one));
      }
    }
    return absl::OkStatus();
  }

  // Keeps what double precision made of an output, as far as that fits.
  void Keep(Differing& one, int64_t& kept_bytes) const {
    const int64_t bytes =
        BytesOf(one.evidence.truth) + BytesOf(one.evidence.rewritten_truth);
    one.has_truth =
        kept_bytes + bytes <= runs_.options().max_live_bytes / kTruthShare;
    if (one.has_truth) {
      kept_bytes += bytes;
    } else {
      one.evidence.truth = Literal();
      one.evidence.rewritten_truth = Literal();
    }
  }

  // Takes as many of the outputs, at most `limit`, as can be judged at once.
  DifferingOutputs TakeGroup(DifferingOutputs& outputs, size_t limit) const {
    DifferingOutputs group;
    int64_t bytes = 0;
    while (!outputs.empty() && group.size() < limit) {
      // The truths, in f64 each, and moved runs of both.
      bytes += BytesOf(outputs.begin()->second.evidence.original) *
               static_cast<int64_t>(4 + 2 * kMovedRuns);
      if (!group.empty() &&
          bytes > runs_.options().max_live_bytes / kTruthShare) {
        break;
      }
      group.insert(outputs.extract(outputs.begin()));
    }
    return group;
  }

  // Records the outputs that are right, and takes them out.
  void RecordRight(absl::string_view input, DifferingOutputs& outputs) {
    for (auto it = outputs.begin(); it != outputs.end();) {
      const std::vector<ArrayVerdict> verdicts = Judge(it->first, it->second);
      if (IsWrong(verdicts)) {
        ++it;
        continue;
      }
      Record(input, it->first, verdicts);
      it = outputs.erase(it);
    }
  }

  absl::Status CompleteTruth(absl::Span<const Literal> arguments,
                             DifferingOutputs& group) {
    if (absl::c_all_of(group,
                       [](const auto& one) { return one.second.has_truth; })) {
      return absl::OkStatus();
    }
    return runs_.InDoublePrecision(
        arguments, NumbersOf(group),
        [&](int64_t output, Literal truth, Literal rewritten) {
          Evidence& evidence = group[output].evidence;
          evidence.truth = std::move(truth);
          evidence.rewritten_truth = std::move(rewritten);
          return absl::OkStatus();
        });
  }

  static std::vector<int64_t> NumbersOf(const DifferingOutputs& outputs) {
    std::vector<int64_t> numbers;
    numbers.reserve(outputs.size());
    for (const auto& [number, unused] : outputs) numbers.push_back(number);
    return numbers;
  }

  static int64_t BytesOf(const Literal& value) {
    int64_t bytes = 0;
    for (const Literal& leaf : Leaves(value)) bytes += leaf.byte_size();
    return bytes;
  }

  std::vector<ArrayVerdict> Judge(int64_t output, const Differing& one) const {
    return JudgeArrays(one.evidence,
                       runs_.merged().has_tuple() ? absl::StrCat(output) : "",
                       runs_.options().pool);
  }

  static bool IsWrong(absl::Span<const ArrayVerdict> verdicts) {
    return absl::c_any_of(verdicts, [](const ArrayVerdict& verdict) {
      return verdict.wrong > 0;
    });
  }
  static bool IsWrongBeyondRounding(absl::Span<const ArrayVerdict> verdicts) {
    return absl::c_any_of(verdicts, [](const ArrayVerdict& verdict) {
      return verdict.is_beyond_rounding;
    });
  }

  void Record(absl::string_view input, int64_t output,
              absl::Span<const ArrayVerdict> verdicts) {
    double unverifiable = 0;
    const auto at = static_cast<size_t>(output);
    for (const ArrayVerdict& verdict : verdicts) {
      report_.max_rel_error =
          std::max(report_.max_rel_error, verdict.max_rel_error);
      if (verdict.elements > 0) {
        unverifiable =
            std::max(unverifiable, static_cast<double>(verdict.unverifiable) /
                                       static_cast<double>(verdict.elements));
      }
      if (verdict.wrong == 0 || !report_.equal) continue;
      report_.equal = false;
      const Difference& worst = verdict.worst;
      report_.explanation = absl::StrCat(
          "on ", input, ", ",
          worst.output.empty() ? "the result"
                               : absl::StrCat("output ", worst.output),
          " differs at ", worst.element,
          absl::StrFormat(": %.9g became %.9g (in double precision %.9g; ",
                          worst.a, worst.b, *worst.truth),
          verdict.wrong, " of ", verdict.elements, " elements)");
    }
    shares_[at] = std::min(shares_[at], unverifiable + nan_shares_[at]);
  }

  PairedRuns runs_;
  const ControlFlow control_flow_;
  // Has the parameters.
  const Module signature_;
  // Floating-point elements of the result.
  const int64_t floats_;
  Coverage coverage_;
  EquivalenceReport report_;
  std::map<ArgumentKind, int> counts_;
  // Inputs for control flow.
  int ways_ = 0;
  bool prefers_non_negative_ = false;
  // The smallest share of unverifiable elements of each output over the inputs.
  std::vector<double> shares_;
  // The share of NaN in each output on the last input; 0 where the modules
  // share what computes it.
  std::vector<double> nan_shares_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<EquivalenceCheck>> EquivalenceCheck::Create(
    const Module& a, const Module& b, const EvaluateOptions& options) {
  HONE_RETURN_IF_ERROR(CheckSignatures(a, b));
  return std::make_unique<Check>(a, b, options);
}

absl::StatusOr<EquivalenceReport> CheckEquivalent(
    const Module& a, const Module& b, const EquivalenceOptions& options) {
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<EquivalenceCheck> check,
                        EquivalenceCheck::Create(a, b, options.evaluate));
  Rng seeds(options.seed);
  const auto inputs = [&](ArgumentKind kind, int count) -> absl::Status {
    for (int i = 0; i < count && check->Report().equal; ++i) {
      HONE_RETURN_IF_ERROR(check->CheckInput(kind, seeds.Next()));
    }
    return absl::OkStatus();
  };
  HONE_RETURN_IF_ERROR(inputs(ArgumentKind::kRandom, options.random_inputs));
  HONE_RETURN_IF_ERROR(inputs(ArgumentKind::kMixed, options.mixed_inputs));
  HONE_RETURN_IF_ERROR(
      inputs(ArgumentKind::kAdversarial, options.adversarial_inputs));
  if (options.adversarial_inputs > 0 && options.extreme_scalars &&
      check->IsUseful(ArgumentKind::kExtreme)) {
    HONE_RETURN_IF_ERROR(inputs(ArgumentKind::kExtreme, 2));
  }
  if (options.covers_control_flow) {
    HONE_RETURN_IF_ERROR(check->CheckControlFlow(seeds.Next()));
  }
  return check->Report();
}

}  // namespace hone::hlo
