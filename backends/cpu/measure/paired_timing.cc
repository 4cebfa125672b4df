#include "backends/cpu/measure/paired_timing.h"

#include <algorithm>
#include <cmath>

#include "base/rng.h"
#include "base/statistics.h"

namespace hone::backends {
namespace {

// The pairs after which a race may be won.
constexpr size_t kWinningPairs = 11;
// The pairs after which a race may be lost, and after which a candidate far
// behind is given up without a race.
constexpr size_t kFirstPairs = 3;
// The ratio beyond which nobody goes on without a race, and the one beyond
// which a single pair is enough if the warm-up says so too.
constexpr double kHopeless = 2;
constexpr double kFarBehind = 8;

double NanosecondsOf(const std::function<void()>& kernel, int64_t calls,
                     const Clock& clock) {
  const absl::Duration start = clock.Monotonic();
  for (int64_t i = 0; i < calls; ++i) kernel();
  return absl::ToDoubleNanoseconds(clock.Monotonic() - start) /
         static_cast<double>(calls);
}

// At least a sample's duration, or about that in a race.
int64_t CallsFor(const PairedTimingOptions& options, double ns) {
  const double calls =
      absl::ToDoubleNanoseconds(options.sample) / std::max(ns, 1.0);
  return std::max<int64_t>(
      1, std::llround(options.bar > 0 ? calls : std::ceil(calls)));
}

// Takes a sample after untimed calls, since the other kernel left the caches
// and the shared arrays in its own state. Otherwise the next sample would pay
// for pending non-temporal stores. `follows_own`: the sample before it was of
// the same kernel, which saves these calls in a race.
double Sample(const std::function<void()>& kernel, int64_t calls,
              bool follows_own, const Clock& clock,
              const PairedTimingOptions& options) {
  if (options.before_sample) options.before_sample();
  if (!follows_own || options.bar <= 0 || options.before_sample) {
    NanosecondsOf(kernel, 1 + calls / 10, clock);
  }
  return NanosecondsOf(kernel, calls, clock);
}

// Runs both until their times settle; returns nanoseconds per call of each.
std::pair<double, double> WarmUp(const std::function<void()>& a,
                                 const std::function<void()>& b,
                                 const Clock& clock,
                                 const PairedTimingOptions& options) {
  const absl::Duration most = (options.bar > 0 ? 1 : 5) * options.warm_up;
  const absl::Duration start = clock.Monotonic();
  if (options.before_sample) options.before_sample();
  double a_ns = NanosecondsOf(a, 1, clock);
  double b_ns = NanosecondsOf(b, 1, clock);
  for (;;) {
    const double a_before = a_ns;
    if (options.before_sample) options.before_sample();
    a_ns = NanosecondsOf(a, CallsFor(options, a_ns), clock);
    if (options.before_sample) options.before_sample();
    b_ns = NanosecondsOf(b, CallsFor(options, b_ns), clock);
    const absl::Duration spent = clock.Monotonic() - start;
    const bool settled = std::abs(a_ns - a_before) <= 0.01 * a_before;
    if (spent >= most || (spent >= options.warm_up && settled)) {
      return {a_ns, b_ns};
    }
  }
}

// Returns true if more pairs than `ratios` would not change who has won.
bool IsDecided(absl::Span<const double> ratios, double bar) {
  if (bar <= 0) {
    return ratios.size() == kFirstPairs &&
           *std::min_element(ratios.begin(), ratios.end()) > kHopeless;
  }
  const auto below = static_cast<size_t>(
      std::count_if(ratios.begin(), ratios.end(),
                    [bar](double ratio) { return ratio < bar; }));
  // One that is as good as the bar would be in doubt for long otherwise. One
  // that is better by the standard deviation of a pair loses 4 % of its races
  // by it.
  if (ratios.size() == kFirstPairs
          ? below == 0
          : ratios.size() > kFirstPairs && 2 * below < ratios.size()) {
    return true;
  }
  return ratios.size() == kWinningPairs && MedianInterval(ratios).high < bar;
}

}  // namespace

ConfidenceInterval MedianInterval(absl::Span<const double> sample) {
  std::vector<double> sorted(sample.begin(), sample.end());
  std::sort(sorted.begin(), sorted.end());
  const size_t n = sorted.size();
  if (n == 0) return {};
  // The largest k with 2·P(Binomial(n, ½) < k) ≤ 5 %: k-th smallest and
  // largest.
  double tail = 0;
  double term = std::pow(0.5, static_cast<double>(n));
  size_t k = 0;
  while (k < n / 2 && 2 * (tail + term) <= 0.05) {
    tail += term;
    term *= static_cast<double>(n - k) / static_cast<double>(k + 1);
    ++k;
  }
  const size_t first = k == 0 ? 0 : k - 1;
  return {sorted[first], sorted[n - 1 - first]};
}

PairedTiming TimePair(const std::function<void()>& a,
                      const std::function<void()>& b, const Clock& clock,
                      const PairedTimingOptions& options) {
  const auto [a_ns, b_ns] = WarmUp(a, b, clock, options);
  const int64_t a_calls = CallsFor(options, a_ns);
  const int64_t b_calls = CallsFor(options, b_ns);
  const bool is_far_behind = a_ns > kFarBehind * b_ns;
  Rng rng(options.seed);
  PairedTiming timing;
  std::vector<double> ratios;
  bool a_first = false;
  // The warm-up ends with `b`.
  bool was_a = false;
  const auto sample_a = [&] {
    timing.a_ns.push_back(Sample(a, a_calls, was_a, clock, options));
    was_a = true;
  };
  const auto sample_b = [&] {
    timing.b_ns.push_back(Sample(b, b_calls, !was_a, clock, options));
    was_a = false;
  };
  for (int32_t i = 0; i < options.pairs; ++i) {
    const bool turns = options.bar > 0 && i % 2 == 1;
    a_first = turns ? !a_first : rng.Below(2) == 0;
    if (a_first) sample_a();
    sample_b();
    if (!a_first) sample_a();
    ratios.push_back(timing.a_ns.back() / timing.b_ns.back());
    if (options.may_end_early &&
        (IsDecided(ratios, options.bar) ||
         (is_far_behind && ratios.front() > kFarBehind))) {
      break;
    }
  }
  timing.ratio = Median(ratios);
  const ConfidenceInterval interval = MedianInterval(ratios);
  timing.ratio_low = interval.low;
  timing.ratio_high = interval.high;
  return timing;
}

}  // namespace hone::backends
