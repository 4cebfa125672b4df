#ifndef HONE_BASE_PREDICTION_METRICS_H_
#define HONE_BASE_PREDICTION_METRICS_H_

#include <cstddef>
#include <vector>

#include "absl/types/span.h"

namespace hone {

// The choices among which a model selects: the configurations of one kernel,
// for example. Both [n], n ≥ 1; times are positive.
struct PredictedChoices {
  std::vector<double> times;      // true ones
  std::vector<double> predicted;  // in any unit: less means faster
};

// Returns the index of the least prediction, the first of equal ones.
size_t PredictedBest(const PredictedChoices& choices);

// Returns how much slower the selected choices are than the best ones, in per
// cent of the best: 100 Σ_k (t(selected) - min t) / Σ_k min t over the sets of
// choices of a program. NaN without any.
// Source: Kaufman et al., "A Learned Performance Model for Tensor Processing
// Units", 2021, section 6.1 (tile-size APE).
double SelectionApe(absl::Span<const PredictedChoices> sets);

// Returns (least true time among the `k` choices predicted fastest) / (least
// true time) - 1. Of equal predictions, the first come first. k ≥ 1.
double TopKSlowdown(const PredictedChoices& choices, size_t k);

// Returns the mean absolute percentage error of predicted times, in per cent;
// NaN without any. Both [n]; times are positive.
// Source: Kaufman et al., 2021, section 6.2 (fusion MAPE).
double MeanAbsolutePercentageError(absl::Span<const double> times,
                                   absl::Span<const double> predicted);

// Returns Kendall's rank correlation τ-b of two lists of one length, -1 … 1;
// NaN if all values of one list are equal. O(n log n).
// Source: Knight, "A Computer Method for Calculating Kendall's Tau with
// Ungrouped Data", 1966.
double KendallTau(absl::Span<const double> a, absl::Span<const double> b);

}  // namespace hone

#endif  // HONE_BASE_PREDICTION_METRICS_H_
