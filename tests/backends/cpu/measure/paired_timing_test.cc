#include "backends/cpu/measure/paired_timing.h"

#include <cmath>
#include <vector>

#include "gtest/gtest.h"

#include "base/rng.h"
#include "tests/support/fake_clock.h"

namespace hone::backends {
namespace {

using ::hone::testing::FakeClock;

// A kernel that takes `ns`, times what the machine does at the moment, times
// log-normal noise.
std::function<void()> Kernel(FakeClock& clock, Rng& rng, double& machine,
                             double ns, double noise) {
  return [&clock, &rng, &machine, ns, noise] {
    const double normal = rng.Uniform() + rng.Uniform() + rng.Uniform() +
                          rng.Uniform() - 2;  // Variance 1/3.
    clock.Advance(
        absl::Nanoseconds(ns * machine * std::exp(noise * 1.73 * normal)));
    // A drift: a few percent from sample to sample.
    machine *= std::exp(0.001 * (rng.Uniform() - 0.5));
  };
}

TEST(PairedTiming, SeesHowMuchFasterOneIs) {
  FakeClock clock;
  Rng rng(1);
  double machine = 1;
  const PairedTiming timing =
      TimePair(Kernel(clock, rng, machine, 100'000, 0.02),
               Kernel(clock, rng, machine, 130'000, 0.02), clock, {});
  EXPECT_NEAR(timing.ratio, 100.0 / 130, 0.02);
  EXPECT_LE(timing.ratio_low, timing.ratio);
  EXPECT_GE(timing.ratio_high, timing.ratio);
  EXPECT_LT(timing.ratio_high, 1);
  EXPECT_EQ(timing.a_ns.size(), 11u);
  EXPECT_EQ(timing.b_ns.size(), 11u);
}

TEST(PairedTiming, EqualKernelsSeldomDiffer) {
  int different = 0;
  constexpr int kRuns = 400;
  for (uint64_t seed = 0; seed < kRuns; ++seed) {
    FakeClock clock;
    Rng rng(seed);
    double machine = 1;
    const auto a = Kernel(clock, rng, machine, 2'000'000, 0.05);
    PairedTimingOptions options;
    options.seed = seed;
    const PairedTiming timing = TimePair(a, a, clock, options);
    different += timing.ratio_low > 1 || timing.ratio_high < 1 ? 1 : 0;
  }
  EXPECT_LE(different, kRuns * 5 / 100);
}

TEST(PairedTiming, WhatOneLeavesBehindIsNotHeldAgainstTheOther) {
  FakeClock clock;
  bool evicted = false;
  const auto streams = [&] {
    clock.Advance(absl::Milliseconds(2));
    evicted = true;
  };
  const auto reuses = [&] {
    clock.Advance(absl::Milliseconds(evicted ? 3 : 2));
    evicted = false;
  };
  EXPECT_EQ(TimePair(streams, reuses, clock, {}).ratio, 1);
  // Not in a race either, where fewer untimed calls are made.
  PairedTimingOptions race;
  race.bar = 1.5;
  const PairedTiming timing = TimePair(streams, reuses, clock, race);
  EXPECT_EQ(timing.ratio_low, 1);
  EXPECT_EQ(timing.ratio_high, 1);
}

TEST(PairedTiming, WhatCallsChangeIsRestoredBeforeEachSample) {
  FakeClock clock;
  int changes = 0;
  const auto kernel = [&] {
    clock.Advance(absl::Milliseconds(2 + changes));
    ++changes;
  };
  PairedTimingOptions options;
  options.before_sample = [&] { changes = 0; };
  const PairedTiming timing = TimePair(kernel, kernel, clock, options);
  // One untimed call, then one that is timed.
  for (double ns : timing.a_ns) EXPECT_EQ(ns, 3e6);
  EXPECT_EQ(timing.b_ns, timing.a_ns);
}

TEST(PairedTiming, GivesUpOnWhatHasLost) {
  FakeClock clock;
  Rng rng(1);
  double machine = 1;
  const PairedTiming timing =
      TimePair(Kernel(clock, rng, machine, 500'000, 0.02),
               Kernel(clock, rng, machine, 100'000, 0.02), clock, {});
  EXPECT_EQ(timing.a_ns.size(), 3u);
  EXPECT_NEAR(timing.ratio, 5, 0.3);
}

// Two of three pairs were disturbed, or all of those of code that is compared
// with itself.
TEST(PairedTiming, DoesNotGiveUpOnWhatWasDisturbed) {
  for (const auto& [disturbed, may_end_early] :
       {std::pair(2, true), {5, false}}) {
    FakeClock clock;
    int calls = 0;
    const auto kernel = [&] { clock.Advance(absl::Milliseconds(1)); };
    // The warm-up calls it several times; a pair, twice.
    int first = 0;
    const auto slow_at_first = [&] {
      ++calls;
      const bool is_slow =
          first > 0 && calls >= first && calls < first + 2 * disturbed;
      clock.Advance(absl::Milliseconds(is_slow ? 20 : 1));
    };
    PairedTimingOptions options;
    options.may_end_early = may_end_early;
    TimePair(slow_at_first, kernel, clock, options);
    first = calls - 2 * options.pairs + 1;
    calls = 0;
    const PairedTiming timing = TimePair(slow_at_first, kernel, clock, options);
    EXPECT_EQ(timing.a_ns.front(), 20e6);
    EXPECT_EQ(timing.a_ns.size(), 11u);
    EXPECT_EQ(timing.ratio, 1);
  }
}

TEST(PairedTiming, OnePairIsEnoughForWhatIsFarBehind) {
  FakeClock clock;
  Rng rng(1);
  double machine = 1;
  const PairedTiming timing =
      TimePair(Kernel(clock, rng, machine, 2'000'000, 0.02),
               Kernel(clock, rng, machine, 100'000, 0.02), clock, {});
  EXPECT_EQ(timing.a_ns.size(), 1u);
  EXPECT_NEAR(timing.ratio, 20, 1);
}

TEST(PairedTiming, ARaceEndsWhenItIsDecided) {
  // The ratio to beat, the ratio, and the pairs that show who won.
  const struct {
    double bar;
    double ratio;
    size_t pairs;
  } races[] = {{1.0, 1.2, 3},  {0.8, 1.0, 3},  {1.0, 0.8, 11},
               {0.9, 0.5, 11}, {0.0, 0.8, 31}, {0.0, 1.2, 31}};
  for (const auto& race : races) {
    FakeClock clock;
    Rng rng(1);
    double machine = 1;
    PairedTimingOptions options;
    options.pairs = 31;
    options.bar = race.bar;
    const PairedTiming timing =
        TimePair(Kernel(clock, rng, machine, 100'000 * race.ratio, 0.02),
                 Kernel(clock, rng, machine, 100'000, 0.02), clock, options);
    EXPECT_EQ(timing.a_ns.size(), race.pairs) << race.bar << " " << race.ratio;
    EXPECT_NEAR(timing.ratio, race.ratio, 0.05);
  }
}

TEST(PairedTiming, ARaceIsNotLongInDoubt) {
  // The share of the bar's time, and how many pairs and losses it may take.
  constexpr int kRuns = 400;
  const struct {
    double share;
    double most_pairs;
    int most_lost;
  } races[] = {{1.0, 9, kRuns}, {0.98, 11, kRuns * 5 / 100}};
  for (const auto& race : races) {
    size_t pairs = 0;
    int lost = 0;
    for (uint64_t seed = 0; seed < kRuns; ++seed) {
      FakeClock clock;
      Rng rng(seed);
      double machine = 1;
      PairedTimingOptions options;
      options.pairs = 11;
      options.bar = 0.9;
      options.seed = seed;
      // Pairs have a standard deviation of 2 %.
      const PairedTiming timing = TimePair(
          Kernel(clock, rng, machine, 2'000'000 * 0.9 * race.share, 0.014),
          Kernel(clock, rng, machine, 2'000'000, 0.014), clock, options);
      pairs += timing.a_ns.size();
      lost += timing.ratio >= options.bar ? 1 : 0;
    }
    EXPECT_LE(static_cast<double>(pairs), race.most_pairs * kRuns)
        << race.share;
    EXPECT_LE(lost, race.most_lost) << race.share;
  }
}

TEST(PairedTiming, WarmingUpEnds) {
  // Each call takes longer than the one before, so no two rounds agree.
  FakeClock clock;
  absl::Duration spent;
  double ns = 1'000'000;
  const auto slows_down = [&] {
    clock.Advance(absl::Nanoseconds(ns));
    spent += absl::Nanoseconds(ns);
    ns *= 1.02;
  };
  PairedTimingOptions options;
  options.pairs = 1;
  options.bar = 1;
  TimePair(slows_down, slows_down, clock, options);
  // The warm-up, its last round, and a pair with its untimed calls.
  EXPECT_LE(spent, options.warm_up + absl::Milliseconds(8));
}

TEST(PairedTiming, APairOfARaceTakesLittleMoreThanThreeCalls) {
  for (const double bar : {0.0, 2.0}) {
    FakeClock clock;
    int64_t calls = 0;
    const auto kernel = [&] {
      ++calls;
      clock.Advance(absl::Milliseconds(1));
    };
    PairedTimingOptions options;
    options.pairs = 11;
    options.bar = bar;
    TimePair(kernel, kernel, clock, options);
    const int64_t more = calls;
    options.pairs = 1;
    TimePair(kernel, kernel, clock, options);
    // Less the calls of the warm-up and the first pair.
    const auto per_pair = static_cast<double>(2 * more - calls) / 10;
    EXPECT_LE(per_pair, bar > 0 ? 3.4 : 4.0);
    EXPECT_GE(per_pair, bar > 0 ? 3.0 : 4.0);
  }
}

TEST(PairedTiming, SamplesOfFastKernelsAreManyCalls) {
  FakeClock clock;
  int64_t calls = 0;
  const auto kernel = [&] {
    ++calls;
    clock.Advance(absl::Nanoseconds(1000));
  };
  PairedTimingOptions options;
  options.pairs = 5;
  const PairedTiming timing = TimePair(kernel, kernel, clock, options);
  EXPECT_GE(calls, 2 * 5 * 1000);
  for (double ns : timing.a_ns) EXPECT_NEAR(ns, 1000, 1);
}

TEST(MedianInterval, ComesFromTheBinomialDistribution) {
  std::vector<double> sample;
  EXPECT_EQ(MedianInterval(sample).low, 0);
  for (int i = 1; i <= 11; ++i) sample.push_back(i);
  // P(Bin(11, ½) ≤ 1) = 0.6 %, ≤ 2: 3.3 %.
  EXPECT_EQ(MedianInterval(sample).low, 2);
  EXPECT_EQ(MedianInterval(sample).high, 10);
  sample.resize(4);
  EXPECT_EQ(MedianInterval(sample).low, 1);
  EXPECT_EQ(MedianInterval(sample).high, 4);
}

}  // namespace
}  // namespace hone::backends
