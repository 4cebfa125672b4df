#include "tests/loops/difference.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "absl/strings/str_cat.h"

namespace hone::testing {
namespace {

bool IsClose(double a, double b, double tolerance) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return true;
  return std::abs(a - b) <=
         tolerance * (1 + std::max(std::abs(a), std::abs(b)));
}

}  // namespace

double RoundingOf(hlo::ElementType type) {
  switch (type) {
    case hlo::ElementType::kBf16:
      return 0.1;
    case hlo::ElementType::kF16:
      return 0.02;
    case hlo::ElementType::kF32:
      return 1e-4;
    case hlo::ElementType::kF64:
      return 1e-10;
    default:
      return 0;
  }
}

std::string Difference(absl::Span<const hlo::Literal> expected,
                       absl::Span<const hlo::Literal> actual,
                       absl::FunctionRef<double(hlo::ElementType)> tolerance) {
  if (expected.size() != actual.size()) {
    return absl::StrCat(actual.size(), " results, expected ", expected.size());
  }
  for (size_t i = 0; i < expected.size(); ++i) {
    const double allowed = tolerance(expected[i].shape().element_type());
    for (int64_t j = 0; j < expected[i].num_elements(); ++j) {
      const double a = expected[i].AsDouble(j);
      const double b = actual[i].AsDouble(j);
      if (IsClose(a, b, allowed)) continue;
      return absl::StrCat("result ", i, ", element ", j, ": ", b, ", expected ",
                          a);
    }
  }
  return "";
}

}  // namespace hone::testing
