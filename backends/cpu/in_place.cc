#include "backends/cpu/in_place.h"

#include <algorithm>
#include <optional>
#include <variant>
#include <vector>

#include "loops/analysis/dependences.h"
#include "loops/lowering/plan/buffer_assignment.h"

namespace hone::backends {
namespace {

using loops::AccessSite;
using loops::BufferId;
using loops::Direction;
using loops::Memory;
using loops::ModulePlan;
using loops::PlanFunction;
using loops::Program;
using loops::SlotId;

std::optional<BufferId> FindBuffer(const Program& program, Memory memory,
                                   int32_t number) {
  for (size_t i = 0; i < program.buffers().size(); ++i) {
    const loops::Buffer& buffer = *program.buffers()[i];
    if (buffer.memory == memory && buffer.number == number) {
      return static_cast<BufferId>(i);
    }
  }
  return std::nullopt;
}

// Returns true if the two may touch one element in different iterations of the
// loops around both.
bool ConflictInOtherIterations(const Program& program, const AccessSite& a,
                               const AccessSite& b) {
  const size_t loops = loops::CommonLoops(a, b);
  for (size_t level = 0; level < loops; ++level) {
    for (Direction direction : {Direction::kEarlier, Direction::kLater}) {
      std::vector<Direction> directions(loops, Direction::kAny);
      std::fill_n(directions.begin(), level, Direction::kSame);
      directions[level] = direction;
      if (MayConflict(program, a, b, directions)) return true;
    }
  }
  return false;
}

bool InOneStatementOnly(const Program& program, const AccessSite& read,
                        const AccessSite& write) {
  if (read.path == write.path) {
    return !ConflictInOtherIterations(program, read, write);
  }
  const std::vector<Direction> any(loops::CommonLoops(read, write),
                                   Direction::kAny);
  return !MayConflict(program, read, write, any);
}

// The numbers of the slot among `slots`.
std::vector<int32_t> NumbersOf(SlotId slot, const std::vector<SlotId>& slots) {
  std::vector<int32_t> numbers;
  for (size_t i = 0; i < slots.size(); ++i) {
    if (slots[i] == slot) numbers.push_back(static_cast<int32_t>(i));
  }
  return numbers;
}

// A step that reads one slot and writes another.
bool StepMayRunInPlace(const ModulePlan& plan, const loops::PlanStep& step,
                       SlotId from, SlotId to) {
  if (std::holds_alternative<loops::CopyStep>(step)) return true;
  const auto* kernel = std::get_if<loops::KernelStep>(&step);
  if (kernel == nullptr) return false;
  const Program& program = plan.kernels[static_cast<size_t>(kernel->kernel)];
  for (int32_t argument : NumbersOf(from, kernel->arguments)) {
    for (int32_t result : NumbersOf(to, kernel->results)) {
      if (!MayRunInPlace(program, argument, result)) return false;
    }
  }
  return true;
}

}  // namespace

bool MayRunInPlace(const Program& program, int32_t argument, int32_t result) {
  const auto from = FindBuffer(program, Memory::kArgument, argument);
  const auto to = FindBuffer(program, Memory::kResult, result);
  if (!from.has_value() || !to.has_value()) return false;
  const loops::Buffer& source = program.buffer(*from);
  const loops::Buffer& target = program.buffer(*to);
  if (source.type != target.type || source.dimensions != target.dimensions) {
    return false;
  }
  const std::vector<AccessSite> sites = CollectAccesses(program, {});
  for (AccessSite read : sites) {
    if (read.access.buffer != *from) continue;
    read.access.buffer = *to;
    for (const AccessSite& write : sites) {
      if (write.access.buffer == *to &&
          !InOneStatementOnly(program, read, write)) {
        return false;
      }
    }
  }
  return true;
}

bool MayRunInPlace(const ModulePlan& plan, int32_t argument, int32_t result) {
  const PlanFunction& entry = plan.functions[static_cast<size_t>(plan.entry)];
  const SlotId from = entry.parameters[static_cast<size_t>(argument)];
  const SlotId to = entry.results[static_cast<size_t>(result)];
  const auto slot = [&](SlotId id) -> const hlo::Shape& {
    return *entry.slots[static_cast<size_t>(id)].shape;
  };
  if (slot(from).byte_size() != slot(to).byte_size()) return false;
  bool is_overwritten = false;
  for (const loops::PlanStep& step : entry.steps) {
    bool reads = false;
    bool writes = false;
    bool changes = false;
    ForEachSlot(step, [&](SlotId id, bool is_written) {
      reads = reads || (id == from && !is_written);
      changes = changes || (id == from && is_written);
      writes = writes || id == to;
    });
    if (changes || (reads && is_overwritten)) return false;
    if (reads && writes && !StepMayRunInPlace(plan, step, from, to)) {
      return false;
    }
    is_overwritten = is_overwritten || writes;
  }
  return true;
}

}  // namespace hone::backends
