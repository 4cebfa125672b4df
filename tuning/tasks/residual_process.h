#ifndef HONE_TUNING_TASKS_RESIDUAL_PROCESS_H_
#define HONE_TUNING_TASKS_RESIDUAL_PROCESS_H_

#include <vector>

#include "absl/types/span.h"

namespace hone::tuning {

// A Gaussian process of what a model's scores leave of measured ones, by the
// features of the candidates. What is measured corrects the scores of
// candidates like it, and says nothing of those unlike it, however few the
// measurements are.
// Source: Rasmussen and Williams, "Gaussian Processes for Machine Learning",
// 2006, algorithm 2.1, with a squared exponential covariance.
class ResidualProcess {
 public:
  struct Sample {
    std::vector<float> features;  // as many of each
    double residual = 0;
  };

  // Learns nothing.
  ResidualProcess() = default;
  explicit ResidualProcess(std::vector<Sample> samples);

  // Returns the expected residual: 0 far from all samples, and never beyond the
  // least and the largest of theirs.
  double MeanAt(absl::Span<const float> features) const;

  // The standard deviation of residuals before anything is measured, and of a
  // measurement: logarithms of ratios of times.
  static constexpr double kPrior = 0.2;
  static constexpr double kNoise = 0.05;

 private:
  double Covariance(absl::Span<const float> a, absl::Span<const float> b) const;

  std::vector<Sample> samples_;
  // The median distance of samples' features, squared.
  double length2_ = 1;
  // The range of residuals, with 0.
  double least_ = 0;
  double most_ = 0;
  // The factors of the samples' covariances in the mean. [samples]
  std::vector<double> weights_;
};

}  // namespace hone::tuning

#endif  // HONE_TUNING_TASKS_RESIDUAL_PROCESS_H_
