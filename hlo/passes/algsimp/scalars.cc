#include "hlo/passes/algsimp/scalars.h"

#include <cmath>
#include <limits>

#include "absl/numeric/int128.h"

#include "hlo/ir/element_type.h"

namespace hone::hlo::algsimp {
namespace {

// 0 for types that rules do not fold.
double SmallestNormal(ElementType type) {
  switch (type) {
    case ElementType::kF64:
      return std::numeric_limits<double>::min();
    case ElementType::kF32:
    case ElementType::kBf16:
      return static_cast<double>(std::numeric_limits<float>::min());
    case ElementType::kF16:
      return 0x1p-14;
    default:
      return 0;
  }
}

// The integer, also where it is beyond the range of int64_t.
absl::int128 AsInteger(const Literal& literal) {
  const int64_t bits = literal.AsInt(0);
  return literal.shape().element_type() == ElementType::kU64
             ? absl::int128(static_cast<uint64_t>(bits))
             : absl::int128(bits);
}

std::optional<Literal> IntegerScalar(ElementType type, absl::int128 value) {
  Literal result =
      Literal::ScalarInt(type, static_cast<int64_t>(absl::Int128Low64(value)));
  if (AsInteger(result) != value) return std::nullopt;
  return result;
}

}  // namespace

std::optional<Literal> NormalScalar(ElementType type, double value) {
  const double smallest = SmallestNormal(type);
  if (smallest == 0 || !std::isfinite(value)) return std::nullopt;
  // Double carries more than twice the digits of the narrower types and two
  // more, so that rounding twice, to double and to the type, equals rounding
  // once.
  Literal result = Literal::Scalar(type, value);
  const double rounded = std::fabs(result.AsDouble(0));
  if (!std::isfinite(rounded) || (value != 0 && rounded < smallest)) {
    return std::nullopt;
  }
  return result;
}

std::optional<Literal> FoldSum(const Literal& a, const Literal& b,
                               bool subtract) {
  const ElementType type = a.shape().element_type();
  if (type != b.shape().element_type()) return std::nullopt;
  if (IsIntegral(type)) {
    const absl::int128 y = AsInteger(b);
    return IntegerScalar(type, AsInteger(a) + (subtract ? -y : y));
  }
  if (!IsFloat(type)) return std::nullopt;
  const double y = b.AsDouble(0);
  return NormalScalar(type, a.AsDouble(0) + (subtract ? -y : y));
}

std::optional<Literal> FoldMultiple(const Literal& a, int64_t count) {
  const ElementType type = a.shape().element_type();
  // Less than 2^127 as count is below 2^63.
  if (IsIntegral(type)) return IntegerScalar(type, AsInteger(a) * count);
  if (!IsFloat(type)) return std::nullopt;
  return NormalScalar(type, a.AsDouble(0) * static_cast<double>(count));
}

std::optional<bool> IsAtMost(const Literal& a, const Literal& b) {
  const ElementType type = a.shape().element_type();
  if (type != b.shape().element_type()) return std::nullopt;
  if (IsIntegral(type)) return AsInteger(a) <= AsInteger(b);
  if (!IsFloat(type)) return std::nullopt;
  const double x = a.AsDouble(0);
  const double y = b.AsDouble(0);
  if (std::isnan(x) || std::isnan(y)) return std::nullopt;
  return x <= y;
}

}  // namespace hone::hlo::algsimp
