#include "tuning/tasks/tpu_kernel_predictor.h"

#include <cmath>
#include <cstddef>
#include <utility>

#include "base/check.h"
#include "base/status_macros.h"
#include "costmodels/kernel_graph.h"
#include "costmodels/tile_features.h"
#include "hlo/analysis/fingerprint.h"
#include "hlo/tiles/tiled_kernel.h"
#include "tuning/tasks/tile_surrogate.h"

namespace hone::tuning {

absl::StatusOr<learning::CostSample> TpuKernelPredictor::SampleOf(
    const hlo::Module& kernel) const {
  HONE_ASSIGN_OR_RETURN(const hlo::KernelConfig config, config_of_(kernel));
  const hlo::TiledKernel tiled(kernel);
  return learning::CostSample{
      .graph = std::make_shared<const space::Observation>(
          costmodels::ObserveKernelGraph(kernel)),
      .config = costmodels::TileFeatures(tiled, peaks_).Of(config)};
}

absl::StatusOr<std::vector<absl::StatusOr<double>>> TpuKernelPredictor::Of(
    absl::Span<const hlo::Module> kernels) const {
  std::vector<absl::StatusOr<double>> times;
  times.reserve(kernels.size());
  // Of the kernels to predict, and their places.
  std::vector<learning::CostSample> samples;
  std::vector<size_t> places;
  for (const hlo::Module& kernel : kernels) {
    if (!measured_.empty()) {
      const auto it = measured_.find(hlo::FastFingerprint(kernel));
      if (it != measured_.end()) {
        times.push_back(it->second);
        continue;
      }
    }
    absl::StatusOr<learning::CostSample> sample = SampleOf(kernel);
    times.push_back(sample.ok() ? absl::StatusOr<double>(0) : sample.status());
    if (!sample.ok()) continue;
    samples.push_back(*std::move(sample));
    places.push_back(times.size() - 1);
  }
  if (samples.empty()) return times;
  std::vector<learning::CostQuery> queries;
  queries.reserve(samples.size());
  for (const learning::CostSample& sample : samples) {
    queries.push_back({sample.graph.get(), sample.config});
  }
  HONE_ASSIGN_OR_RETURN(const learning::CostPredictions predictions,
                        model_->Predict(kTpuTimeHead, queries));
  for (size_t i = 0; i < places.size(); ++i) {
    times[places[i]] = std::exp(predictions.values[i]);
  }
  return times;
}

bool TpuKernelPredictor::Add(const hlo::Module& kernel, double ns) {
  if (!measured_.emplace(hlo::FastFingerprint(kernel), ns).second) return false;
  absl::StatusOr<learning::CostSample> sample = SampleOf(kernel);
  if (!sample.ok() || ns <= 0) return true;
  sample->log_time = std::log(ns);
  learning::CostGroup group = {.head = kTpuTimeHead};
  group.samples.push_back(*std::move(sample));
  groups_.push_back(std::move(group));
  return true;
}

void TpuKernelPredictor::Refine() {
  if (!groups_.empty()) HONE_CHECK(model_->Refine(groups_).ok());
}

}  // namespace hone::tuning
