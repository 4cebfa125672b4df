#include "hlo/tiles/register_loops.h"

#include <algorithm>
#include <cmath>

#include "hlo/ir/id_map.h"
#include "hlo/tiles/register_layout.h"
#include "hlo/tiles/tiled_kernel.h"

namespace hone::hlo {

bool IsAlias(Opcode opcode) {
  return opcode == Opcode::kBitcast || opcode == Opcode::kGetTupleElement ||
         opcode == Opcode::kOptBarrier || opcode == Opcode::kAddDependency ||
         opcode == Opcode::kTuple;
}

bool IsFree(const Instruction& instruction) {
  return IsAlias(instruction.opcode()) || instruction.IsConstant() ||
         instruction.opcode() == Opcode::kParameter;
}

bool IsInLoop(const Instruction& instruction) {
  if (TiledShape(instruction) == nullptr) return false;
  switch (instruction.opcode()) {
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
    case Opcode::kRng:
    case Opcode::kRngBitGenerator:
    case Opcode::kBatchNormInference:
      return true;
    default:
      return IsElementwise(instruction.opcode());
  }
}

InstructionId LoopDomain(const Instruction& instruction) {
  return instruction.opcode() == Opcode::kReduce ? instruction.operand(0)
                                                 : instruction.id();
}

std::vector<int64_t> LoopSizes(const Instruction& over, const Region& region) {
  const Shape* const shape = TiledShape(over);
  std::vector<int64_t> sizes;
  if (shape == nullptr) return sizes;
  sizes.assign(shape->dimensions().begin(), shape->dimensions().end());
  for (const Interval& interval : region.box) sizes.push_back(interval.size);
  // A scalar is a loop of its own.
  sizes.push_back(-1);
  return sizes;
}

double LoopIterations(const Instruction& over, const Region& region,
                      double unroll) {
  const double registers = UnpackedRegisters(over, region);
  if (registers == 0) return 0;
  const auto plane =
      static_cast<double>(PlaneRegisters(*TiledShape(over), region.box));
  return registers / plane * std::ceil(plane / unroll);
}

size_t MostLiveValues(const Computation& computation,
                      absl::Span<const InstructionId> members,
                      absl::FunctionRef<InstructionId(InstructionId)> source) {
  // The values that are live no more after a member, counted.
  std::vector<size_t> ends(members.size() + 1);
  IdMap<size_t> last_use;
  for (size_t i = 0; i < members.size(); ++i) {
    for (const InstructionId operand : computation[members[i]].operands()) {
      last_use[source(operand)] = i + 1;
    }
  }
  size_t live = 0;
  size_t most = 0;
  IdMap<bool> is_live;
  const auto begin = [&](InstructionId id, size_t end) {
    if (is_live.at(id)) return;
    is_live[id] = true;
    ++ends[end];
    ++live;
  };
  for (size_t i = 0; i < members.size(); ++i) {
    for (const InstructionId operand : computation[members[i]].operands()) {
      begin(source(operand), last_use.at(source(operand)));
    }
    begin(members[i], std::max(last_use.at(members[i]), i + 1));
    most = std::max(most, live);
    live -= ends[i + 1];
  }
  return most;
}

}  // namespace hone::hlo
