#include "tuning/tasks/tpu_kernel_predictor.h"

#include <cmath>
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

absl::StatusOr<double> TpuKernelPredictor::Of(const hlo::Module& kernel) const {
  if (!measured_.empty()) {
    const auto it = measured_.find(hlo::FastFingerprint(kernel));
    if (it != measured_.end()) return it->second;
  }
  HONE_ASSIGN_OR_RETURN(const learning::CostSample sample, SampleOf(kernel));
  const learning::CostQuery query = {sample.graph.get(), sample.config};
  HONE_ASSIGN_OR_RETURN(const learning::CostPredictions predictions,
                        model_->Predict(kTpuTimeHead, {&query, 1}));
  return std::exp(predictions.values[0]);
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
