#ifndef HONE_BACKENDS_TPU_SIM_TILE_PROGRAM_H_
#define HONE_BACKENDS_TPU_SIM_TILE_PROGRAM_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/types/span.h"

#include "backends/tpu_sim/tile_compute.h"
#include "hlo/tiles/kernel_config.h"
#include "hlo/tiles/tile_classes.h"
#include "hlo/tiles/tile_regions.h"

namespace hone::backends {

// A copy between HBM and VMEM: the cycles that the core needs to set it up, and
// those that it occupies the memory for.
struct Transfer {
  int64_t setup_cycles = 0;
  int64_t cycles = 0;
  double bytes = 0;
};

// The work of the core in one step of the grid.
struct StepWork {
  // Copies of operand tiles that were not there in the step before, and of
  // result tiles that no later step changes.
  std::vector<Transfer> loads;
  std::vector<Transfer> stores;
  // The computation of the core; never null.
  const TileCompute* compute = nullptr;
  // It is the last tile of a reduction: the epilogue follows the segments.
  bool has_epilogue = false;
};

// A kernel compiled with a configuration: loops over the grid, and the work of
// each of their steps.
class TileProgram {
 public:
  // `kernel` outlives the program; `config` is in its space.
  TileProgram(const hlo::TiledKernel& kernel, const hlo::KernelConfig& config,
              const Tpu& tpu);

  const Tpu& tpu() const { return tpu_; }
  int32_t buffers() const { return buffers_; }
  // The bytes of VMEM that the program takes: buffers have the size of the
  // largest tile.
  int64_t vmem_bytes() const { return vmem_bytes_; }

  // The number of iterations of each loop with more than one, the outermost
  // first. Without tiles at all `is_empty`.
  const std::vector<int64_t>& loops() const { return loops_; }
  bool is_empty() const { return is_empty_; }

  // Returns the work at an iteration of each loop. It is the same for all
  // iterations of a loop that StepsAlikeEnd puts together.
  const StepWork& WorkAt(absl::Span<const int64_t> position);

  // Returns the end of the iterations of a loop from `iteration` on whose steps
  // do the same work: they are of one class of tiles, and are not the first or
  // the last one of it.
  int64_t StepsAlikeEnd(size_t loop, int64_t iteration) const;

  // The number of instructions that a tile computes.
  int64_t instruction_count() const {
    return static_cast<int64_t>(kernel_.instructions().size());
  }
  // False if tiles between those that were looked at are taken to be alike.
  bool has_exact_classes() const { return classes_.is_exact(); }

 private:
  // An array of HBM that the kernel reads or writes.
  struct Array {
    hlo::InstructionId id = hlo::kNoInstruction;
    bool is_result = false;
    // Never in VMEM as a whole: read piece by piece in every step.
    bool is_streamed = false;
  };

  void OrderLoops(const hlo::KernelConfig& config);
  void FindArrays();
  void FindMemory();
  std::vector<int64_t> GridPosition(absl::Span<const int64_t> position) const;
  // Returns what the work of a step depends on: the run of each iteration, and
  // whether it is the first or the last of it. Appends to `representative` the
  // iterations of a step with that key.
  std::string KeyOf(absl::Span<const int64_t> position,
                    std::vector<int64_t>& representative) const;
  const hlo::IdMap<hlo::Region>& RegionsAt(absl::Span<const int64_t> position);
  const TileCompute& ComputeFor(const hlo::IdMap<hlo::Region>& regions);
  bool IsWholeForAnyTile(hlo::InstructionId id) const;
  Transfer TransferOf(const Array& array, const hlo::Region& region) const;
  StepWork MakeWork(absl::Span<const int64_t> position);

  const hlo::TiledKernel& kernel_;
  const hlo::TileRegions regions_;
  const hlo::TileClasses classes_;
  const Tpu& tpu_;
  const int32_t buffers_;
  const int32_t unroll_;
  std::vector<int64_t> loops_;
  // The dimension of the grid of each loop.
  std::vector<size_t> dimensions_;
  // The number of loops over the result; those of the reduction follow.
  size_t output_loops_ = 0;
  bool is_empty_ = false;
  std::vector<Array> arrays_;
  int64_t vmem_bytes_ = 0;
  // By KeyOf.
  std::unordered_map<std::string, StepWork> works_;
  std::map<std::vector<int64_t>, hlo::IdMap<hlo::Region>> known_regions_;
  // By the sizes of the boxes of all instructions and the elements touched.
  std::map<std::vector<int64_t>, TileCompute> computes_;
};

}  // namespace hone::backends

#endif  // HONE_BACKENDS_TPU_SIM_TILE_PROGRAM_H_
