#include "optimizers/schedule.h"

#include <limits>

#include "gtest/gtest.h"

#include "base/rng.h"

namespace hone::optimizers {
namespace {

constexpr int64_t kCycle = 1000;

// The share of small worsenings that the next cycle of `steps` accepts in its
// first half, where one in fifty is a million times as large.
double AcceptedShare(CoolingSchedule& schedule, int64_t steps, Rng& rng) {
  int accepted = 0;
  int small = 0;
  for (int64_t i = 0; i < steps; ++i) {
    const bool is_large = i % 50 == 0;
    const bool accepts = schedule.Accepts(is_large ? 1e6 : 1, rng);
    if (!is_large && i < steps / 2) {
      ++small;
      if (accepts) ++accepted;
    }
    EXPECT_EQ(schedule.Advance(), i + 1 == steps);
  }
  return static_cast<double>(accepted) / small;
}

TEST(CoolingSchedule, AcceptsWhatIsNoWorseAndNothingInfinite) {
  Rng rng(1);
  CoolingSchedule schedule(kCycle);
  EXPECT_TRUE(schedule.Accepts(0, rng));
  EXPECT_TRUE(schedule.Accepts(-1, rng));
  EXPECT_FALSE(schedule.Accepts(std::numeric_limits<double>::infinity(), rng));
}

TEST(CoolingSchedule, ACycleEndsColdAndTheNextIsTwiceAsLong) {
  Rng rng(1);
  CoolingSchedule schedule(kCycle);
  for (const int64_t steps : {kCycle, 2 * kCycle}) {
    int early = 0;
    int late = 0;
    for (int64_t i = 0; i < steps; ++i) {
      const bool accepts = schedule.Accepts(1, rng);
      if (accepts && i < steps / 4) ++early;
      if (accepts && i >= steps - steps / 4) ++late;
      EXPECT_EQ(schedule.Advance(), i + 1 == steps);
    }
    EXPECT_GT(early, steps / 200);
    EXPECT_EQ(late, 0);
  }
}

TEST(CoolingSchedule, CoolCyclesSettleWhereAFewWorseningsAreLarge) {
  Rng rng(1);
  CoolingSchedule hot(kCycle);
  EXPECT_GT(AcceptedShare(hot, kCycle, rng), 0.9);
  CoolingSchedule alternating(kCycle, /*alternates=*/true);
  EXPECT_LT(AcceptedShare(alternating, kCycle, rng), 0.1);
  EXPECT_GT(AcceptedShare(alternating, 2 * kCycle, rng), 0.9);
  EXPECT_LT(AcceptedShare(alternating, 4 * kCycle, rng), 0.1);
}

}  // namespace
}  // namespace hone::optimizers
