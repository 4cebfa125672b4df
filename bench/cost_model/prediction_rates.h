#ifndef HONE_BENCH_COST_MODEL_PREDICTION_RATES_H_
#define HONE_BENCH_COST_MODEL_PREDICTION_RATES_H_

#include <cstddef>
#include <memory>
#include <ostream>
#include <vector>

#include "absl/status/statusor.h"
#include <nlohmann/json.hpp>

#include "bench/cost_model/tpu_evaluation.h"
#include "costmodels/tpu_analytical.h"
#include "hlo/tiles/kernel_config.h"
#include "learning/cost/cost_predictor.h"

namespace hone::bench {

// Measures how fast a learned model of tuning::TpuCostSpec predicts times.
class PredictionRates {
 public:
  // Adds the kernels of a program with their default configurations and their
  // first tiles.
  void Add(const TimedProgram& program);

  size_t kernels() const { return kernels_.size(); }

  // Predicts in batches on all processors: each kernel with one configuration,
  // and kernels with several configurations each; with graphs and features that
  // are there, and with making them of the modules; and single kernels, one
  // after the other. Rates are medians of several rounds. Prints a table to
  // `out`, and returns it as JSON. Needs a kernel.
  // Errors: those of the model.
  absl::StatusOr<nlohmann::ordered_json> Measure(
      const costmodels::TpuPeaks& peaks, const learning::CostPredictor& model,
      std::ostream& out) const;

 private:
  struct Kernel {
    std::shared_ptr<const hlo::Module> module;
    std::vector<hlo::KernelConfig> configs;
  };
  class Batch;

  std::vector<Kernel> kernels_;
};

}  // namespace hone::bench

#endif  // HONE_BENCH_COST_MODEL_PREDICTION_RATES_H_
