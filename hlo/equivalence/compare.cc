#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "hlo/equivalence/equivalence.h"
#include "hlo/equivalence/errors_by_magnitude.h"
#include "hlo/equivalence/internal.h"

namespace hone::hlo {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

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

// Differences below it are none: XLA:CPU runs with denormals flushed to zero,
// so where a product underflows depends on the order of its factors.
double SmallestNormal(ElementType type) {
  switch (type) {
    case ElementType::kF64:
    case ElementType::kC128:
      return std::numeric_limits<double>::min();
    case ElementType::kF32:
    case ElementType::kC64:
    case ElementType::kBf16:
      return static_cast<double>(std::numeric_limits<float>::min());
    default:
      return 0;
  }
}

// Relative to the larger of the magnitudes and `scale`.
double ErrorBetween(double a, double b, double scale, double smallest_normal) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  if (!std::isfinite(a) || !std::isfinite(b)) return kInfinity;
  if (std::fabs(a - b) < smallest_normal) return 0;
  return std::fabs(a - b) / std::max({std::fabs(a), std::fabs(b), scale});
}

// The errors that results of the reference have themselves.
class OwnErrors {
 public:
  template <typename Get>
  OwnErrors(const Literal& precise, int64_t n, const Get& reference)
      : precise_(precise) {
    double squares = 0;
    for (int64_t i = 0; i < n; ++i) {
      const double truth = precise_.AsDouble(i);
      const double error = reference(i) - truth;
      if (!std::isfinite(error)) continue;
      errors_.Add(truth, error);
      squares += error * error;
      ++count_;
    }
    if (count_ > 0) of_all_ = std::sqrt(squares / static_cast<double>(count_));
  }

  // Returns true if `value` is near element i of the precise result, that of
  // the reference being `reference`.
  bool Excuses(int64_t i, double reference, double value) const {
    const double truth = precise_.AsDouble(i);
    if (!std::isfinite(truth) || !std::isfinite(value)) return false;
    double own = errors_.CountNear(truth) < kMinNeighbours
                     ? of_all_
                     : errors_.ErrorNear(truth);
    if (std::isfinite(reference)) {
      own = std::max(own, std::fabs(reference - truth));
    }
    return std::fabs(value - truth) <= kErrorFactor * own;
  }

 private:
  const Literal& precise_;
  ErrorsByMagnitude errors_;
  int64_t count_ = 0;
  // The root mean square.
  double of_all_ = 0;
};

class Comparer {
 public:
  Comparison Compare(const Literal& a, const Literal& b,
                     const Literal* precise) {
    precise_ = precise;
    Visit(a, b, "");
    return std::move(result_);
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
    if (!a.shape().IsArray()) return;
    if (a == b) return;
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
    const ElementType type = a.shape().element_type();
    const double smallest = SmallestNormal(type);
    const double tolerance = Tolerance(type);
    double squares = 0;
    int64_t finite = 0;
    for (int64_t i = 0; i < n; ++i) {
      const double value = x(i);
      if (!std::isfinite(value)) continue;
      squares += value * value;
      ++finite;
    }
    std::optional<OwnErrors> own;
    const double rms =
        finite > 0 ? std::sqrt(squares / static_cast<double>(finite)) : 0;
    for (int64_t i = 0; i < n; ++i) {
      const double error = ErrorBetween(x(i), y(i), rms, smallest);
      if (error == 0) continue;
      if (error > tolerance) {
        if (precise_ != nullptr && tolerance > 0 && !own) {
          own.emplace(*precise_, n, x);
        }
        if (own && own->Excuses(i, x(i), y(i))) {
          result_.max_rel_error = std::max(
              result_.max_rel_error,
              ErrorBetween(precise_->AsDouble(i), y(i), rms, smallest));
          continue;
        }
        result_.equal = false;
      }
      result_.max_rel_error = std::max(result_.max_rel_error, error);
      const double severity = tolerance > 0 ? error / tolerance : kInfinity;
      if (severity <= severity_) continue;
      severity_ = severity;
      result_.worst = {path, ElementName(a.shape(), i / parts), x(i), y(i),
                       std::nullopt};
    }
  }

  // Null: every difference counts.
  const Literal* precise_ = nullptr;
  Comparison result_;
  // The worst element's error in units of its tolerance.
  double severity_ = 0;
};

}  // namespace

std::string ElementName(const Shape& shape, int64_t linear) {
  DimensionVector index(shape.dimensions());
  for (size_t d = index.size(); d-- > 0;) {
    const int64_t size = shape.dimensions()[d];
    index[d] = linear % size;
    linear /= size;
  }
  return absl::StrCat("[", absl::StrJoin(index, ","), "]");
}

Comparison CompareLiterals(const Literal& a, const Literal& b) {
  return Comparer().Compare(a, b, nullptr);
}

Comparison CompareLiterals(const Literal& a, const Literal& b,
                           const Literal& precise) {
  return Comparer().Compare(a, b, &precise);
}

}  // namespace hone::hlo
