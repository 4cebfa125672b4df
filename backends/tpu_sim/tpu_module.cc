#include "backends/tpu_sim/tpu_module.h"

#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include "backends/tpu_sim/simulator.h"
#include "backends/tpu_sim/stated_config.h"
#include "base/hash.h"
#include "base/status_macros.h"
#include "graphs/trip_counts.h"
#include "hlo/analysis/fingerprint.h"
#include "hlo/fusion/fuse.h"
#include "hlo/fusion/fuse_by_priority.h"
#include "hlo/fusion/fusion_space.h"
#include "hlo/fusion/kernels.h"

namespace hone::backends {
namespace {

bool HasFusions(const hlo::Module& module) {
  for (const hlo::Computation& computation : module.computations()) {
    for (const hlo::Instruction& instruction : computation.instructions()) {
      if (instruction.opcode() == hlo::Opcode::kFusion) return true;
    }
  }
  return false;
}

absl::StatusOr<hlo::Module> FuseForTpu(const hlo::Module& module,
                                       const Tpu& tpu) {
  const hlo::FusionSpace space(module);
  const hlo::FusionBits fused = hlo::FuseByPriority(
      space,
      [&tpu](const hlo::Module& kernel) { return DefaultNs(kernel, tpu); });
  return hlo::Fuse(space, fused, space.RowMajor());
}

bool Fits(const KernelSimulator& simulator, const hlo::KernelConfig& config) {
  return simulator.space().Check(config).ok() &&
         simulator.OverflowBytes(config) == 0;
}

}  // namespace

double DefaultNs(const hlo::Module& kernel, const Tpu& tpu) {
  const KernelSimulator simulator(kernel, tpu);
  const absl::StatusOr<KernelTime> time =
      simulator.Simulate(simulator.DefaultConfig());
  return time.ok() && time->overflow_bytes == 0
             ? time->ns
             : std::numeric_limits<double>::quiet_NaN();
}

absl::StatusOr<TpuModule> PrepareForTpu(const hlo::Module& module,
                                        const Tpu& tpu) {
  TpuModule prepared;
  prepared.fused = graphs::WithTripCounts(module);
  if (!HasFusions(module)) {
    HONE_ASSIGN_OR_RETURN(prepared.fused, FuseForTpu(prepared.fused, tpu));
  }
  HONE_ASSIGN_OR_RETURN(std::vector<hlo::Kernel> kernels,
                        hlo::KernelsOf(prepared.fused));
  // Equal kernels may state different configurations.
  absl::flat_hash_map<std::pair<Hash128, std::string>, size_t> known;
  for (hlo::Kernel& kernel : kernels) {
    const std::optional<hlo::KernelConfig> stated = StatedConfig(
        prepared.fused.computation(kernel.computation)[kernel.instruction]);
    const auto [it, is_new] = known.try_emplace(
        std::make_pair(
            hlo::FastFingerprint(kernel.module),
            stated.has_value() ? hlo::PrintKernelConfig(*stated) : ""),
        prepared.kernels.size());
    if (is_new) {
      const KernelSimulator simulator(kernel.module, tpu);
      TpuKernel& added = prepared.kernels.emplace_back();
      if (stated.has_value() && Fits(simulator, *stated)) {
        added.config = *stated;
      } else {
        added.config = simulator.DefaultConfig();
        added.states_no_tile_of_its_own = stated.has_value();
        if (!Fits(simulator, added.config)) {
          return absl::InvalidArgumentError(absl::StrCat(
              "instruction ", kernel.module.name(),
              ": none of its tiles fits the memory of the TPU, expected one"));
        }
      }
      added.module =
          std::make_shared<const hlo::Module>(std::move(kernel.module));
    }
    TpuKernel& equal = prepared.kernels[it->second];
    equal.executions += kernel.executions;
    equal.places.emplace_back(kernel.computation, kernel.instruction);
  }
  return prepared;
}

}  // namespace hone::backends
