#include "costmodels/tile_code.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"

#include "hlo/tiles/register_layout.h"

namespace hone::costmodels {
namespace {

using hlo::Box;
using hlo::Instruction;
using hlo::InstructionId;
using hlo::Opcode;
using hlo::Region;
using hlo::RegisterDimensions;
using hlo::Shape;

// Steps of a path: transcendental functions are pipelines of several
// operations, and what crosses lanes goes through a network.
constexpr double kTranscendentalSteps = 4;
constexpr double kCrossLaneSteps = 12;
constexpr double kLoadSteps = 2;
constexpr double kArray = 128;

size_t Index(int64_t i) { return static_cast<size_t>(i); }

bool IsAlias(Opcode opcode) {
  return opcode == Opcode::kBitcast || opcode == Opcode::kTuple ||
         opcode == Opcode::kGetTupleElement || opcode == Opcode::kParameter ||
         opcode == Opcode::kConstant;
}

// Instructions that loops over registers compute, with others of equal sizes.
bool IsInLoop(Opcode opcode) {
  switch (opcode) {
    case Opcode::kBroadcast:
    case Opcode::kTranspose:
    case Opcode::kReshape:
    case Opcode::kReverse:
    case Opcode::kConcatenate:
    case Opcode::kSlice:
    case Opcode::kPad:
    case Opcode::kReduce:
    case Opcode::kMap:
    case Opcode::kIota:
      return true;
    default:
      return hlo::IsElementwise(opcode);
  }
}

// A loop over registers: its dimensions and sizes, and whether it runs once for
// each tile of a reduction.
using LoopKey = std::pair<bool, std::vector<int64_t>>;

struct Loop {
  double iterations = 0;
  double runs = 0;
  double path = 0;
  // The values in the order of the code, with the positions of their makers and
  // last users.
  std::vector<InstructionId> members;
};

class Finder {
 public:
  Finder(const hlo::TiledKernel& kernel, const hlo::KernelConfig& config,
         const hlo::TileRegions& regions, const hlo::IdMap<Region>& tile)
      : kernel_(kernel),
        computation_(kernel.computation()),
        regions_(regions),
        tile_(tile),
        unroll_(std::max(config.unroll, 1)) {}

  TileCode Find() {
    const auto tiles = static_cast<double>(regions_.tile_count());
    double reduction_tiles = 1;
    const auto grid = regions_.grid();
    const size_t outputs = kernel_.output_dimensions().size();
    for (size_t d = outputs; d < grid.size(); ++d) {
      reduction_tiles *= static_cast<double>(std::max<int64_t>(grid[d], 1));
    }
    for (const InstructionId id : kernel_.instructions()) {
      const Instruction& instruction = computation_[id];
      if (tile_.at(id).touched == 0 || IsAlias(instruction.opcode())) continue;
      const bool is_epilogue = kernel_.IsEpilogue(id);
      const double runs = is_epilogue ? tiles / reduction_tiles : tiles;
      moved_ = 0;
      CountMoves(instruction, runs);
      if (IsInLoop(instruction.opcode())) {
        AddToLoop(instruction, is_epilogue, runs);
      }
    }
    for (const auto& [key, loop] : loops_) {
      code_.iterations += loop.iterations * loop.runs;
      code_.path_steps += loop.iterations * loop.runs * loop.path;
      code_.live = std::max(code_.live, LiveValues(loop.members) * unroll_);
    }
    return code_;
  }

 private:
  const Shape* ShapeOf(InstructionId id) const {
    return hlo::TiledShape(computation_[id]);
  }
  double Registers(InstructionId id) const {
    const Shape* const shape = ShapeOf(id);
    const Region& region = tile_.at(id);
    if (shape == nullptr || region.touched == 0) return 0;
    return static_cast<double>(
        hlo::RegisterCount(*shape, region.box, /*packed=*/false));
  }
  InstructionId Source(InstructionId id) const {
    while (computation_[id].opcode() == Opcode::kBitcast) {
      id = computation_[id].operand(0);
    }
    return id;
  }

  void Relayout(double registers, double runs) {
    code_.relayouts += registers * runs;
    moved_ += registers;
  }
  // A move along dimension `d`, by an offset.
  void Shift(const RegisterDimensions& lanes, int64_t d, int64_t offset,
             double registers, double runs) {
    const bool is_aligned = d == lanes.lane      ? offset % hlo::kLanes == 0
                            : d == lanes.sublane ? offset % hlo::kSublanes == 0
                                                 : true;
    if (is_aligned) return;
    code_.misaligned += registers * runs;
    moved_ += registers;
  }

  void CountMoves(const Instruction& instruction, double runs) {
    const InstructionId id = instruction.id();
    const Shape* const shape = ShapeOf(id);
    if (shape == nullptr) return;
    const RegisterDimensions lanes = hlo::RegisterDimensionsOf(*shape);
    const Box& box = tile_.at(id).box;
    const double registers = Registers(id);
    switch (instruction.opcode()) {
      case Opcode::kBroadcast:
        return CountBroadcast(instruction, *shape, lanes, runs);
      case Opcode::kTranspose: {
        const Shape* const from = ShapeOf(instruction.operand(0));
        if (from == nullptr || lanes.lane < 0) return;
        const RegisterDimensions own = hlo::RegisterDimensionsOf(*from);
        if (instruction.dimensions()[Index(lanes.lane)] != own.lane) {
          Relayout(2 * registers, runs);
        }
        return;
      }
      case Opcode::kReshape: {
        const Shape* const from = ShapeOf(instruction.operand(0));
        if (from == nullptr || from->rank() == 0 || lanes.lane < 0) return;
        const RegisterDimensions own = hlo::RegisterDimensionsOf(*from);
        if (from->dimension(own.lane) != shape->dimension(lanes.lane) ||
            (from->rank() == 1) != (shape->rank() == 1)) {
          Relayout(2 * registers, runs);
        }
        return;
      }
      case Opcode::kReverse:
        for (const int64_t d : instruction.dimensions()) {
          Shift(lanes, d, 1, registers, runs);
        }
        return;
      case Opcode::kConcatenate: {
        int64_t offset = 0;
        const int64_t d = instruction.dimensions()[0];
        for (const InstructionId operand : instruction.operands()) {
          Shift(lanes, d, offset, std::min(Registers(operand), registers),
                runs);
          if (const Shape* const from = ShapeOf(operand)) {
            offset += from->dimension(d);
          }
        }
        return;
      }
      case Opcode::kSlice: {
        const auto& slice = instruction.attributes().slice;
        for (size_t d = 0; d < slice.size(); ++d) {
          const int64_t offset = slice[d].stride > 1 ? 1 : slice[d].start;
          Shift(lanes, static_cast<int64_t>(d), offset, registers, runs);
        }
        return;
      }
      case Opcode::kPad: {
        const auto& padding = instruction.attributes().padding;
        for (size_t d = 0; d < padding.size(); ++d) {
          const int64_t offset = padding[d].interior > 0 ? 1 : padding[d].low;
          Shift(lanes, static_cast<int64_t>(d), offset, registers, runs);
        }
        return;
      }
      case Opcode::kReduce:
        return CountReduction(instruction, runs);
      case Opcode::kDynamicSlice:
      case Opcode::kDynamicUpdateSlice:
        code_.misaligned += registers * runs;
        return;
      case Opcode::kGather:
      case Opcode::kScatter:
        return CountIndexed(instruction, runs);
      case Opcode::kDot:
        return CountDot(instruction, box, runs);
      default:
        break;
    }
    if (!hlo::IsElementwise(instruction.opcode())) return;
    for (const InstructionId operand : instruction.operands()) {
      const Shape* const from = ShapeOf(operand);
      if (from == nullptr || from->rank() == 0) continue;
      if (hlo::RegisterDimensionsOf(*from).lane != lanes.lane) {
        Relayout(2 * Registers(operand), runs);
      }
    }
  }

  void CountBroadcast(const Instruction& broadcast, const Shape& shape,
                      const RegisterDimensions& lanes, double runs) {
    const Shape* const from = ShapeOf(broadcast.operand(0));
    if (from == nullptr || from->rank() == 0 || lanes.lane < 0) return;
    const hlo::DimensionVector& to = broadcast.dimensions();
    const double registers = Registers(broadcast.id());
    if (!absl::c_linear_search(to, lanes.lane)) {
      const double beside =
          shape.rank() < 2
              ? 1
              : std::ceil(
                    static_cast<double>(
                        tile_.at(broadcast.id()).box[Index(lanes.lane)].size) /
                    hlo::kLanes);
      const double distinct = registers / std::max(beside, 1.0);
      code_.lane_broadcasts += distinct * runs;
      moved_ += distinct;
    } else if (to[Index(hlo::RegisterDimensionsOf(*from).lane)] != lanes.lane) {
      Relayout(registers, runs);
    }
  }

  void CountReduction(const Instruction& reduce, double runs) {
    const InstructionId operand = reduce.operand(0);
    const Shape* const from = ShapeOf(operand);
    if (from == nullptr || from->rank() == 0) return;
    const int64_t lane = hlo::RegisterDimensionsOf(*from).lane;
    if (!absl::c_linear_search(reduce.dimensions(), lane)) return;
    Box box = tile_.at(operand).box;
    for (const int64_t d : reduce.dimensions()) {
      box[Index(d)].size = std::min<int64_t>(box[Index(d)].size, 1);
    }
    const auto left =
        static_cast<double>(hlo::RegisterCount(*from, box, /*packed=*/false));
    code_.partial_lanes += left * runs;
    // Across the lanes, and from sublanes into lanes of the result.
    moved_ += 2 * left;
  }

  // A row for each slice that an index says.
  void CountIndexed(const Instruction& instruction, double runs) {
    const bool scatters = instruction.opcode() == Opcode::kScatter;
    const InstructionId of =
        scatters ? instruction.operand(2 * (instruction.operand_count() / 3))
                 : instruction.id();
    const Shape* const shape = ShapeOf(of);
    if (shape == nullptr) return;
    const hlo::DimensionVector* window = nullptr;
    if (scatters && instruction.attributes().scatter != nullptr) {
      window = &instruction.attributes().scatter->update_window_dims;
    } else if (!scatters && instruction.attributes().gather != nullptr) {
      window = &instruction.attributes().gather->offset_dims;
    }
    if (window == nullptr) return;
    double slices = 1;
    for (int64_t d = 0; d < shape->rank(); ++d) {
      if (absl::c_linear_search(*window, d)) continue;
      slices *= static_cast<double>(tile_.at(of).box[Index(d)].size);
    }
    code_.indexed_rows += std::max(slices, Registers(of)) * runs;
  }

  void CountDot(const Instruction& dot, const Box& box, double runs) {
    const hlo::DotDimensions& dims = *dot.attributes().dot;
    const hlo::DimensionVector* const contracted[] = {&dims.lhs_contracting,
                                                      &dims.rhs_contracting};
    double terms = 1;
    for (size_t i = 0; i < 2; ++i) {
      const InstructionId operand = dot.operand(i);
      const Shape* const shape = ShapeOf(operand);
      if (shape == nullptr) return;
      if (i == 0) {
        for (const int64_t d : *contracted[0]) {
          terms *= static_cast<double>(tile_.at(operand).box[Index(d)].size);
        }
      }
      const int64_t lane = hlo::RegisterDimensionsOf(*shape).lane;
      if (!absl::c_linear_search(*contracted[i], lane)) {
        code_.transposed[i] += Registers(operand) * runs;
      }
    }
    double batch = 1;
    double rows = 1;
    double columns = 1;
    const auto batches = static_cast<int64_t>(dims.lhs_batch.size());
    const int64_t before = ShapeOf(dot.operand(0))->rank() -
                           static_cast<int64_t>(dims.lhs_contracting.size());
    for (size_t d = 0; d < box.size(); ++d) {
      double& size = static_cast<int64_t>(d) < batches  ? batch
                     : static_cast<int64_t>(d) < before ? rows
                                                        : columns;
      size *= static_cast<double>(box[d].size);
    }
    const double passes = batch * std::ceil(terms / kArray);
    code_.streamed_rows += passes * std::ceil(rows / hlo::kSublanes) *
                           std::ceil(columns / kArray) * runs;
    code_.partial_results += (passes - batch) *
                             std::ceil(rows / hlo::kSublanes) *
                             std::ceil(columns / kArray) * runs;
  }

  void AddToLoop(const Instruction& instruction, bool is_epilogue,
                 double runs) {
    const bool reduces = instruction.opcode() == Opcode::kReduce;
    const InstructionId over =
        reduces ? instruction.operand(0) : instruction.id();
    const Shape* const shape = ShapeOf(over);
    if (shape == nullptr) return;
    const Box& box = tile_.at(over).box;
    LoopKey key = {is_epilogue, {}};
    key.second.assign(shape->dimensions().begin(), shape->dimensions().end());
    for (const hlo::Interval& interval : box) {
      key.second.push_back(interval.size);
    }
    const auto it = loops_.try_emplace(std::move(key)).first;
    Loop& loop = it->second;
    const double registers = Registers(over);
    if (registers == 0) return;
    const auto plane = std::max<double>(
        1, static_cast<double>(hlo::PlaneRegisters(*shape, box)));
    loop.iterations = std::max(loop.iterations,
                               registers / plane * std::ceil(plane / unroll_));
    loop.runs = runs;
    double steps = 1;
    if (hlo::IsTranscendental(instruction.opcode())) {
      steps = kTranscendentalSteps;
    } else if (moved_ >= registers) {
      steps = kCrossLaneSteps;
    } else if (!reduces && !hlo::IsElementwise(instruction.opcode())) {
      steps = 0;
    }
    double before = 0;
    for (const InstructionId operand : instruction.operands()) {
      const InstructionId source = Source(operand);
      if (loop_of_.at(source) == &loop) {
        before = std::max(before, path_.at(source));
        continue;
      }
      before = std::max(before, kLoadSteps);
      CountUnpacked(source, runs);
    }
    loop_of_[instruction.id()] = &loop;
    path_[instruction.id()] = before + steps;
    loop.path = std::max(loop.path, before + steps);
    loop.members.push_back(instruction.id());
    if (absl::c_linear_search(kernel_.results(), instruction.id())) {
      CountUnpacked(instruction.id(), runs);
    }
  }

  void CountUnpacked(InstructionId id, double runs) {
    const Shape* const shape = ShapeOf(id);
    if (shape == nullptr || hlo::PackingOf(shape->element_type()) == 1) return;
    code_.unpacked += Registers(id) * runs;
  }

  // The most values that are live at once in the order of the members.
  double LiveValues(const std::vector<InstructionId>& members) const {
    hlo::IdMap<size_t> last_use;
    for (size_t i = 0; i < members.size(); ++i) {
      for (const InstructionId operand : computation_[members[i]].operands()) {
        last_use[Source(operand)] = i + 1;
      }
    }
    hlo::IdMap<bool> is_live;
    std::vector<size_t> ends(members.size() + 1);
    size_t now = 0;
    size_t most = 0;
    const auto begin = [&](InstructionId id, size_t end) {
      if (is_live.at(id)) return;
      is_live[id] = true;
      ++ends[end];
      ++now;
    };
    for (size_t i = 0; i < members.size(); ++i) {
      for (const InstructionId operand : computation_[members[i]].operands()) {
        begin(Source(operand), last_use.at(Source(operand)));
      }
      begin(members[i], std::max(last_use.at(members[i]), i + 1));
      most = std::max(most, now);
      now -= ends[i + 1];
    }
    return static_cast<double>(most);
  }

  const hlo::TiledKernel& kernel_;
  const hlo::Computation& computation_;
  const hlo::TileRegions& regions_;
  const hlo::IdMap<Region>& tile_;
  const double unroll_;
  std::map<LoopKey, Loop> loops_;
  hlo::IdMap<const Loop*> loop_of_;
  hlo::IdMap<double> path_;
  // Registers that the instruction at hand moves across lanes.
  double moved_ = 0;
  TileCode code_;
};

}  // namespace

TileCode TileCodeOf(const hlo::TiledKernel& kernel,
                    const hlo::KernelConfig& config,
                    const hlo::TileRegions& regions,
                    const hlo::IdMap<Region>& tile) {
  return Finder(kernel, config, regions, tile).Find();
}

}  // namespace hone::costmodels
