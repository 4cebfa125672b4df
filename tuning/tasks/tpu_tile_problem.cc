#include "tuning/tasks/tpu_tile_problem.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"

#include "backends/tpu_sim/simulator.h"
#include "base/status_macros.h"
#include "hlo/text/printer.h"
#include "tuning/shipped_cost_model.h"
#include "tuning/tasks/tile_surrogate.h"
#include "tuning/tasks/tpu_peaks.h"

namespace hone::tuning {
namespace {

// A kernel on a TPU, as its problem holds it.
struct SimulatedKernel {
  SimulatedKernel(std::shared_ptr<const hlo::Module> kernel,
                  const backends::Tpu& on)
      : module(std::move(kernel)), tpu(on), simulator(*module, tpu) {}

  absl::StatusOr<std::vector<space::Measurement>> Measure(
      absl::Span<const hlo::KernelConfig> configs) const {
    std::vector<space::Measurement> measurements;
    for (const hlo::KernelConfig& config : configs) {
      HONE_ASSIGN_OR_RETURN(const backends::KernelTime time,
                            simulator.Simulate(config));
      measurements.push_back(backends::ToMeasurement(time));
    }
    return measurements;
  }

  const std::shared_ptr<const hlo::Module> module;
  const backends::Tpu tpu;
  const backends::KernelSimulator simulator;
};

absl::StatusOr<std::unique_ptr<space::Surrogate>> MakeSurrogate(
    const TileProblem& problem) {
  HONE_ASSIGN_OR_RETURN(const learning::CostPredictor* const model,
                        ShippedCostModel("tpu_kernel", TpuCostSpec()));
  if (model == nullptr) return nullptr;
  return MakeTileSurrogateOf(problem, *model);
}

// Returns true if a problem can choose the tile: one that a module states may
// have sizes that are no candidates.
bool IsListed(const hlo::Tile& tile, const hlo::TileSpace& space) {
  const size_t outputs = tile.output.size();
  for (size_t d = 0; d < space.sizes().size(); ++d) {
    const int64_t size =
        d < outputs ? tile.output[d] : tile.reduction[d - outputs];
    if (!absl::c_binary_search(space.sizes()[d], size)) return false;
  }
  return true;
}

}  // namespace

std::unique_ptr<TileProblem> MakeTpuTileProblem(
    const backends::TpuKernel& kernel, const backends::Tpu& tpu,
    bool with_flags, std::shared_ptr<TpuWorker> worker) {
  const auto simulated =
      std::make_shared<const SimulatedKernel>(kernel.module, tpu);
  TileProblemOptions options;
  options.kernel = kernel.module;
  options.by_default =
      IsListed(kernel.config.tile, simulated->simulator.space())
          ? kernel.config
          : simulated->simulator.DefaultConfig();
  options.with_flags = with_flags;
  options.executions = kernel.executions;
  options.measure = [simulated](absl::Span<const hlo::KernelConfig> configs) {
    return simulated->Measure(configs);
  };
  options.peaks = PeaksOf(tpu);
  if (worker != nullptr) {
    options.measure = [simulated, worker = std::move(worker),
                       text = hlo::PrintModule(*kernel.module),
                       by_default = options.by_default](
                          absl::Span<const hlo::KernelConfig> configs)
        -> absl::StatusOr<std::vector<space::Measurement>> {
      absl::StatusOr<std::vector<space::Measurement>> measured =
          worker->Measure(text, by_default, configs);
      if (!TpuWorker::IsFailure(measured.status())) return measured;
      return simulated->Measure(configs);
    };
  }
  options.check = [simulated](const hlo::KernelConfig& config) {
    return simulated->simulator.OverflowBytes(config);
  };
  options.make_surrogate = MakeSurrogate;
  return std::make_unique<TileProblem>(std::move(options));
}

}  // namespace hone::tuning
