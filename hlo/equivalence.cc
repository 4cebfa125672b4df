#include "hlo/equivalence.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "base/rng.h"
#include "base/status_macros.h"
#include "hlo/evaluator/types.h"

namespace hone::hlo {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Standard deviation of random floats.
constexpr double kScale = 0.1;
// Random integers are below this: valid indices nearly everywhere.
constexpr uint64_t kIntegerBound = 8;
// Elements of one argument that become special. More would turn whole results
// into NaN, which equal each other and show nothing.
constexpr uint64_t kMaxSpecials = 4;
// Share of NaN in a result above which its input is taken for outside of what
// the module is meant for (a negative second moment under a square root).
constexpr double kMaxNanShare = 0.01;

// Approximately standard normal: the sum of four uniforms (Irwin-Hall), one
// draw per value, since arguments have up to hundreds of millions of elements.
double FastNormal(Rng& rng) {
  const uint64_t bits = rng.Next();
  const uint64_t sum = (bits & 0xffff) + ((bits >> 16) & 0xffff) +
                       ((bits >> 32) & 0xffff) + (bits >> 48);
  // Mean 4·65535/2, variance 4·65536²/12.
  return (static_cast<double>(sum) - 131070.0) / 37837.22;
}

Literal RandomLiteral(const ShapePtr& shape, Rng& rng) {
  if (shape->IsTuple()) {
    std::vector<Literal> elements;
    for (const ShapePtr& element : shape->tuple_elements()) {
      elements.push_back(RandomLiteral(element, rng));
    }
    return Literal::Tuple(std::move(elements));
  }
  Literal literal(shape);
  const ElementType type = shape->element_type();
  const int64_t n = literal.num_elements();
  if (type == ElementType::kF32) {
    for (float& x : literal.mutable_values<float>()) {
      x = static_cast<float>(kScale * FastNormal(rng));
    }
  } else if (IsFloat(type)) {
    for (int64_t i = 0; i < n; ++i) {
      literal.SetDouble(i, kScale * FastNormal(rng));
    }
  } else if (type == ElementType::kC64) {
    auto* x = reinterpret_cast<float*>(literal.MutableData());
    for (int64_t i = 0; i < 2 * n; ++i) {
      x[i] = static_cast<float>(kScale * FastNormal(rng));
    }
  } else if (type == ElementType::kC128) {
    auto* x = reinterpret_cast<double*>(literal.MutableData());
    for (int64_t i = 0; i < 2 * n; ++i) x[i] = kScale * FastNormal(rng);
  } else {
    const uint64_t bound = type == ElementType::kPred ? 2 : kIntegerBound;
    for (int64_t i = 0; i < n; ++i) {
      literal.SetInt(i, static_cast<int64_t>(rng.Below(bound)));
    }
  }
  return literal;
}

// Special values, the finite ones first. Large ones leave room for sums of
// squares in every type but the narrowest.
constexpr std::array<double, 11> kSpecials = {
    0.0,       -0.0,      1e-40,
    -1e-40,    0x1p-126,  100.0,
    -100,      1.0e4,     std::numeric_limits<double>::quiet_NaN(),
    kInfinity, -kInfinity};
constexpr uint64_t kFiniteSpecials = 8;
constexpr std::array<int64_t, 4> kSpecialIntegers = {
    -1, 1000003, std::numeric_limits<int32_t>::max(),
    std::numeric_limits<int32_t>::min()};

void Spice(Literal& literal, bool non_finite, Rng& rng) {
  if (literal.shape().IsTuple()) return;
  const ElementType type = literal.shape().element_type();
  const uint64_t n = static_cast<uint64_t>(literal.num_elements());
  const bool is_float = IsFloat(type);
  // Integer scalars count loop iterations and steps: they stay small.
  if (n == 0 || (!is_float && (!IsIntegral(type) || n == 1))) return;
  const uint64_t count = std::clamp<uint64_t>(n / 16, 1, kMaxSpecials);
  for (uint64_t k = 0; k < count; ++k) {
    const int64_t at = static_cast<int64_t>(rng.Below(n));
    if (is_float) {
      literal.SetDouble(
          at, kSpecials[rng.Below(non_finite && k == 0 ? kSpecials.size()
                                                       : kFiniteSpecials)]);
    } else {
      literal.SetInt(at, kSpecialIntegers[rng.Below(kSpecialIntegers.size())]);
    }
  }
}

std::vector<Literal> Arguments(const Module& module, ArgumentKind kind,
                               bool non_finite, uint64_t seed) {
  const Computation& entry = module.entry_computation();
  Rng rng(seed);
  std::vector<Literal> arguments;
  for (InstructionId parameter : entry.parameters()) {
    Rng values = rng.Split();
    Rng specials = rng.Split();
    arguments.push_back(RandomLiteral(entry[parameter].shape_ptr(), values));
    if (kind == ArgumentKind::kAdversarial && specials.Below(2) == 0) {
      Spice(arguments.back(), non_finite && specials.Below(2) == 0, specials);
    }
  }
  return arguments;
}

// Per element type; 0 is exact.
double Tolerance(ElementType type) {
  switch (type) {
    case ElementType::kF64:
    case ElementType::kC128:
      return 1e-9;
    case ElementType::kF32:
    case ElementType::kC64:
      return 1e-4;
    case ElementType::kBf16:
    case ElementType::kF16:
      return 2e-2;
    default:
      return 0;
  }
}

// Relative to the larger of the magnitudes and `scale`.
double ErrorBetween(double a, double b, double scale) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  if (!std::isfinite(a) || !std::isfinite(b)) return kInfinity;
  return std::fabs(a - b) / std::max({std::fabs(a), std::fabs(b), scale});
}

std::string ElementName(const Shape& shape, int64_t linear) {
  DimensionVector index(shape.dimensions());
  for (size_t d = index.size(); d-- > 0;) {
    const int64_t size = shape.dimensions()[d];
    index[d] = linear % size;
    linear /= size;
  }
  return absl::StrCat("[", absl::StrJoin(index, ","), "]");
}

class Comparer {
 public:
  Comparison Compare(const Literal& a, const Literal& b) {
    Visit(a, b, "");
    return result_;
  }

 private:
  void Visit(const Literal& a, const Literal& b, const std::string& path) {
    if (!Shape::Equal(a.shape(), b.shape())) {
      result_.equal = false;
      result_.max_rel_error = kInfinity;
      result_.worst.output = path;
      severity_ = kInfinity;
      return;
    }
    if (a.shape().IsTuple()) {
      for (size_t i = 0; i < a.elements().size(); ++i) {
        Visit(a.elements()[i], b.elements()[i],
              path.empty() ? absl::StrCat(i) : absl::StrCat(path, ".", i));
      }
      return;
    }
    if (!a.shape().IsArray() || a == b) return;
    switch (a.shape().element_type()) {
      case ElementType::kF32:
        return VisitValues<float>(a, b, path, 1);
      case ElementType::kF64:
        return VisitValues<double>(a, b, path, 1);
      case ElementType::kC64:
        return VisitValues<float>(a, b, path, 2);
      case ElementType::kC128:
        return VisitValues<double>(a, b, path, 2);
      default:
        break;
    }
    VisitEach(
        a, path, a.num_elements(), 1, [&](int64_t i) { return a.AsDouble(i); },
        [&](int64_t i) { return b.AsDouble(i); });
  }

  // Elements of `parts` numbers each.
  template <typename T>
  void VisitValues(const Literal& a, const Literal& b, const std::string& path,
                   int64_t parts) {
    const T* x = reinterpret_cast<const T*>(a.data());
    const T* y = reinterpret_cast<const T*>(b.data());
    VisitEach(
        a, path, a.num_elements() * parts, parts,
        [x](int64_t i) { return static_cast<double>(x[i]); },
        [y](int64_t i) { return static_cast<double>(y[i]); });
  }

  template <typename GetA, typename GetB>
  void VisitEach(const Literal& a, const std::string& path, int64_t n,
                 int64_t parts, const GetA& x, const GetB& y) {
    const double tolerance = Tolerance(a.shape().element_type());
    double squares = 0;
    int64_t finite = 0;
    for (int64_t i = 0; i < n; ++i) {
      const double value = x(i);
      if (!std::isfinite(value)) continue;
      squares += value * value;
      ++finite;
    }
    const double rms =
        finite > 0 ? std::sqrt(squares / static_cast<double>(finite)) : 0;
    for (int64_t i = 0; i < n; ++i) {
      const double error = ErrorBetween(x(i), y(i), rms);
      if (error == 0) continue;
      result_.max_rel_error = std::max(result_.max_rel_error, error);
      if (error > tolerance) result_.equal = false;
      const double severity = tolerance > 0 ? error / tolerance : kInfinity;
      if (severity <= severity_) continue;
      severity_ = severity;
      result_.worst = {path, ElementName(a.shape(), i / parts), x(i), y(i)};
    }
  }

  Comparison result_;
  // The worst element's error in units of its tolerance.
  double severity_ = 0;
};

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

void MakeNonNegative(Literal& literal) {
  const ElementType type = literal.shape().element_type();
  if (type == ElementType::kF32) {
    for (float& x : literal.mutable_values<float>()) x = std::fabs(x);
  } else if (IsFloat(type)) {
    for (int64_t i = 0; i < literal.num_elements(); ++i) {
      literal.SetDouble(i, std::fabs(literal.AsDouble(i)));
    }
  }
}

absl::Status CheckSignatures(const Module& a, const Module& b) {
  const Computation& x = a.entry_computation();
  const Computation& y = b.entry_computation();
  if (x.parameters().size() != y.parameters().size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the modules take ", x.parameters().size(), " and ",
                     y.parameters().size(), " parameters, expected as many"));
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
    std::vector<Literal> arguments =
        MakeArguments(a_, ArgumentKind::kRandom, seed);
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
    std::vector<Literal> arguments =
        MakeArguments(a_, ArgumentKind::kAdversarial, seed);
    HONE_ASSIGN_OR_RETURN(Literal result,
                          Evaluate(a_, arguments, options_.evaluate));
    const std::string name = absl::StrCat("adversarial input ", index);
    HONE_RETURN_IF_ERROR(Compare(name, arguments, result));
    FloatCounts counts;
    counts.Add(result);
    if (!report_.equal || 2 * counts.non_finite <= counts.floats) {
      return absl::OkStatus();
    }
    arguments = Arguments(a_, ArgumentKind::kAdversarial, false, seed);
    HONE_ASSIGN_OR_RETURN(result, Evaluate(a_, arguments, options_.evaluate));
    return Compare(absl::StrCat(name, " without infinities and NaN"), arguments,
                   result);
  }

  absl::Status Compare(absl::string_view input,
                       absl::Span<const Literal> arguments, const Literal& a) {
    HONE_ASSIGN_OR_RETURN(const Literal b,
                          Evaluate(b_, arguments, options_.evaluate));
    const Comparison comparison = CompareLiterals(a, b);
    report_.max_rel_error =
        std::max(report_.max_rel_error, comparison.max_rel_error);
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

  const Module& a_;
  const Module& b_;
  const EquivalenceOptions& options_;
  EquivalenceReport report_;
};

}  // namespace

std::vector<Literal> RandomArguments(const Module& module, uint64_t seed) {
  return MakeArguments(module, ArgumentKind::kRandom, seed);
}

std::vector<Literal> MakeArguments(const Module& module, ArgumentKind kind,
                                   uint64_t seed) {
  return Arguments(module, kind, true, seed);
}

Comparison CompareLiterals(const Literal& a, const Literal& b) {
  return Comparer().Compare(a, b);
}

absl::StatusOr<EquivalenceReport> CheckEquivalent(
    const Module& a, const Module& b, const EquivalenceOptions& options) {
  return Checker(a, b, options).Run();
}

}  // namespace hone::hlo
