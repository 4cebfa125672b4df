#ifndef HONE_TUNING_TASKS_TPU_KERNEL_PREDICTOR_H_
#define HONE_TUNING_TASKS_TPU_KERNEL_PREDICTOR_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "base/hash.h"
#include "costmodels/tpu_analytical.h"
#include "hlo/ir/module.h"
#include "hlo/tiles/kernel_config.h"
#include "learning/cost/cost_predictor.h"

namespace hone::tuning {

// Returns the configuration that a compiler chooses for a kernel by itself.
// Errors: ResourceExhausted if none fits the device. Both are known without
// running anything.
using DefaultConfigOf =
    std::function<absl::StatusOr<hlo::KernelConfig>(const hlo::Module& kernel)>;

// A cost model's times of kernels on a TPU, with their default
// configurations: the times of those that were measured, predictions of others.
// Threads: as CostPredictor; Learn runs alone.
class TpuKernelPredictor {
 public:
  // Copies `model`, which has TpuCostSpec's heads.
  TpuKernelPredictor(const learning::CostPredictor& model,
                     costmodels::TpuPeaks peaks, DefaultConfigOf config_of)
      : model_(model.Clone()),
        peaks_(peaks),
        config_of_(std::move(config_of)) {}

  // Returns the nanoseconds of each of some kernels, in order; of one, errors
  // are those of DefaultConfigOf.
  absl::StatusOr<std::vector<absl::StatusOr<double>>> Of(
      absl::Span<const hlo::Module> kernels) const;

  // Takes the time of a kernel that was measured, unless it is known. Returns
  // whether it was not.
  bool Add(const hlo::Module& kernel, double ns);
  // Adapts the model to all times that were added.
  void Refine();

 private:
  // Errors: those of DefaultConfigOf.
  absl::StatusOr<learning::CostSample> SampleOf(
      const hlo::Module& kernel) const;

  const std::unique_ptr<learning::CostPredictor> model_;
  const costmodels::TpuPeaks peaks_;
  const DefaultConfigOf config_of_;
  absl::flat_hash_map<Hash128, double> measured_;
  // The measured kernels.
  std::vector<learning::CostGroup> groups_;
};

}  // namespace hone::tuning

#endif  // HONE_TUNING_TASKS_TPU_KERNEL_PREDICTOR_H_
