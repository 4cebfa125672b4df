#ifndef HONE_BACKENDS_CPU_MEASURE_PAIRED_TIMING_H_
#define HONE_BACKENDS_CPU_MEASURE_PAIRED_TIMING_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/time/time.h"
#include "absl/types/span.h"

#include "base/clock.h"

namespace hone::backends {

// Timing of two kernels against each other in one process.
//
// Times on one machine vary by tens of percent from second to second, but only
// by a few percent between consecutive samples. Therefore samples are taken in
// pairs, in an order drawn for each pair so that drift favors neither, and only
// ratios of a pair are compared. The median of the ratios is robust against
// interruptions on a shared machine, and its confidence interval comes from
// order statistics, which makes no assumption about the noise. No sample is
// discarded.
struct PairedTiming {
  // Nanoseconds of one call.
  std::vector<double> a_ns;
  std::vector<double> b_ns;
  // The median over pairs of a / b, and its 95 % confidence interval.
  double ratio = 1;
  double ratio_low = 1;
  double ratio_high = 1;
};

struct PairedTimingOptions {
  // The minimum time of untimed calls of both. Unless in a race, the warm-up
  // goes on until two consecutive rounds agree within a percent, for at most
  // five times this long.
  absl::Duration warm_up = absl::Milliseconds(5);
  // The least duration of a sample, which is a number of calls. A tenth as many
  // untimed calls, at least one, come before it. In a race the number is
  // rounded, every second pair has the order that the one before it has not,
  // and a sample after one of the same kernel has no untimed calls.
  absl::Duration sample = absl::Milliseconds(1);
  int32_t pairs = 11;
  // The ratio to beat: a race. If the warm-up and the first pair take `a`
  // more than 8 times as long it has lost, with or without a race. It has lost
  // after 3 pairs if none is below the bar, and later if fewer than half are,
  // as it can be little better then; it has won after 11 pairs if the whole
  // interval is below. 0: no race, but `a` has lost if the ratios of the first
  // three pairs are all above 2.
  double bar = 0;
  // False: all pairs are taken, as for code that is compared with itself, of
  // which a few pairs that something else disturbed would tell nothing.
  bool may_end_early = true;
  uint64_t seed = 0;
  // Called before each sample and each round of the warm-up of either, untimed;
  // may be empty. For kernels that change what they read.
  std::function<void()> before_sample;
};

// Times `a` against `b` by `clock`.
PairedTiming TimePair(const std::function<void()>& a,
                      const std::function<void()>& b, const Clock& clock,
                      const PairedTimingOptions& options);

// A 95 % confidence interval.
struct ConfidenceInterval {
  double low = 0;
  double high = 0;
};
// Returns the confidence interval of the median by order statistics (sign
// test); the range of the sample if it is too small for one.
ConfidenceInterval MedianInterval(absl::Span<const double> sample);

}  // namespace hone::backends

#endif  // HONE_BACKENDS_CPU_MEASURE_PAIRED_TIMING_H_
