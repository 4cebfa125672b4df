#include "backends/tpu_sim/tile_compute.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <tuple>

#include "backends/tpu_sim/instruction_work.h"
#include "base/saturating.h"
#include "hlo/tiles/register_layout.h"
#include "hlo/tiles/register_loops.h"

namespace hone::backends {
namespace {

using hlo::Instruction;
using hlo::InstructionId;
using hlo::Region;

// What a segment computes: after those of lower levels, over one set of
// dimensions and sizes (none if it is a single instruction).
struct GroupKey {
  int64_t level = 0;
  bool is_epilogue = false;
  // The instruction, of what is not in a loop.
  InstructionId alone = hlo::kNoInstruction;
  std::vector<int64_t> sizes;

  friend auto operator<=>(const GroupKey&, const GroupKey&) = default;
};

class Compiler {
 public:
  Compiler(const hlo::TiledKernel& kernel, const hlo::IdMap<Region>& regions,
           int32_t unroll, bool accumulates, const Tpu& tpu)
      : kernel_(kernel),
        computation_(kernel.computation()),
        regions_(regions),
        unroll_(unroll),
        accumulates_(accumulates),
        tpu_(tpu) {}

  TileCompute Compile() {
    for (const InstructionId id : kernel_.results())
      is_result_[Source(id)] = true;
    Group();
    for (const auto& [key, members] : groups_) {
      for (const InstructionId id : members) FindUses(key, id);
    }
    for (const auto& [key, members] : groups_) {
      std::vector<Segment>& to =
          key.is_epilogue ? result_.epilogue : result_.segments;
      to.push_back(key.alone == hlo::kNoInstruction ? Loop(members)
                                                    : Alone(key.alone));
    }
    return std::move(result_);
  }

 private:
  // The instruction that makes a value.
  InstructionId Source(InstructionId id) const {
    while (hlo::IsAlias(computation_[id].opcode()) &&
           computation_[id].operand_count() == 1) {
      id = computation_[id].operand(0);
    }
    return id;
  }

  bool IsNeeded(const Instruction& instruction) const {
    return regions_.at(instruction.id()).touched > 0 &&
           !hlo::IsFree(instruction);
  }

  const Instruction& Domain(const Instruction& instruction) const {
    return computation_[hlo::LoopDomain(instruction)];
  }
  // The dimensions and sizes of the loop that an instruction is part of.
  std::vector<int64_t> LoopSizes(const Instruction& instruction) const {
    const Instruction& over = Domain(instruction);
    return hlo::LoopSizes(over, regions_.at(over.id()));
  }

  void Group() {
    hlo::IdMap<int64_t> levels;
    hlo::IdMap<const GroupKey*> keys;
    for (const InstructionId id : kernel_.instructions()) {
      const Instruction& instruction = computation_[id];
      if (!IsNeeded(instruction)) continue;
      GroupKey key;
      key.is_epilogue = kernel_.IsEpilogue(id);
      const bool in_loop = hlo::IsInLoop(instruction);
      if (in_loop) {
        key.sizes = LoopSizes(instruction);
      } else {
        key.alone = id;
      }
      for (const InstructionId operand : instruction.operands()) {
        const InstructionId source = Source(operand);
        if (!IsNeeded(computation_[source])) continue;
        const bool stays_in_registers =
            in_loop && keys.at(source) != nullptr &&
            keys.at(source)->sizes == key.sizes &&
            keys.at(source)->alone == hlo::kNoInstruction &&
            keys.at(source)->is_epilogue == key.is_epilogue &&
            computation_[source].opcode() != hlo::Opcode::kReduce &&
            LoopSizes(computation_[source]) ==
                hlo::LoopSizes(computation_[operand], regions_.at(operand));
        key.level = std::max(key.level,
                             levels.at(source) + (stays_in_registers ? 0 : 1));
      }
      levels[id] = key.level;
      const auto it = groups_.try_emplace(std::move(key)).first;
      it->second.push_back(id);
      keys[id] = &it->first;
    }
    keys_ = std::move(keys);
  }

  // Notes which values leave their group, and so are stored.
  void FindUses(const GroupKey& key, InstructionId id) {
    if (key.alone != hlo::kNoInstruction) leaves_[id] = true;
    if (is_result_.at(id)) leaves_[id] = true;
    for (const InstructionId operand : computation_[id].operands()) {
      const InstructionId source = Source(operand);
      if (!IsNeeded(computation_[source])) continue;
      if (keys_.at(source) != &key) leaves_[source] = true;
    }
  }

  bool IsPacked(const Instruction& instruction) const {
    const hlo::Shape* const shape = hlo::TiledShape(instruction);
    return shape != nullptr && hlo::PackingOf(shape->element_type()) > 1;
  }

  // A value that a loop takes from VMEM.
  void AddLoad(const Instruction& source, UnitWork& work) const {
    const Region& region = regions_.at(source.id());
    work[Unit::kLoad] += StoredRegisters(source, region);
    if (IsPacked(source)) work[Unit::kAlu] += Registers(source, region);
  }

  void AddStore(const Instruction& instruction, UnitWork& work) {
    const Region& region = regions_.at(instruction.id());
    const double packed = StoredRegisters(instruction, region);
    work[Unit::kStore] += packed;
    if (IsPacked(instruction)) {
      work[Unit::kAlu] += Registers(instruction, region);
    }
    if (!is_result_.at(instruction.id())) {
      AddIntermediate(packed * hlo::kRegisterBytes);
    }
  }

  void AddIntermediate(double bytes) {
    const double limit = static_cast<double>(int64_t{1} << 60);
    result_.intermediate_bytes =
        SaturatingAdd(result_.intermediate_bytes,
                      static_cast<int64_t>(std::min(bytes, limit)));
  }

  // The partial results of a reduction by tiles: what there is is loaded, added
  // to and stored.
  void AddAccumulation(const Instruction& instruction, UnitWork& work) {
    if (!accumulates_ || !kernel_.IsReducedByTiles(instruction.id())) return;
    const double registers =
        Registers(instruction, regions_.at(instruction.id()));
    work[Unit::kLoad] += registers;
    work[Unit::kAlu] += registers;
    work[Unit::kStore] += registers;
    AddIntermediate(registers * hlo::kRegisterBytes);
  }

  Segment Alone(InstructionId id) {
    const Instruction& instruction = computation_[id];
    InstructionWork work = WorkOf(kernel_, regions_, instruction, tpu_);
    AddAccumulation(instruction, work.work);
    if (!is_result_.at(id)) {
      AddIntermediate(StoredRegisters(instruction, regions_.at(id)) *
                      hlo::kRegisterBytes);
    }
    return MakeSegment(work.work, work.stall, tpu_);
  }

  // The latency of one register through an instruction with this work.
  double LatencyOf(const UnitWork& work, double registers) const {
    const double each = std::max(registers, 1.0);
    double latency = static_cast<double>(tpu_.alu_latency) *
                     std::ceil(work[Unit::kAlu] / each);
    if (work[Unit::kTranscendental] > 0) {
      latency += static_cast<double>(tpu_.transcendental_latency);
    }
    // Rare ones are waited for once (InstructionWork::stall).
    if (work[Unit::kCrossLane] >= each) {
      latency += static_cast<double>(tpu_.cross_lane_latency);
    }
    return latency;
  }

  Segment Loop(const std::vector<InstructionId>& members) {
    UnitWork work;
    double stall = 0;
    double iterations = 0;
    double longest = 0;
    hlo::IdMap<double> path;
    hlo::IdMap<bool> is_loaded;
    for (const InstructionId id : members) {
      const Instruction& instruction = computation_[id];
      const InstructionWork own = WorkOf(kernel_, regions_, instruction, tpu_);
      work += own.work;
      stall += own.stall;
      const Instruction& over = Domain(instruction);
      const Region& region = regions_.at(over.id());
      const double each = Registers(over, region);
      iterations =
          std::max(iterations, hlo::LoopIterations(over, region, unroll_));
      double before = 0;
      for (const InstructionId operand : instruction.operands()) {
        const InstructionId source = Source(operand);
        if (IsNeeded(computation_[source]) &&
            keys_.at(source) == keys_.at(id)) {
          before = std::max(before, path.at(source));
          continue;
        }
        before = std::max(before, static_cast<double>(tpu_.load_latency));
        if (regions_.at(source).touched > 0 && !is_loaded.at(source)) {
          is_loaded[source] = true;
          AddLoad(computation_[source], work);
        }
      }
      path[id] = before + LatencyOf(own.work, each);
      longest = std::max(longest, path.at(id));
      if (leaves_.at(id)) AddStore(instruction, work);
      AddAccumulation(instruction, work);
    }
    // Values that there are no registers for are stored and loaded again. Two
    // registers are kept for addresses and masks.
    const double needed =
        unroll_ * static_cast<double>(hlo::MostLiveValues(
                      computation_, members,
                      [this](InstructionId id) { return Source(id); }));
    const double spilled =
        std::max(0.0, needed - static_cast<double>(tpu_.registers - 2));
    work[Unit::kLoad] += iterations * spilled;
    work[Unit::kStore] += iterations * spilled;
    // An iteration takes at least as long as one value takes through it.
    const Segment busy = MakeSegment(work, 0, tpu_);
    const double issue =
        static_cast<double>(busy.cycles()) / std::max(iterations, 1.0);
    stall += iterations * (std::max(0.0, longest - issue) +
                           static_cast<double>(tpu_.loop_cycles));
    return MakeSegment(work, stall, tpu_);
  }

  const hlo::TiledKernel& kernel_;
  const hlo::Computation& computation_;
  const hlo::IdMap<Region>& regions_;
  const double unroll_;
  const bool accumulates_;
  const Tpu& tpu_;
  std::map<GroupKey, std::vector<InstructionId>> groups_;
  hlo::IdMap<const GroupKey*> keys_;
  hlo::IdMap<bool> is_result_;
  hlo::IdMap<bool> leaves_;
  TileCompute result_;
};

}  // namespace

TileCompute CompileTile(const hlo::TiledKernel& kernel,
                        const hlo::IdMap<Region>& regions, int32_t unroll,
                        bool accumulates, const Tpu& tpu) {
  return Compiler(kernel, regions, unroll, accumulates, tpu).Compile();
}

}  // namespace hone::backends
