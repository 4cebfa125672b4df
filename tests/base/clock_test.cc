#include "base/clock.h"

#include "absl/time/clock.h"
#include "gtest/gtest.h"

#include "tests/support/fake_clock.h"

namespace hone {
namespace {

TEST(SystemClock, NeverStepsBack) {
  const Clock& clock = SystemClock();
  const absl::Time before = absl::Now();
  absl::Duration last = clock.Monotonic();
  for (int i = 0; i < 1000; ++i) {
    const absl::Duration now = clock.Monotonic();
    ASSERT_GE(now, last);
    last = now;
  }
  EXPECT_GE(clock.Now(), before - absl::Minutes(1));
  EXPECT_EQ(&clock, &SystemClock());
}

TEST(FakeClock, MovesWhenTold) {
  testing::FakeClock clock;
  const absl::Time start = clock.Now();
  EXPECT_EQ(clock.Monotonic(), absl::ZeroDuration());
  clock.Advance(absl::Seconds(3));
  EXPECT_EQ(clock.Monotonic(), absl::Seconds(3));
  EXPECT_EQ(clock.Now(), start + absl::Seconds(3));
}

}  // namespace
}  // namespace hone
