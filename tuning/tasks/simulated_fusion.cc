#include "tuning/tasks/simulated_fusion.h"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include "backends/tpu_sim/simulator.h"
#include "base/status_macros.h"
#include "hlo/text/printer.h"
#include "tuning/shipped_cost_model.h"
#include "tuning/tasks/tile_surrogate.h"
#include "tuning/tasks/tpu_fusion_surrogate.h"
#include "tuning/tasks/tpu_peaks.h"
#include "tuning/tasks/tpu_worker.h"

namespace hone::tuning {
namespace {

// The programs that a worker measures at a time.
constexpr int32_t kMeasuredTogether = 16;

absl::Status OverflowError(int64_t bytes) {
  return absl::ResourceExhaustedError(absl::StrCat(
      "the smallest tile needs ", bytes, " bytes more than VMEM has"));
}

absl::StatusOr<double> Simulate(const hlo::Module& kernel,
                                const backends::Tpu& tpu) {
  const backends::KernelSimulator simulator(kernel, tpu);
  HONE_ASSIGN_OR_RETURN(const backends::KernelTime time,
                        simulator.Simulate(simulator.DefaultConfig()));
  if (time.overflow_bytes > 0) return OverflowError(time.overflow_bytes);
  return time.ns;
}

// The same of what a worker has measured.
absl::StatusOr<double> TimeOf(const space::Measurement& measured) {
  if (measured.outcome == space::Outcome::kOk) return measured.cost;
  if (measured.violation > 0) {
    return OverflowError(static_cast<int64_t>(measured.violation));
  }
  return absl::InvalidArgumentError(measured.message);
}

// Returns a timer that has kernels measured by `worker`, as many in a request
// as its limits allow, and by `simulate` where it fails, or a kernel is beyond
// them.
KernelTimer TimeByWorker(std::shared_ptr<TpuWorker> worker,
                         KernelTimer simulate) {
  return [worker = std::move(worker),
          simulate = std::move(simulate)](absl::Span<const hlo::Module> kernels)
             -> absl::StatusOr<std::vector<absl::StatusOr<double>>> {
    std::vector<absl::StatusOr<double>> times;
    times.reserve(kernels.size());
    std::vector<std::string> texts;
    size_t bytes = 0;
    const auto measure = [&]() -> absl::Status {
      const auto asked = kernels.subspan(times.size(), texts.size());
      absl::StatusOr<std::vector<space::Measurement>> measured =
          absl::UnavailableError("one kernel beyond the limit");
      if (bytes <= TpuWorker::kMaxKernelBytes) {
        measured = worker->MeasureDefaults(std::move(texts));
      }
      texts.clear();
      bytes = 0;
      if (TpuWorker::IsFailure(measured.status())) {
        HONE_ASSIGN_OR_RETURN(std::vector<absl::StatusOr<double>> simulated,
                              simulate(asked));
        absl::c_move(simulated, std::back_inserter(times));
        return absl::OkStatus();
      }
      HONE_RETURN_IF_ERROR(measured.status());
      absl::c_transform(*measured, std::back_inserter(times), TimeOf);
      return absl::OkStatus();
    };
    for (const hlo::Module& kernel : kernels) {
      std::string text = hlo::PrintModule(kernel);
      if (!texts.empty() &&
          (texts.size() == TpuWorker::kMaxKernels ||
           bytes + text.size() > TpuWorker::kMaxKernelBytes)) {
        HONE_RETURN_IF_ERROR(measure());
      }
      bytes += text.size();
      texts.push_back(std::move(text));
    }
    if (!texts.empty()) HONE_RETURN_IF_ERROR(measure());
    return times;
  };
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

TpuFusionOptions SimulatedFusion(const backends::Tpu& tpu,
                                 const TaskContext& context) {
  TpuFusionOptions options;
  options.timer = TimeOneByOne(
      [tpu](const hlo::Module& kernel) { return Simulate(kernel, tpu); },
      context.stop);
  options.make_surrogate = [tpu](const TpuFusionProblem& problem) {
    return MakeSurrogate(problem, tpu);
  };
  options.stop = context.stop;
  if (const std::shared_ptr<TpuWorker> worker = TpuWorker::Find(tpu, context)) {
    options.timer = TimeByWorker(worker, std::move(options.timer));
    options.measurement_batch = kMeasuredTogether;
    options.machines = [worker] { return worker->machines(); };
  }
  return options;
}

}  // namespace hone::tuning
