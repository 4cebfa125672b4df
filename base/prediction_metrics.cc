#include "base/prediction_metrics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>

#include "base/check.h"

namespace hone {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

double Least(const std::vector<double>& values) {
  return *std::min_element(values.begin(), values.end());
}

// The pairs within runs of equal keys, where equal(i, j) compares neighbors.
template <typename Equal>
double PairsInRuns(size_t count, Equal equal) {
  double pairs = 0;
  size_t run = 1;
  for (size_t i = 1; i <= count; ++i) {
    if (i < count && equal(i - 1, i)) {
      ++run;
      continue;
    }
    pairs += static_cast<double>(run) * static_cast<double>(run - 1) / 2;
    run = 1;
  }
  return pairs;
}

// Sorts values[begin, end) by merging; returns the exchanges of neighbors that
// a bubble sort would make.
double SortCountingExchanges(std::vector<double>& values, size_t begin,
                             size_t end, std::vector<double>& scratch) {
  if (end - begin < 2) return 0;
  const size_t middle = begin + (end - begin) / 2;
  double exchanges = SortCountingExchanges(values, begin, middle, scratch) +
                     SortCountingExchanges(values, middle, end, scratch);
  size_t left = begin, right = middle;
  for (size_t out = begin; out < end; ++out) {
    if (left < middle && (right == end || values[left] <= values[right])) {
      scratch[out] = values[left++];
    } else {
      exchanges += static_cast<double>(middle - left);
      scratch[out] = values[right++];
    }
  }
  std::copy(scratch.begin() + static_cast<std::ptrdiff_t>(begin),
            scratch.begin() + static_cast<std::ptrdiff_t>(end),
            values.begin() + static_cast<std::ptrdiff_t>(begin));
  return exchanges;
}

}  // namespace

size_t PredictedBest(const PredictedChoices& choices) {
  HONE_CHECK(!choices.predicted.empty() &&
             choices.predicted.size() == choices.times.size());
  return static_cast<size_t>(
      std::min_element(choices.predicted.begin(), choices.predicted.end()) -
      choices.predicted.begin());
}

double SelectionApe(absl::Span<const PredictedChoices> sets) {
  double excess = 0, best = 0;
  for (const PredictedChoices& choices : sets) {
    const double least = Least(choices.times);
    excess += choices.times[PredictedBest(choices)] - least;
    best += least;
  }
  return best > 0 ? 100 * excess / best : kNaN;
}

double TopKSlowdown(const PredictedChoices& choices, size_t k) {
  HONE_CHECK(k >= 1 && !choices.times.empty() &&
             choices.predicted.size() == choices.times.size());
  std::vector<size_t> order(choices.times.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const size_t count = std::min(k, order.size());
  std::partial_sort(order.begin(),
                    order.begin() + static_cast<std::ptrdiff_t>(count),
                    order.end(), [&](size_t a, size_t b) {
                      return choices.predicted[a] != choices.predicted[b]
                                 ? choices.predicted[a] < choices.predicted[b]
                                 : a < b;
                    });
  double selected = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < count; ++i) {
    selected = std::min(selected, choices.times[order[i]]);
  }
  return selected / Least(choices.times) - 1;
}

double MeanAbsolutePercentageError(absl::Span<const double> times,
                                   absl::Span<const double> predicted) {
  HONE_CHECK(times.size() == predicted.size());
  double sum = 0;
  for (size_t i = 0; i < times.size(); ++i) {
    sum += std::abs(predicted[i] - times[i]) / times[i];
  }
  return times.empty() ? kNaN : 100 * sum / static_cast<double>(times.size());
}

double KendallTau(absl::Span<const double> a, absl::Span<const double> b) {
  HONE_CHECK(a.size() == b.size());
  const size_t count = a.size();
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t i, size_t j) {
    return a[i] != a[j] ? a[i] < a[j] : b[i] < b[j];
  });
  const double ties_of_a = PairsInRuns(
      count, [&](size_t i, size_t j) { return a[order[i]] == a[order[j]]; });
  const double ties_of_both = PairsInRuns(count, [&](size_t i, size_t j) {
    return a[order[i]] == a[order[j]] && b[order[i]] == b[order[j]];
  });
  std::vector<double> sorted(count), scratch(count);
  for (size_t i = 0; i < count; ++i) sorted[i] = b[order[i]];
  // Pairs in opposite order: equal values of `a` stand in the order of `b`.
  const double discordant = SortCountingExchanges(sorted, 0, count, scratch);
  const double ties_of_b = PairsInRuns(
      count, [&](size_t i, size_t j) { return sorted[i] == sorted[j]; });
  const double pairs =
      static_cast<double>(count) * (static_cast<double>(count) - 1) / 2;
  const double ordered = (pairs - ties_of_a) * (pairs - ties_of_b);
  if (!(ordered > 0)) return kNaN;
  return (pairs - ties_of_a - ties_of_b + ties_of_both - 2 * discordant) /
         std::sqrt(ordered);
}

}  // namespace hone
