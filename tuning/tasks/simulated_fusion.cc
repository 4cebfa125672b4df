#include "tuning/tasks/simulated_fusion.h"

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include "backends/tpu_sim/simulator.h"
#include "base/status_macros.h"
#include "tuning/shipped_cost_model.h"
#include "tuning/tasks/tile_surrogate.h"
#include "tuning/tasks/tpu_fusion_surrogate.h"
#include "tuning/tasks/tpu_peaks.h"

namespace hone::tuning {
namespace {

absl::Status OverflowError(int64_t bytes) {
  return absl::ResourceExhaustedError(absl::StrCat(
      "the smallest tile needs ", bytes, " bytes more than VMEM has"));
}

absl::StatusOr<double> Time(const hlo::Module& kernel,
                            const backends::Tpu& tpu) {
  const backends::KernelSimulator simulator(kernel, tpu);
  HONE_ASSIGN_OR_RETURN(const backends::KernelTime time,
                        simulator.Simulate(simulator.DefaultConfig()));
  if (time.overflow_bytes > 0) return OverflowError(time.overflow_bytes);
  return time.ns;
}

// Compiles the kernel, which does not run.
absl::StatusOr<hlo::KernelConfig> DefaultConfig(const hlo::Module& kernel,
                                                const backends::Tpu& tpu) {
  const backends::KernelSimulator simulator(kernel, tpu);
  hlo::KernelConfig config = simulator.DefaultConfig();
  const int64_t overflow = simulator.OverflowBytes(config);
  if (overflow > 0) return OverflowError(overflow);
  return config;
}

absl::StatusOr<std::unique_ptr<space::Surrogate>> MakeSurrogate(
    const TpuFusionProblem& problem, const backends::Tpu& tpu) {
  HONE_ASSIGN_OR_RETURN(const learning::CostPredictor* const model,
                        ShippedCostModel("tpu_kernel", TpuCostSpec()));
  if (model == nullptr) return nullptr;
  return MakeTpuFusionSurrogate(
      problem, *model, PeaksOf(tpu),
      [tpu](const hlo::Module& kernel) { return DefaultConfig(kernel, tpu); });
}

}  // namespace

TpuFusionOptions SimulatedFusion(const backends::Tpu& tpu) {
  return {
      .timer = [tpu](const hlo::Module& kernel) { return Time(kernel, tpu); },
      .make_surrogate =
          [tpu](const TpuFusionProblem& problem) {
            return MakeSurrogate(problem, tpu);
          }};
}

}  // namespace hone::tuning
