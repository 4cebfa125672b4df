#ifndef HONE_BACKENDS_TPU_SIM_TPU_MODULE_H_
#define HONE_BACKENDS_TPU_SIM_TPU_MODULE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

#include "backends/tpu_sim/tpu.h"
#include "hlo/ir/module.h"
#include "hlo/tiles/kernel_config.h"

namespace hone::backends {

// Equal kernels of a module that state equal configurations.
struct TpuKernel {
  // A kernel (hlo/fusion/kernels.h).
  std::shared_ptr<const hlo::Module> module;
  // The places state it (StatedConfig), where that fits; else the choice of a
  // compiler without a model (KernelSimulator::DefaultConfig).
  hlo::KernelConfig config;
  // Why the configuration that the places state is not used: it is none, or
  // breaks a limit. Empty: it is, or they state none.
  std::string refusal;
  // How often a run of the module runs one of them.
  double executions = 0;
  // The instructions of the fused module that are these kernels.
  std::vector<std::pair<hlo::ComputationId, hlo::InstructionId>> places;
};

// A module as a TPU runs it.
struct TpuModule {
  hlo::Module fused;
  // In the order in which they first come.
  std::vector<TpuKernel> kernels;
};

// Returns the kernels of a module: of one with fusions as it is, of another by
// priority fusion with the times of default configurations. The fused module
// states the trip counts of its loops that can be found
// (graphs::WithTripCounts). Errors: InvalidArgument, "instruction NAME: …", if
// it does not decompose into kernels, or if no configuration of one fits the
// TPU.
absl::StatusOr<TpuModule> PrepareForTpu(const hlo::Module& module,
                                        const Tpu& tpu);

// Returns the nanoseconds of a kernel with its default configuration; NaN if
// that does not fit.
double DefaultNs(const hlo::Module& kernel, const Tpu& tpu);

}  // namespace hone::backends

#endif  // HONE_BACKENDS_TPU_SIM_TPU_MODULE_H_
