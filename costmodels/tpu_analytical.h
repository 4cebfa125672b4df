#ifndef HONE_COSTMODELS_TPU_ANALYTICAL_H_
#define HONE_COSTMODELS_TPU_ANALYTICAL_H_

#include "absl/strings/string_view.h"

#include "costmodels/tile_walk.h"
#include "hlo/tiles/kernel_config.h"
#include "hlo/tiles/tiled_kernel.h"

namespace hone::costmodels {

// A TPU core as the analytical model has it: peaks that vendors publish, and
// constants that are fitted to training kernels.
struct TpuPeaks {
  double clock_hz = 940e6;
  double hbm_bytes_per_second = 450e9;
  double vmem_bytes = 16 * 1024 * 1024;
  double matrix_units = 2;
  double vector_slots = 2;

  friend bool operator==(const TpuPeaks&, const TpuPeaks&) = default;
};

// Fitted to the training families of the corpus by hone_fit_tpu_analytical
// (bench/fit_tpu_analytical.cc; README.md has the command). Those below are of
// a TPU v3, and what the features of learned models are made with
// (tile_features.h), whatever the TPU.
struct TpuConstants {
  // Fractions of the peaks that kernels reach.
  double bandwidth_share = 0.98;
  double matrix_share = 0.648;
  double vector_share = 0.140;
  // Cycles of a kernel, and of each tile.
  double launch_cycles = 2025;
  double tile_cycles = 420;

  friend bool operator==(const TpuConstants&, const TpuConstants&) = default;
};

// Returns the constants fitted to the bundled TPU of that name ("v4"), the
// defaults for others.
TpuConstants FittedConstants(absl::string_view tpu);

// What a kernel transfers and computes with a configuration.
struct TpuTotals {
  double tiles = 0;
  // Between HBM and VMEM, of all tiles, and of one that is transferred alone,
  // in the mean of all.
  double bytes = 0;
  double tile_bytes = 0;
  // Cycles of one matrix unit, and operations of vector registers.
  double matrix_cycles = 0;
  double vector_operations = 0;
  // The largest tiles of operands and results: less than a kernel
  // takes.
  double vmem_bytes = 0;
  // Transfers and computation go on at the same time.
  bool overlaps = false;
};

// The hand-written model of a kernel's time, in the manner of XLA's for TPUs
// (Kaufman et al., "A Learned Performance Model for Tensor Processing Units",
// MLSys 2021): the larger of the time to transfer the data of all tiles and the
// time to compute them, plus overheads of each tile. It knows padding, which
// tiles stay in VMEM from one step to the next, and arithmetic by unit; not how
// short pieces of copies, latencies, registers or units in each other's way
// slow a kernel down.
//
// Threads: const methods are thread-safe.
class TpuAnalytical {
 public:
  // `kernel` outlives the model.
  explicit TpuAnalytical(const hlo::TiledKernel& kernel,
                         const TpuPeaks& peaks = {},
                         const TpuConstants& constants = {})
      : kernel_(kernel), peaks_(peaks), constants_(constants) {}

  // Returns the nanoseconds of a configuration of the kernel's space. Flags of
  // code generation are not looked at, but for the order and whether buffers
  // let transfers overlap.
  double PredictNs(const hlo::KernelConfig& config) const {
    return PredictNs(TotalsOf(config));
  }
  double PredictNs(const TpuTotals& totals) const;
  TpuTotals TotalsOf(const hlo::KernelConfig& config) const {
    return TotalsOf(config, TileWalk(kernel_, config));
  }
  // `walk` is of the kernel and the configuration.
  TpuTotals TotalsOf(const hlo::KernelConfig& config,
                     const TileWalk& walk) const;

 private:
  void AddTransfers(hlo::InstructionId id, const hlo::KernelConfig& config,
                    const TileWalk& walk, TpuTotals& totals) const;
  void AddWork(hlo::InstructionId id, const hlo::IdMap<hlo::Region>& tile,
               double runs, TpuTotals& totals) const;

  const hlo::TiledKernel& kernel_;
  const TpuPeaks peaks_;
  const TpuConstants constants_;
};

}  // namespace hone::costmodels

#endif  // HONE_COSTMODELS_TPU_ANALYTICAL_H_
