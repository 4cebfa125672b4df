#include "backends/tpu_sim/tile_program.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include "backends/tpu_sim/instruction_work.h"
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

// First, middle or last: what the work of a step depends on. A key, and an
// iteration that stands for the class.
std::string ClassOf(absl::Span<const int64_t> position,
                    const std::vector<int64_t>& loops,
                    std::vector<int64_t>* representative = nullptr) {
  std::string key;
  for (size_t i = 0; i < loops.size(); ++i) {
    const bool is_first = position[i] == 0;
    const bool is_last = position[i] == loops[i] - 1;
    key.push_back(is_first ? 'f' : is_last ? 'l' : 'm');
    if (representative != nullptr) {
      representative->push_back(is_first || is_last ? position[i] : 1);
    }
  }
  return key;
}

int64_t WholeBytes(const Instruction& instruction) {
  return SaturatingMultiply(
      static_cast<int64_t>(
          std::min(PackedRegisters(instruction, hlo::WholeRegion(instruction)),
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
      tpu_(tpu),
      buffers_(config.buffers) {
  is_empty_ = regions_.tile_count() == 0;
  if (is_empty_) return;
  OrderLoops(config);
  FindArrays();
  std::vector<int64_t> middle;
  for (const int64_t count : loops_) middle.push_back(count > 2 ? 1 : 0);
  compute_ = CompileTile(kernel_, RegionsAt(middle), config.unroll,
                         /*accumulates=*/loops_.size() > output_loops_, tpu_);
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

const hlo::IdMap<Region>& TileProgram::RegionsAt(
    absl::Span<const int64_t> position) {
  std::vector<int64_t> representative;
  const std::string key = ClassOf(position, loops_, &representative);
  const auto known = known_regions_.find(key);
  if (known != known_regions_.end()) return known->second;
  return known_regions_.emplace(key, regions_.At(GridPosition(representative)))
      .first->second;
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
  const std::vector<int64_t> origin(loops_.size());
  const hlo::IdMap<Region> first = regions_.At(GridPosition(origin));
  for (Array& array : arrays_) array.depends.resize(loops_.size());
  for (size_t i = 0; i < loops_.size(); ++i) {
    for (const int64_t iteration : {int64_t{1}, loops_[i] - 1}) {
      std::vector<int64_t> moved = origin;
      moved[i] = iteration;
      const hlo::IdMap<Region> there = regions_.At(GridPosition(moved));
      for (Array& array : arrays_) {
        if (there.at(array.id).box != first.at(array.id).box) {
          array.depends[i] = true;
        }
      }
    }
  }
}

void TileProgram::FindMemory() {
  std::vector<int64_t> middle;
  for (const int64_t count : loops_) middle.push_back(count > 2 ? 1 : 0);
  const hlo::IdMap<Region>& regions = RegionsAt(middle);
  vmem_bytes_ = compute_.intermediate_bytes;
  for (Array& array : arrays_) {
    const Instruction& instruction = kernel_.computation()[array.id];
    const Region& region = regions.at(array.id);
    const int64_t bytes = BytesOf(instruction, region);
    const bool is_fixed = !ChangesFrom(array, 0);
    int64_t buffers = is_fixed ? 1 : buffers_;
    if (!array.is_result) {
      const bool is_picked =
          region.touched > 0 && region.touched < hlo::Volume(region.box);
      const bool fits = bytes <= tpu_.vmem_bytes / kResidentPart;
      array.is_streamed =
          is_picked ? !(is_fixed && fits)
                    : is_fixed && !fits && IsWholeForAnyTile(array.id);
    }
    const int64_t kept = array.is_streamed
                             ? std::min(bytes, tpu_.vmem_bytes / kWindowPart)
                             : SaturatingMultiply(bytes, buffers);
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

// Returns true if the box changes when this loop takes a step, and those inside
// of it start again.
bool TileProgram::ChangesFrom(const Array& array, size_t loop) const {
  return std::find(array.depends.begin() + static_cast<std::ptrdiff_t>(loop),
                   array.depends.end(), true) != array.depends.end();
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
  // The loop that stepped to come here, and the one that steps next: others
  // inside of them start again.
  const size_t none = loops_.size();
  size_t before = none;
  size_t after = none;
  bool has_epilogue = true;
  for (size_t i = 0; i < loops_.size(); ++i) {
    if (position[i] > 0) before = i;
    if (position[i] < loops_[i] - 1) after = i;
    if (i >= output_loops_ && position[i] < loops_[i] - 1) has_epilogue = false;
  }
  const hlo::IdMap<Region>& regions = RegionsAt(position);
  StepWork work;
  work.has_epilogue = has_epilogue;
  for (const Array& array : arrays_) {
    const size_t step = array.is_result ? after : before;
    if (step != none && !array.is_streamed && !ChangesFrom(array, step)) {
      continue;
    }
    const Transfer transfer = TransferOf(array, regions.at(array.id));
    if (transfer.cycles == 0) continue;
    (array.is_result ? work.stores : work.loads).push_back(transfer);
  }
  return work;
}

const StepWork& TileProgram::WorkAt(absl::Span<const int64_t> position) {
  const std::string key = ClassOf(position, loops_);
  const auto known = works_.find(key);
  if (known != works_.end()) return known->second;
  return works_.emplace(key, MakeWork(position)).first->second;
}

}  // namespace hone::backends
