#ifndef HONE_BACKENDS_CPU_PAIRED_TIMING_H_
#define HONE_BACKENDS_CPU_PAIRED_TIMING_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/time/time.h"
#include "absl/types/span.h"

#include "base/clock.h"

namespace hone::backends {

// Two kernels timed against each other in one process.
//
// Times of one machine swing by tens of percent from second to second, those of
// neighbours in time by a few: so what is compared is never two times, but the
// ratios of pairs taken one after the other, in an order that is drawn for each
// pair so that a drift favours neither. The median of the ratios is robust
// against the interruptions that a shared machine has, and its confidence
// interval comes from order statistics, which assumes nothing about the noise.
// No sample is ever thrown away.
struct PairedTiming {
  // Nanoseconds of one call.
  std::vector<double> a_ns;
  std::vector<double> b_ns;
  // Median over pairs of a / b, and its interval at 95 % confidence.
  double ratio = 1;
  double ratio_low = 1;
  double ratio_high = 1;
};

struct PairedTimingOptions {
  // Calls of both before anything is timed: at least so long, and then until
  // the last two rounds agree within a percent or five times that has passed.
  absl::Duration warm_up = absl::Milliseconds(20);
  // A sample is as many calls as take so long, after a tenth as many, one at
  // least, that are not timed.
  absl::Duration sample = absl::Milliseconds(1);
  int32_t pairs = 11;
  // A ratio above this after the third pair ends it: a has lost.
  double hopeless = 2;
  uint64_t seed = 0;
};

// Times `a` and `b`, by `clock`.
PairedTiming TimePair(const std::function<void()>& a,
                      const std::function<void()>& b, const Clock& clock,
                      const PairedTimingOptions& options);

// The median's confidence interval at 95 % by order statistics (sign test): the
// widest of the sample where it is too small for one.
struct Interval {
  double low = 0;
  double high = 0;
};
Interval MedianInterval(absl::Span<const double> sample);

}  // namespace hone::backends

#endif  // HONE_BACKENDS_CPU_PAIRED_TIMING_H_
