#include "backends/tpu_sim/tpu_module.h"

#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
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

// Errors: InvalidArgument, with the limit that the configuration breaks.
absl::Status CheckFits(const KernelSimulator& simulator,
                       const hlo::KernelConfig& config) {
  HONE_RETURN_IF_ERROR(simulator.space().Check(config));
  const int64_t bytes = simulator.OverflowBytes(config);
  if (bytes == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "it takes ", bytes, " bytes more than the memory of the TPU has"));
}

absl::StatusOr<hlo::KernelConfig> ReadStated(const KernelSimulator& simulator,
                                             const std::string& text) {
  HONE_ASSIGN_OR_RETURN(const hlo::KernelConfig config,
                        hlo::ParseKernelConfig(text));
  HONE_RETURN_IF_ERROR(CheckFits(simulator, config));
  return config;
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
    const std::optional<std::string> stated = StatedConfig(
        prepared.fused.computation(kernel.computation)[kernel.instruction]);
    const auto [it, is_new] =
        known.try_emplace(std::make_pair(hlo::FastFingerprint(kernel.module),
                                         stated.value_or("")),
                          prepared.kernels.size());
    if (is_new) {
      const KernelSimulator simulator(kernel.module, tpu);
      TpuKernel& added = prepared.kernels.emplace_back();
      absl::StatusOr<hlo::KernelConfig> own = absl::NotFoundError("");
      if (stated.has_value()) own = ReadStated(simulator, *stated);
      if (own.ok()) {
        added.config = *own;
      } else {
        added.config = simulator.DefaultConfig();
        added.refusal = std::string(own.status().message());
        if (!CheckFits(simulator, added.config).ok()) {
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
