#include "backends/tpu_sim/tile_program.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"

#include "backends/tpu_sim/instruction_work.h"
#include "base/division.h"
#include "base/saturating.h"
#include "hlo/tiles/register_layout.h"

namespace hone::backends {
namespace {

using hlo::Instruction;
using hlo::InstructionId;
using hlo::Region;

// Assumed: operands that every tile needs whole stay in VMEM up to this part
// of it; larger ones are read in every step, through a window of that part.
constexpr int64_t kResidentPart = 4;
constexpr int64_t kWindowPart = 16;
// Constants of a register and less are in the code.
constexpr int64_t kImmediateBytes = hlo::kRegisterBytes;

// Classes of tiles that are looked at for the largest; the others of a grid
// with more are rare mixtures of them.
constexpr int64_t kMaxClasses = 512;
// Of all instructions and positions, to remember.
constexpr size_t kMostRegions = 1 << 20;

int64_t WholeBytes(const Instruction& instruction) {
  return SaturatingMultiply(
      static_cast<int64_t>(
          std::min(StoredRegisters(instruction, hlo::WholeRegion(instruction)),
                   static_cast<double>(int64_t{1} << 50))),
      hlo::kRegisterBytes);
}

int64_t BytesOf(const Instruction& instruction, const Region& region) {
  const hlo::Shape* const shape = hlo::TiledShape(instruction);
  if (shape == nullptr) return WholeBytes(instruction);
  return region.touched == 0 ? 0 : hlo::PaddedBytes(*shape, region.box);
}

}  // namespace

TileProgram::TileProgram(const hlo::TiledKernel& kernel,
                         const hlo::KernelConfig& config, const Tpu& tpu)
    : kernel_(kernel),
      regions_(kernel, config.tile),
      classes_(regions_),
      tpu_(tpu),
      buffers_(config.buffers),
      unroll_(config.unroll) {
  is_empty_ = regions_.tile_count() == 0;
  if (is_empty_) return;
  OrderLoops(config);
  FindArrays();
  FindMemory();
}

void TileProgram::OrderLoops(const hlo::KernelConfig& config) {
  const size_t outputs = config.tile.output.size();
  for (size_t i = 0; i < regions_.grid().size(); ++i) {
    const bool reverses =
        i < outputs && config.order == hlo::GridOrder::kColumn;
    const size_t d = reverses ? outputs - 1 - i : i;
    if (regions_.grid()[d] < 2) continue;
    loops_.push_back(regions_.grid()[d]);
    dimensions_.push_back(d);
    if (i < outputs) ++output_loops_;
  }
}

std::vector<int64_t> TileProgram::GridPosition(
    absl::Span<const int64_t> position) const {
  std::vector<int64_t> grid(regions_.grid().size());
  for (size_t i = 0; i < position.size(); ++i) {
    grid[dimensions_[i]] = position[i];
  }
  return grid;
}

std::string TileProgram::KeyOf(absl::Span<const int64_t> position,
                               std::vector<int64_t>& representative) const {
  std::string key;
  for (size_t i = 0; i < loops_.size(); ++i) {
    const size_t index = classes_.RunOf(dimensions_[i], position[i]);
    const hlo::TileClasses::Run& run = classes_.runs(dimensions_[i])[index];
    const bool is_first = position[i] == run.first;
    const bool is_last = position[i] == run.last();
    absl::StrAppend(&key, index, is_first ? "f" : is_last ? "l" : "m");
    representative.push_back(is_first || is_last ? position[i] : run.first + 1);
  }
  return key;
}

int64_t TileProgram::StepsAlikeEnd(size_t loop, int64_t iteration) const {
  const size_t dimension = dimensions_[loop];
  const hlo::TileClasses::Run& run =
      classes_.runs(dimension)[classes_.RunOf(dimension, iteration)];
  return iteration == run.first || iteration == run.last() ? iteration + 1
                                                           : run.last();
}

const hlo::IdMap<Region>& TileProgram::RegionsAt(
    absl::Span<const int64_t> position) {
  std::vector<int64_t> grid = GridPosition(position);
  const auto known = known_regions_.find(grid);
  if (known != known_regions_.end()) return known->second;
  hlo::IdMap<Region> regions = regions_.At(grid);
  return known_regions_.emplace(std::move(grid), std::move(regions))
      .first->second;
}

const TileCompute& TileProgram::ComputeFor(const hlo::IdMap<Region>& regions) {
  std::vector<int64_t> sizes;
  for (const InstructionId id : kernel_.instructions()) {
    const Region region = regions.at(id);
    for (const hlo::Interval& interval : region.box) {
      sizes.push_back(interval.size);
    }
    sizes.push_back(region.touched);
  }
  const auto [known, is_new] = computes_.try_emplace(std::move(sizes));
  if (is_new) {
    known->second =
        CompileTile(kernel_, regions, unroll_,
                    /*accumulates=*/loops_.size() > output_loops_, tpu_);
  }
  return known->second;
}

void TileProgram::FindArrays() {
  const hlo::Computation& computation = kernel_.computation();
  for (const InstructionId id : kernel_.instructions()) {
    const Instruction& instruction = computation[id];
    const bool is_constant =
        instruction.IsConstant() && WholeBytes(instruction) > kImmediateBytes;
    if (is_constant || instruction.opcode() == hlo::Opcode::kParameter) {
      arrays_.emplace_back().id = id;
    }
  }
  for (const InstructionId id : kernel_.results()) {
    arrays_.emplace_back().id = id;
    arrays_.back().is_result = true;
  }
}

void TileProgram::FindMemory() {
  // The largest box of each array, and whether it stays where it is.
  struct Buffer {
    Region largest;
    int64_t bytes = 0;
    bool is_fixed = true;
  };
  std::vector<int64_t> last = {regions_.grid().begin(), regions_.grid().end()};
  for (int64_t& position : last) --position;
  const hlo::IdMap<Region> all =
      regions_.Over(std::vector<int64_t>(last.size()), last);
  std::vector<Buffer> buffers(arrays_.size());
  int64_t intermediate_bytes = 0;
  const int64_t stride = CeilDivide(classes_.size(), kMaxClasses);
  for (int64_t c = 0; c < classes_.size(); c = SaturatingAdd(c, stride)) {
    const hlo::IdMap<Region> regions =
        regions_.At(classes_.At(c).representative);
    intermediate_bytes =
        std::max(intermediate_bytes, ComputeFor(regions).intermediate_bytes);
    for (size_t i = 0; i < arrays_.size(); ++i) {
      const InstructionId id = arrays_[i].id;
      const Region region = regions.at(id);
      if (region.touched == 0) continue;
      const int64_t bytes = BytesOf(kernel_.computation()[id], region);
      Buffer& buffer = buffers[i];
      if (region.box != all.at(id).box) buffer.is_fixed = false;
      if (bytes > buffer.bytes || buffer.largest.touched == 0) {
        buffer.largest = region;
        buffer.bytes = bytes;
      }
    }
  }
  vmem_bytes_ = intermediate_bytes;
  for (size_t i = 0; i < arrays_.size(); ++i) {
    Array& array = arrays_[i];
    const auto& [region, bytes, is_fixed] = buffers[i];
    if (!array.is_result) {
      const bool is_picked =
          region.touched > 0 && region.touched < hlo::Volume(region.box);
      const bool fits = bytes <= tpu_.vmem_bytes / kResidentPart;
      array.is_streamed =
          is_picked ? !(is_fixed && fits)
                    : is_fixed && !fits && IsWholeForAnyTile(array.id);
    }
    const int64_t kept =
        array.is_streamed ? std::min(bytes, tpu_.vmem_bytes / kWindowPart)
                          : SaturatingMultiply(bytes, is_fixed ? 1 : buffers_);
    vmem_bytes_ = SaturatingAdd(vmem_bytes_, kept);
  }
}

// Returns true if the smallest tile needs as much of an operand as all do.
bool TileProgram::IsWholeForAnyTile(InstructionId id) const {
  hlo::Tile smallest;
  smallest.output.assign(kernel_.output_dimensions().size(), 1);
  smallest.reduction.assign(kernel_.reduction_dimensions().size(), 1);
  const hlo::TileRegions regions(kernel_, smallest);
  const std::vector<int64_t> origin(regions.grid().size());
  return regions.At(origin).at(id).box ==
         hlo::WholeRegion(kernel_.computation()[id]).box;
}

Transfer TileProgram::TransferOf(const Array& array,
                                 const Region& region) const {
  const Instruction& instruction = kernel_.computation()[array.id];
  const hlo::Shape* const shape = hlo::TiledShape(instruction);
  const auto bytes = static_cast<double>(BytesOf(instruction, region));
  if (bytes == 0) return {};
  Transfer transfer;
  transfer.bytes = bytes;
  double pieces = 1;
  double copies = 1;
  if (shape != nullptr && array.is_streamed &&
      region.touched < hlo::Volume(region.box)) {
    // Rows of register tiles at places that the indices say.
    pieces = std::ceil(static_cast<double>(region.touched) / hlo::kLanes);
    const double row = hlo::kLanes * static_cast<double>(
                                         hlo::ByteWidth(shape->element_type()));
    transfer.bytes = std::min(bytes, pieces * row);
  } else if (shape != nullptr) {
    pieces =
        bytes / static_cast<double>(hlo::ContiguousBytes(*shape, region.box));
    copies = static_cast<double>(hlo::StridedCopies(*shape, region.box));
  }
  transfer.setup_cycles =
      CyclesOf(copies * static_cast<double>(tpu_.transfer_cycles));
  transfer.cycles = CyclesOf((transfer.bytes + pieces * tpu_.hbm_piece_bytes) /
                             tpu_.hbm_bytes_per_cycle());
  return transfer;
}

StepWork TileProgram::MakeWork(absl::Span<const int64_t> position) {
  // The positions of the steps before and after this one.
  std::vector<int64_t> before = {position.begin(), position.end()};
  std::vector<int64_t> after = before;
  size_t i = loops_.size();
  while (i > 0 && before[i - 1] == 0) {
    before[i - 1] = loops_[i - 1] - 1;
    --i;
  }
  const bool is_first = i == 0;
  if (!is_first) --before[i - 1];
  i = loops_.size();
  while (i > 0 && after[i - 1] == loops_[i - 1] - 1) after[--i] = 0;
  const bool is_last = i == 0;
  if (!is_last) ++after[i - 1];

  // Neighbors share regions, of which large grids of large kernels have too
  // many to keep.
  if (known_regions_.size() * kernel_.instructions().size() > kMostRegions) {
    known_regions_.clear();
  }
  StepWork work;
  work.has_epilogue = true;
  for (size_t loop = output_loops_; loop < loops_.size(); ++loop) {
    if (position[loop] < loops_[loop] - 1) work.has_epilogue = false;
  }
  // References stay valid: the nodes of a map do not move.
  const hlo::IdMap<Region>& regions = RegionsAt(position);
  const hlo::IdMap<Region>& earlier = RegionsAt(before);
  const hlo::IdMap<Region>& later = RegionsAt(after);
  work.compute = &ComputeFor(regions);
  for (const Array& array : arrays_) {
    const Region region = regions.at(array.id);
    const bool is_edge = array.is_result ? is_last : is_first;
    const Region neighbor = (array.is_result ? later : earlier).at(array.id);
    if (!is_edge && !array.is_streamed &&
        hlo::HaveSameElements(region, neighbor)) {
      continue;
    }
    const Transfer transfer = TransferOf(array, region);
    if (transfer.cycles == 0) continue;
    (array.is_result ? work.stores : work.loads).push_back(transfer);
  }
  return work;
}

const StepWork& TileProgram::WorkAt(absl::Span<const int64_t> position) {
  std::vector<int64_t> representative;
  const std::string key = KeyOf(position, representative);
  const auto known = works_.find(key);
  if (known != works_.end()) return known->second;
  return works_.emplace(key, MakeWork(representative)).first->second;
}

}  // namespace hone::backends
