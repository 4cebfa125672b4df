#include "space/measurement.h"

#include <cmath>
#include <limits>
#include <set>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hone::space {
namespace {

constexpr Outcome kAll[] = {Outcome::kOk,           Outcome::kInvalid,
                            Outcome::kCompileError, Outcome::kTimeout,
                            Outcome::kCrashed,      Outcome::kWrongResult};

TEST(Outcome, NamesAreStableAndReadBack) {
  std::set<absl::string_view> names;
  for (Outcome outcome : kAll) {
    names.insert(OutcomeName(outcome));
    EXPECT_EQ(ParseOutcome(OutcomeName(outcome)), outcome);
  }
  EXPECT_THAT(
      names, ::testing::ElementsAre("compile_error", "crashed", "invalid", "ok",
                                    "timeout", "wrong_result"));
}

TEST(Outcome, UnknownNamesAreNone) {
  EXPECT_EQ(ParseOutcome("OK"), std::nullopt);
  EXPECT_EQ(ParseOutcome(""), std::nullopt);
}

TEST(EffectiveCost, IsInfiniteUnlessOk) {
  Measurement measurement;
  measurement.cost = 3;
  EXPECT_EQ(EffectiveCost(measurement), 3);
  for (Outcome outcome : kAll) {
    measurement.outcome = outcome;
    EXPECT_EQ(std::isinf(EffectiveCost(measurement)), outcome != Outcome::kOk);
  }
  measurement.outcome = Outcome::kOk;
  measurement.cost = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isinf(EffectiveCost(measurement)));
}

}  // namespace
}  // namespace hone::space
