#include "hlo/equivalence/equivalence.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"

#include "base/rng.h"
#include "base/status_macros.h"
#include "hlo/equivalence/internal.h"

namespace hone::hlo {
namespace {

// Share of NaN in a result above which its input is taken for outside of what
// the module is meant for (a negative second moment under a square root).
constexpr double kMaxNanShare = 0.01;

// A rewrite may round every operation differently, which moves a result more
// than a small change of the inputs does.
constexpr double kNoiseFactor = 4;

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
    report_.method =
        absl::StrCat("evaluator: ", options_.random_inputs, " random, ",
                     options_.adversarial_inputs, " adversarial inputs");
    Rng seeds(options_.seed);
    for (int i = 0; i < options_.random_inputs && report_.equal; ++i) {
      HONE_RETURN_IF_ERROR(CheckRandom(i, seeds.Next()));
    }
    for (int i = 0; i < options_.adversarial_inputs && report_.equal; ++i) {
      HONE_RETURN_IF_ERROR(CheckAdversarial(i, seeds.Next()));
    }
    return std::move(report_);
  }

 private:
  // Every other input is made non-negative where a's result would be NaN to a
  // large part.
  absl::Status CheckRandom(int index, uint64_t seed) {
    HONE_ASSIGN_OR_RETURN(std::vector<Literal> arguments,
                          MakeArguments(a_, ArgumentKind::kRandom, seed));
    HONE_ASSIGN_OR_RETURN(Literal result,
                          Evaluate(a_, arguments, options_.evaluate));
    if (index % 2 == 0) {
      FloatCounts counts;
      counts.Add(result);
      if (static_cast<double>(counts.nan) >
          kMaxNanShare * static_cast<double>(counts.floats)) {
        for (Literal& argument : arguments) MakeNonNegative(argument);
        HONE_ASSIGN_OR_RETURN(result,
                              Evaluate(a_, arguments, options_.evaluate));
      }
    }
    return Compare(absl::StrCat("random input ", index), arguments, result);
  }

  // Infinities and NaN must come out the same too. Where they drown the result,
  // the same input with finite special values only is checked as well.
  absl::Status CheckAdversarial(int index, uint64_t seed) {
    HONE_ASSIGN_OR_RETURN(std::vector<Literal> arguments,
                          MakeArguments(a_, ArgumentKind::kAdversarial, seed));
    HONE_ASSIGN_OR_RETURN(Literal result,
                          Evaluate(a_, arguments, options_.evaluate));
    const std::string name = absl::StrCat("adversarial input ", index);
    HONE_RETURN_IF_ERROR(Compare(name, arguments, result));
    FloatCounts counts;
    counts.Add(result);
    if (!report_.equal || 2 * counts.non_finite <= counts.floats) {
      return absl::OkStatus();
    }
    HONE_ASSIGN_OR_RETURN(
        arguments, Arguments(a_, ArgumentKind::kAdversarial, false, seed));
    HONE_ASSIGN_OR_RETURN(result, Evaluate(a_, arguments, options_.evaluate));
    return Compare(absl::StrCat(name, " without infinities and NaN"), arguments,
                   result);
  }

  absl::Status Compare(absl::string_view input,
                       absl::Span<const Literal> arguments, const Literal& a) {
    HONE_ASSIGN_OR_RETURN(const Literal b,
                          Evaluate(b_, arguments, options_.evaluate));
    DetailedComparison comparison = CompareInDetail(a, b);
    report_.max_rel_error =
        std::max(report_.max_rel_error, comparison.max_rel_error);
    if (!comparison.equal && std::isfinite(comparison.max_rel_error)) {
      HONE_ASSIGN_OR_RETURN(std::vector<double> slack, Noise(arguments, a));
      comparison = CompareInDetail(a, b, slack);
    }
    if (comparison.equal) return absl::OkStatus();
    report_.equal = false;
    const Difference& worst = comparison.worst;
    report_.explanation = absl::StrCat(
        "on ", input, ", ",
        worst.output.empty() ? "the result"
                             : absl::StrCat("output ", worst.output),
        " differs at ", worst.element, ": ", worst.a, " became ", worst.b,
        " (relative error ", comparison.max_rel_error, ")");
    return absl::OkStatus();
  }

  // Returns the error that rounding may cause on this input, for each array of
  // the result.
  absl::StatusOr<std::vector<double>> Noise(absl::Span<const Literal> arguments,
                                            const Literal& a) {
    Rng rng(options_.seed);
    std::vector<Literal> perturbed;
    for (const Literal& argument : arguments) {
      perturbed.push_back(Perturbed(argument, rng));
    }
    HONE_ASSIGN_OR_RETURN(const Literal moved,
                          Evaluate(a_, perturbed, options_.evaluate));
    std::vector<double> noise = CompareInDetail(a, moved).array_errors;
    for (double& error : noise) error *= kNoiseFactor;
    return noise;
  }

  const Module& a_;
  const Module& b_;
  const EquivalenceOptions& options_;
  EquivalenceReport report_;
};

}  // namespace

absl::StatusOr<EquivalenceReport> CheckEquivalent(
    const Module& a, const Module& b, const EquivalenceOptions& options) {
  return Checker(a, b, options).Run();
}

}  // namespace hone::hlo
