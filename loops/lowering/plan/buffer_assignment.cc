#include "loops/lowering/plan/buffer_assignment.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace hone::loops {
namespace {

constexpr int64_t kAlignment = 64;

struct Lifetime {
  // The first and last step that use a slot; empty if none does.
  int64_t first = 0;
  int64_t last = -1;

  bool Overlaps(const Lifetime& other) const {
    return first <= other.last && other.first <= last;
  }
};

std::vector<Lifetime> Lifetimes(const PlanFunction& function) {
  std::vector<Lifetime> lifetimes(function.slots.size());
  for (size_t i = 0; i < function.steps.size(); ++i) {
    ForEachSlot(function.steps[i], [&](SlotId slot, bool) {
      Lifetime& lifetime = lifetimes[static_cast<size_t>(slot)];
      if (lifetime.last < 0) lifetime.first = static_cast<int64_t>(i);
      lifetime.last = static_cast<int64_t>(i);
    });
  }
  return lifetimes;
}

int64_t AlignedBytes(const Slot& slot) {
  return (slot.shape->byte_size() + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace

void ForEachSlot(const PlanStep& step,
                 absl::FunctionRef<void(SlotId, bool)> visit) {
  if (const auto* kernel = std::get_if<KernelStep>(&step)) {
    for (SlotId slot : kernel->arguments) visit(slot, false);
    for (SlotId slot : kernel->results) visit(slot, true);
  } else if (const auto* call = std::get_if<LibraryStep>(&step)) {
    for (SlotId slot : call->arguments) visit(slot, false);
    for (SlotId slot : call->results) visit(slot, true);
  } else if (const auto* copy = std::get_if<CopyStep>(&step)) {
    visit(copy->from, false);
    visit(copy->to, true);
  } else if (const auto* loop = std::get_if<WhileStep>(&step)) {
    for (SlotId slot : loop->state) visit(slot, false);
    for (SlotId slot : loop->state) visit(slot, true);
    for (SlotId slot : loop->next) visit(slot, true);
    if (loop->scratch >= 0) visit(loop->scratch, true);
  } else {
    const auto& conditional = std::get<ConditionalStep>(step);
    visit(conditional.selector, false);
    for (const std::vector<SlotId>& arguments : conditional.arguments) {
      for (SlotId slot : arguments) visit(slot, false);
    }
    for (SlotId slot : conditional.results) visit(slot, true);
    if (conditional.scratch >= 0) visit(conditional.scratch, true);
  }
}

void AssignArena(PlanFunction& function, const std::vector<bool>& in_arena) {
  const std::vector<Lifetime> lifetimes = Lifetimes(function);
  std::vector<size_t> order(function.slots.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return AlignedBytes(function.slots[a]) > AlignedBytes(function.slots[b]);
  });
  std::vector<size_t> placed;
  function.arena_bytes = 0;
  for (size_t i : order) {
    if (!in_arena[i]) continue;
    const int64_t bytes = AlignedBytes(function.slots[i]);
    // The slots with overlapping live ranges, by offset.
    std::vector<std::pair<int64_t, int64_t>> taken;
    for (size_t other : placed) {
      if (!lifetimes[other].Overlaps(lifetimes[i])) continue;
      const int64_t begin = function.slots[other].arena_offset;
      taken.emplace_back(begin, begin + AlignedBytes(function.slots[other]));
    }
    std::sort(taken.begin(), taken.end());
    int64_t offset = 0;
    for (const auto& [begin, end] : taken) {
      if (offset + bytes <= begin) break;
      offset = std::max(offset, end);
    }
    function.slots[i].arena_offset = offset;
    function.arena_bytes = std::max(function.arena_bytes, offset + bytes);
    placed.push_back(i);
  }
}

}  // namespace hone::loops
