#include "base/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace hone {

double Quantile(absl::Span<const double> sample, double q) {
  if (sample.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::vector<double> sorted(sample.begin(), sample.end());
  std::sort(sorted.begin(), sorted.end());
  const double position = q * static_cast<double>(sorted.size() - 1);
  const size_t below = static_cast<size_t>(position);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  const double fraction = position - static_cast<double>(below);
  return sorted[below] + fraction * (sorted[above] - sorted[below]);
}

double Median(absl::Span<const double> sample) { return Quantile(sample, 0.5); }

double Mean(absl::Span<const double> sample) {
  if (sample.empty()) return std::numeric_limits<double>::quiet_NaN();
  double sum = 0;
  for (const double value : sample) sum += value;
  return sum / static_cast<double>(sample.size());
}

double GeometricMean(absl::Span<const double> sample) {
  if (sample.empty()) return std::numeric_limits<double>::quiet_NaN();
  double sum = 0;
  for (double value : sample) sum += std::log(value);
  return std::exp(sum / static_cast<double>(sample.size()));
}

}  // namespace hone
