// The data set of kernels whose cost is a formula.

#include <algorithm>

#include "bench/cost_model/cost_data_set.h"
#include "bench/cost_model/synthetic_kernels.h"

namespace hone::bench {
namespace {

constexpr int32_t kKernelsPerProgram = 10;

}  // namespace

absl::StatusOr<learning::CostTrainingSet> MakeSyntheticData(
    const CostDataOptions& options) {
  SyntheticKernels training = {
      .programs = std::max(options.kernels / kKernelsPerProgram, 1),
      .kernels = std::min(options.kernels, kKernelsPerProgram),
      .seed = 2 * options.seed + 1};
  SyntheticKernels validation = training;
  validation.programs = std::max(training.programs / 5, 1);
  validation.seed = 2 * options.seed + 2;
  return learning::CostTrainingSet{
      .spec = SyntheticSpec(),
      .training = MakeSyntheticKernels(training),
      .validation = MakeSyntheticKernels(validation)};
}

}  // namespace hone::bench
