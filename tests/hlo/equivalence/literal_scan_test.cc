#include "hlo/equivalence/literal_scan.h"

#include <limits>
#include <vector>

#include "gtest/gtest.h"

#include "base/thread_pool.h"

namespace hone::hlo {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Literal Array(ElementType type, const std::vector<double>& values) {
  Literal literal(Shape::Array(type, {static_cast<int64_t>(values.size())}));
  for (size_t i = 0; i < values.size(); ++i) {
    literal.SetDouble(static_cast<int64_t>(i), values[i]);
  }
  return literal;
}

TEST(HaveSameNumbers, TakesNanAndZerosForTheSame) {
  for (ElementType type :
       {ElementType::kF32, ElementType::kF64, ElementType::kBf16}) {
    const Literal a = Array(type, {0, kNan, 3});
    EXPECT_TRUE(HaveSameNumbers(a, Array(type, {-0.0, -kNan, 3}), nullptr));
    EXPECT_FALSE(HaveSameNumbers(a, Array(type, {0, 1, 3}), nullptr));
    EXPECT_FALSE(HaveSameNumbers(a, Array(type, {1e-30, kNan, 3}), nullptr));
  }
}

TEST(HaveSameNumbers, LooksIntoTuples) {
  const Literal f = Array(ElementType::kF32, {kNan});
  const Literal g = Array(ElementType::kF32, {-kNan});
  const Literal n = Array(ElementType::kS32, {1});
  const Literal m = Array(ElementType::kS32, {2});
  EXPECT_TRUE(
      HaveSameNumbers(Literal::Tuple({f, n}), Literal::Tuple({g, n}), nullptr));
  EXPECT_FALSE(
      HaveSameNumbers(Literal::Tuple({f, n}), Literal::Tuple({g, m}), nullptr));
}

TEST(HaveSameNumbers, FindsOneElementOfMany) {
  ThreadPool pool(2);
  const std::vector<double> values(3'000'000);
  const Literal zeros = Array(ElementType::kF32, values);
  for (int64_t i : {int64_t{0}, int64_t{1'500'001}, int64_t{2'999'999}}) {
    Literal one = Array(ElementType::kF32, values);
    one.SetDouble(i, -0.0);
    EXPECT_TRUE(HaveSameNumbers(zeros, one, &pool));
    one.SetDouble(i, 1e-30);
    EXPECT_FALSE(HaveSameNumbers(zeros, one, &pool));
  }
}

}  // namespace
}  // namespace hone::hlo
