#include "tuning/tasks/residual_process.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace hone::tuning {
namespace {

double Distance2(absl::Span<const float> a, absl::Span<const float> b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double difference =
        static_cast<double>(a[i]) - static_cast<double>(b[i]);
    sum += difference * difference;
  }
  return sum;
}

}  // namespace

ResidualProcess::ResidualProcess(std::vector<Sample> samples)
    : samples_(std::move(samples)) {
  const size_t n = samples_.size();
  for (const Sample& sample : samples_) {
    least_ = std::min(least_, sample.residual);
    most_ = std::max(most_, sample.residual);
  }
  std::vector<double> distances;
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < i; ++j) {
      const double distance =
          Distance2(samples_[i].features, samples_[j].features);
      if (distance > 0) distances.push_back(distance);
    }
  }
  if (!distances.empty()) {
    const auto middle =
        distances.begin() + static_cast<std::ptrdiff_t>(distances.size() / 2);
    std::nth_element(distances.begin(), middle, distances.end());
    length2_ = *middle;
  }
  // The lower Cholesky factor of the covariance.
  std::vector<std::vector<double>> factor(n);
  for (size_t i = 0; i < n; ++i) {
    factor[i].resize(i + 1);
    for (size_t j = 0; j <= i; ++j) {
      double sum = Covariance(samples_[i].features, samples_[j].features);
      if (i == j) sum += kNoise * kNoise;
      for (size_t k = 0; k < j; ++k) sum -= factor[i][k] * factor[j][k];
      factor[i][j] =
          i == j ? std::sqrt(std::max(sum, 1e-12)) : sum / factor[j][j];
    }
  }
  // Solves L·v = residuals, then Lᵀ·weights = v.
  weights_.resize(n);
  for (size_t i = 0; i < n; ++i) {
    double sum = samples_[i].residual;
    for (size_t k = 0; k < i; ++k) sum -= factor[i][k] * weights_[k];
    weights_[i] = sum / factor[i][i];
  }
  for (size_t i = n; i-- > 0;) {
    double sum = weights_[i];
    for (size_t k = i + 1; k < n; ++k) sum -= factor[k][i] * weights_[k];
    weights_[i] = sum / factor[i][i];
  }
}

double ResidualProcess::Covariance(absl::Span<const float> a,
                                   absl::Span<const float> b) const {
  return kPrior * kPrior * std::exp(-Distance2(a, b) / (2 * length2_));
}

double ResidualProcess::MeanAt(absl::Span<const float> features) const {
  double mean = 0;
  for (size_t i = 0; i < samples_.size(); ++i) {
    mean += Covariance(features, samples_[i].features) * weights_[i];
  }
  return std::clamp(mean, least_, most_);
}

}  // namespace hone::tuning
