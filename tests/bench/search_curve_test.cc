#include "bench/search_curve.h"

#include <limits>

#include "gtest/gtest.h"

namespace hone::bench {
namespace {

TEST(SearchCurve, IsTheDefaultUntilSomethingIsCheaper) {
  SearchCurve curve(100);
  curve.Add(0, 100);
  curve.Add(10, 120);
  curve.Add(20, 90);
  curve.Add(30, std::numeric_limits<double>::infinity());
  curve.Add(40, 95);
  curve.Add(50, 80);
  EXPECT_EQ(curve.BestAt(0), 100);
  EXPECT_EQ(curve.BestAt(19), 100);
  EXPECT_EQ(curve.BestAt(20), 90);
  EXPECT_EQ(curve.BestAt(49), 90);
  EXPECT_EQ(curve.BestAt(50), 80);
  EXPECT_EQ(curve.BestAt(1000), 80);
}

TEST(SearchCurve, TakesTheCheapestOfTrialsAtOneTime) {
  SearchCurve curve(100);
  curve.Add(7, 60);
  curve.Add(7, 50);
  curve.Add(7, 70);
  EXPECT_EQ(curve.BestAt(6), 100);
  EXPECT_EQ(curve.BestAt(7), 50);
}

}  // namespace
}  // namespace hone::bench
