#ifndef HONE_BASE_STATISTICS_H_
#define HONE_BASE_STATISTICS_H_

#include "absl/types/span.h"

namespace hone {

// Returns the q-quantile (0 ≤ q ≤ 1) with linear interpolation between order
// statistics (Hyndman and Fan's type 7); NaN for an empty sample.
double Quantile(absl::Span<const double> sample, double q);

// Quantile(sample, 0.5).
double Median(absl::Span<const double> sample);

// Arithmetic mean; NaN for an empty sample.
double Mean(absl::Span<const double> sample);

// Geometric mean of positive values; NaN for an empty sample.
double GeometricMean(absl::Span<const double> sample);

}  // namespace hone

#endif  // HONE_BASE_STATISTICS_H_
