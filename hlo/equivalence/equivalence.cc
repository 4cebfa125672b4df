#include "hlo/equivalence/equivalence.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "base/rng.h"
#include "base/status_macros.h"
#include "hlo/equivalence/control_flow.h"
#include "hlo/equivalence/double_precision.h"
#include "hlo/equivalence/internal.h"
#include "hlo/equivalence/judge.h"

namespace hone::hlo {
namespace {

// Share of NaN in a result above which its input is taken for outside of what
// the module is meant for (a negative second moment under a square root).
constexpr double kMaxNanShare = 0.01;

// Runs with other rounding, to see how far it moves a result.
constexpr uint64_t kMovedRuns = 3;

// Floating-point elements and how many of them are NaN or infinite.
struct FloatCounts {
  int64_t floats = 0;
  int64_t nan = 0;
  int64_t non_finite = 0;

  void Add(const Literal& literal) {
    for (const Literal& element : literal.elements()) Add(element);
    if (!IsFloat(literal.shape().element_type())) return;
    const int64_t n = literal.num_elements();
    floats += n;
    const auto count = [this](double x) {
      nan += std::isnan(x) ? 1 : 0;
      non_finite += std::isfinite(x) ? 0 : 1;
    };
    if (literal.shape().element_type() == ElementType::kF32) {
      for (float x : literal.values<float>()) count(static_cast<double>(x));
    } else {
      for (int64_t i = 0; i < n; ++i) count(literal.AsDouble(i));
    }
  }
};

absl::Status CheckSignatures(const Module& a, const Module& b) {
  const Computation& x = a.entry_computation();
  const Computation& y = b.entry_computation();
  if (x.parameters().size() != y.parameters().size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the modules take ", x.parameters().size(), " and ",
        y.parameters().size(), " parameters, expected the same number"));
  }
  for (size_t i = 0; i < x.parameters().size(); ++i) {
    const Shape& p = x[x.parameters()[i]].shape();
    const Shape& q = y[y.parameters()[i]].shape();
    if (!Shape::Equal(p, q)) {
      return absl::InvalidArgumentError(
          absl::StrCat("parameter ", i, " has shape ", p.ToString(), " and ",
                       q.ToString(), ", expected the same"));
    }
  }
  const Shape& p = x[x.root()].shape();
  const Shape& q = y[y.root()].shape();
  if (!Shape::Equal(p, q)) {
    return absl::InvalidArgumentError(
        absl::StrCat("the results have shape ", p.ToString(), " and ",
                     q.ToString(), ", expected the same"));
  }
  return absl::OkStatus();
}

// Runs the inputs of one check.
class Checker {
 public:
  Checker(const Module& a, const Module& b, const EquivalenceOptions& options)
      : a_(a), b_(b), options_(options) {}

  absl::StatusOr<EquivalenceReport> Run() {
    HONE_RETURN_IF_ERROR(CheckSignatures(a_, b_));
    report_.method = absl::StrCat(
        "evaluator: ", options_.random_inputs + options_.mixed_inputs,
        " random, ", options_.adversarial_inputs, " adversarial inputs");
    Rng seeds(options_.seed);
    for (int i = 0; i < options_.random_inputs && report_.equal; ++i) {
      HONE_RETURN_IF_ERROR(CheckRandom(ArgumentKind::kRandom, i, seeds.Next()));
    }
    for (int i = 0; i < options_.mixed_inputs && report_.equal; ++i) {
      HONE_RETURN_IF_ERROR(CheckRandom(ArgumentKind::kMixed, i, seeds.Next()));
    }
    for (int i = 0; i < options_.adversarial_inputs && report_.equal; ++i) {
      HONE_RETURN_IF_ERROR(CheckAdversarial(i, seeds.Next()));
    }
    if (report_.equal) HONE_RETURN_IF_ERROR(CheckWays(seeds.Next()));
    for (double share : shares_) {
      report_.unverifiable = std::max(report_.unverifiable, share);
    }
    return std::move(report_);
  }

 private:
  // Every other input is made non-negative where a's result would be NaN to a
  // large part.
  absl::Status CheckRandom(ArgumentKind kind, int index, uint64_t seed) {
    HONE_ASSIGN_OR_RETURN(std::vector<Literal> arguments,
                          MakeArguments(a_, kind, seed));
    HONE_ASSIGN_OR_RETURN(Literal result, EvaluateOriginal(arguments));
    if (index % 2 == 0) {
      FloatCounts counts;
      counts.Add(result);
      if (static_cast<double>(counts.nan) >
          kMaxNanShare * static_cast<double>(counts.floats)) {
        for (Literal& argument : arguments) MakeNonNegative(argument);
        HONE_ASSIGN_OR_RETURN(result, EvaluateOriginal(arguments));
      }
    }
    return Compare(absl::StrCat(kind == ArgumentKind::kMixed
                                    ? "random input of mixed magnitudes "
                                    : "random input ",
                                index),
                   arguments, result);
  }

  // Infinities and NaN must come out the same too. Where they drown the result,
  // the same input with finite special values only is checked as well.
  absl::Status CheckAdversarial(int index, uint64_t seed) {
    HONE_ASSIGN_OR_RETURN(std::vector<Literal> arguments,
                          MakeArguments(a_, ArgumentKind::kAdversarial, seed));
    HONE_ASSIGN_OR_RETURN(Literal result, EvaluateOriginal(arguments));
    const std::string name = absl::StrCat("adversarial input ", index);
    HONE_RETURN_IF_ERROR(Compare(name, arguments, result));
    FloatCounts counts;
    counts.Add(result);
    if (!report_.equal || 2 * counts.non_finite <= counts.floats) {
      return absl::OkStatus();
    }
    HONE_ASSIGN_OR_RETURN(
        arguments, Arguments(a_, ArgumentKind::kAdversarial, false, seed));
    HONE_ASSIGN_OR_RETURN(result, EvaluateOriginal(arguments));
    return Compare(absl::StrCat(name, " without infinities and NaN"), arguments,
                   result);
  }

  // Compares where control flow takes ways that it has not taken yet.
  absl::Status CheckWays(uint64_t seed) {
    const ControlFlow control_flow(a_);
    if (control_flow.empty()) return absl::OkStatus();
    int found = 0;
    if (options_.covers_control_flow && !control_flow.IsCovered(coverage_)) {
      HONE_ASSIGN_OR_RETURN(const std::vector<Literal> base,
                            MakeArguments(a_, ArgumentKind::kRandom, seed));
      for (const std::vector<Literal>& arguments : FindWays(
               a_, control_flow, base, options_.evaluate, seed, coverage_)) {
        HONE_ASSIGN_OR_RETURN(const Literal result,
                              EvaluateOriginal(arguments));
        HONE_RETURN_IF_ERROR(Compare(
            absl::StrCat("input for control flow ", found), arguments, result));
        ++found;
        if (!report_.equal) break;
      }
    }
    report_.control_flow = absl::StrCat(", ", found, " for control flow (",
                                        control_flow.Describe(coverage_), ")");
    report_.method += report_.control_flow;
    return absl::OkStatus();
  }

  absl::StatusOr<Literal> EvaluateOriginal(
      absl::Span<const Literal> arguments) {
    EvaluateOptions options = options_.evaluate;
    options.coverage = &coverage_;
    return Evaluate(a_, arguments, options);
  }

  absl::Status Compare(absl::string_view input,
                       absl::Span<const Literal> arguments, const Literal& a) {
    HONE_ASSIGN_OR_RETURN(Literal b,
                          Evaluate(b_, arguments, options_.evaluate));
    // Equal bits need no excuse.
    if (a == b) {
      shares_.assign(std::max(shares_.size(), Leaves(a).size()), 0);
      return absl::OkStatus();
    }
    Evidence evidence;
    evidence.original = a;
    evidence.rewritten = std::move(b);
    HONE_RETURN_IF_ERROR(FindTruth(arguments, evidence));
    std::vector<ArrayVerdict> verdicts = JudgeArrays(evidence);
    if (IsWrong(verdicts)) {
      HONE_RETURN_IF_ERROR(Move(arguments, evidence));
      verdicts = JudgeArrays(evidence);
    }
    Record(input, verdicts);
    return absl::OkStatus();
  }

  absl::Status FindTruth(absl::Span<const Literal> arguments,
                         Evidence& evidence) {
    if (!wide_a_.has_value()) {
      wide_a_ = InDoublePrecision(a_);
      wide_b_ = InDoublePrecision(b_);
    }
    std::vector<Literal> wide;
    wide.reserve(arguments.size());
    for (const Literal& argument : arguments) {
      wide.push_back(InDoublePrecision(argument));
    }
    HONE_ASSIGN_OR_RETURN(evidence.truth,
                          Evaluate(*wide_a_, wide, options_.evaluate));
    HONE_ASSIGN_OR_RETURN(evidence.rewritten_truth,
                          Evaluate(*wide_b_, wide, options_.evaluate));
    return absl::OkStatus();
  }

  // Runs both modules with other rounding.
  absl::Status Move(absl::Span<const Literal> arguments, Evidence& evidence) {
    EvaluateOptions options = options_.evaluate;
    for (uint64_t i = 1; i <= kMovedRuns; ++i) {
      options.rounding_noise = i;
      HONE_ASSIGN_OR_RETURN(Literal moved, Evaluate(a_, arguments, options));
      evidence.moved.push_back(std::move(moved));
      HONE_ASSIGN_OR_RETURN(moved, Evaluate(b_, arguments, options));
      evidence.moved_rewritten.push_back(std::move(moved));
    }
    return absl::OkStatus();
  }

  static bool IsWrong(absl::Span<const ArrayVerdict> verdicts) {
    return std::any_of(
        verdicts.begin(), verdicts.end(),
        [](const ArrayVerdict& verdict) { return verdict.wrong > 0; });
  }

  void Record(absl::string_view input,
              absl::Span<const ArrayVerdict> verdicts) {
    shares_.resize(verdicts.size(), 1);
    for (size_t i = 0; i < verdicts.size(); ++i) {
      const ArrayVerdict& verdict = verdicts[i];
      report_.max_rel_error =
          std::max(report_.max_rel_error, verdict.max_rel_error);
      const double share = verdict.elements == 0
                               ? 0
                               : static_cast<double>(verdict.unverifiable) /
                                     static_cast<double>(verdict.elements);
      shares_[i] = std::min(shares_[i], share);
      if (verdict.wrong == 0 || !report_.equal) continue;
      report_.equal = false;
      const Difference& worst = verdict.worst;
      report_.explanation = absl::StrCat(
          "on ", input, ", ",
          worst.output.empty() ? "the result"
                               : absl::StrCat("output ", worst.output),
          " differs at ", worst.element, ": ", worst.a, " became ", worst.b,
          " (in double precision ", *worst.truth, "; ", verdict.wrong, " of ",
          verdict.elements, " elements)");
    }
  }

  const Module& a_;
  const Module& b_;
  const EquivalenceOptions& options_;
  // Made when first needed.
  std::optional<Module> wide_a_;
  std::optional<Module> wide_b_;
  Coverage coverage_;
  EquivalenceReport report_;
  // The smallest share of unverifiable elements of each array over the inputs.
  std::vector<double> shares_;
};

}  // namespace

absl::StatusOr<EquivalenceReport> CheckEquivalent(
    const Module& a, const Module& b, const EquivalenceOptions& options) {
  return Checker(a, b, options).Run();
}

}  // namespace hone::hlo
