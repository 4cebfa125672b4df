#ifndef HONE_BACKENDS_TPU_SIM_SIMULATOR_H_
#define HONE_BACKENDS_TPU_SIM_SIMULATOR_H_

#include <algorithm>
#include <cstdint>

#include "absl/status/statusor.h"

#include "backends/tpu_sim/engine.h"
#include "backends/tpu_sim/tpu.h"
#include "hlo/tiles/kernel_config.h"
#include "hlo/tiles/tile_space.h"
#include "hlo/tiles/tiled_kernel.h"
#include "space/measurement.h"

namespace hone::backends {

// The run of one kernel with one configuration.
struct KernelTime {
  // The bytes of VMEM that the configuration needs, and by how many that is too
  // many. If there are any, the kernel does not compile, and there is no time.
  int64_t vmem_bytes = 0;
  int64_t overflow_bytes = 0;
  double ns = 0;
  EngineResult run;
};

// Returns the time in nanoseconds as the cost, or a violation of so many bytes.
space::Measurement ToMeasurement(const KernelTime& time);

struct SimulateOptions {
  // The reference instead of the fast engine; fails after `max_cycles`.
  bool by_cycles = false;
  int64_t max_cycles = 10'000'000;
  // The standard deviation of the logarithm of the time, which is drawn by the
  // seed: for tests of what copes with noise.
  double noise = 0;
  uint64_t seed = 0;
};

// Simulates one kernel (TiledKernel) on a TPU. Deterministic.
class KernelSimulator {
 public:
  // `kernel` verifies; it and `tpu` outlive the simulator.
  KernelSimulator(const hlo::Module& kernel, const Tpu& tpu)
      : kernel_(kernel), space_(kernel_), tpu_(tpu) {}

  const hlo::TiledKernel& kernel() const { return kernel_; }
  const hlo::TileSpace& space() const { return space_; }

  // Errors: those of TileSpace::Check; ResourceExhausted by `max_cycles`.
  absl::StatusOr<KernelTime> Simulate(
      const hlo::KernelConfig& config,
      const SimulateOptions& options = {}) const;

  // Returns by how many bytes a configuration of the space exceeds VMEM,
  // without running it; 0 if it fits.
  int64_t OverflowBytes(const hlo::KernelConfig& config) const {
    return std::max<int64_t>(VmemBytes(config) - tpu_.vmem_bytes, 0);
  }

  // Returns the configuration of a compiler without a model: two buffers, and a
  // tile that is doubled along lanes, sublanes, reduced and other dimensions in
  // turn, as long as it takes no more than half of VMEM. It fits unless the
  // smallest one does not.
  hlo::KernelConfig DefaultConfig() const;

 private:
  int64_t VmemBytes(const hlo::KernelConfig& config) const;

  const hlo::TiledKernel kernel_;
  const hlo::TileSpace space_;
  const Tpu& tpu_;
};

// As KernelSimulator::Simulate, of one configuration.
absl::StatusOr<KernelTime> Simulate(const hlo::Module& kernel,
                                    const hlo::KernelConfig& config,
                                    const Tpu& tpu,
                                    const SimulateOptions& options = {});

}  // namespace hone::backends

#endif  // HONE_BACKENDS_TPU_SIM_SIMULATOR_H_
