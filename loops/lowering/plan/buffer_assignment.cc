#include "loops/lowering/plan/buffer_assignment.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <queue>
#include <set>
#include <utility>

#include "absl/types/span.h"

namespace hone::loops {
namespace {

constexpr int64_t kAlignment = 64;
// The number of slots that are placed in quadratic time.
constexpr size_t kMaxLargest = 1024;

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

namespace {

// Gives each slot of `order` the lowest offset that no overlapping one takes.
// Takes quadratic time. Returns the bytes that they need.
int64_t PlaceLowest(PlanFunction& function,
                    const std::vector<Lifetime>& lifetimes,
                    absl::Span<const size_t> order) {
  int64_t total = 0;
  std::vector<std::pair<int64_t, int64_t>> taken;
  for (size_t n = 0; n < order.size(); ++n) {
    const size_t i = order[n];
    const int64_t bytes = AlignedBytes(function.slots[i]);
    // The slots with overlapping live ranges, by offset.
    taken.clear();
    for (size_t other : order.subspan(0, n)) {
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
    total = std::max(total, offset + bytes);
  }
  return total;
}

// Free parts of a memory that grows as needed.
class FreeBlocks {
 public:
  explicit FreeBlocks(int64_t end) : end_(end) {}

  int64_t end() const { return end_; }

  // Takes the smallest block that is large enough.
  int64_t Take(int64_t bytes) {
    const auto best = by_size_.lower_bound({bytes, 0});
    if (best == by_size_.end()) return Grow(bytes);
    const auto [size, offset] = *best;
    Remove(offset, size);
    if (size > bytes) Add(offset + bytes, size - bytes);
    return offset;
  }

  void Release(int64_t offset, int64_t bytes) {
    auto next = by_offset_.lower_bound(offset);
    if (next != by_offset_.end() && next->first == offset + bytes) {
      const auto [at, size] = *next;
      bytes += size;
      Remove(at, size);
      next = by_offset_.lower_bound(offset);
    }
    if (next != by_offset_.begin()) {
      const auto [at, size] = *std::prev(next);
      if (at + size == offset) {
        Remove(at, size);
        offset = at;
        bytes += size;
      }
    }
    Add(offset, bytes);
  }

 private:
  int64_t Grow(int64_t bytes) {
    int64_t offset = end_;
    if (!by_offset_.empty()) {
      const auto [at, size] = *by_offset_.rbegin();
      if (at + size == end_) {
        offset = at;
        Remove(at, size);
      }
    }
    end_ = offset + bytes;
    return offset;
  }
  void Add(int64_t offset, int64_t bytes) {
    by_offset_.emplace(offset, bytes);
    by_size_.emplace(bytes, offset);
  }
  void Remove(int64_t offset, int64_t bytes) {
    by_offset_.erase(offset);
    by_size_.erase({bytes, offset});
  }

  int64_t end_;
  std::map<int64_t, int64_t> by_offset_;
  std::set<std::pair<int64_t, int64_t>> by_size_;
};

// Places slots from `start` on in the order of their first use. Returns the end
// of what they need.
int64_t PlaceByTime(PlanFunction& function,
                    const std::vector<Lifetime>& lifetimes,
                    std::vector<size_t> order, int64_t start) {
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::pair(lifetimes[a].first, a) < std::pair(lifetimes[b].first, b);
  });
  FreeBlocks blocks(start);
  // Live slots by their last use, the earliest on top.
  using Use = std::pair<int64_t, size_t>;
  std::priority_queue<Use, std::vector<Use>, std::greater<>> live;
  for (size_t i : order) {
    while (!live.empty() && live.top().first < lifetimes[i].first) {
      const Slot& dead = function.slots[live.top().second];
      blocks.Release(dead.arena_offset, AlignedBytes(dead));
      live.pop();
    }
    Slot& slot = function.slots[i];
    if (AlignedBytes(slot) == 0) {
      slot.arena_offset = 0;
      continue;
    }
    slot.arena_offset = blocks.Take(AlignedBytes(slot));
    live.emplace(lifetimes[i].last, i);
  }
  return blocks.end();
}

}  // namespace

void AssignArena(PlanFunction& function, const std::vector<bool>& in_arena) {
  const std::vector<Lifetime> lifetimes = Lifetimes(function);
  std::vector<size_t> order;
  for (size_t i = 0; i < function.slots.size(); ++i) {
    if (in_arena[i]) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return AlignedBytes(function.slots[a]) > AlignedBytes(function.slots[b]);
  });
  const auto rest = order.begin() + static_cast<std::ptrdiff_t>(
                                        std::min(order.size(), kMaxLargest));
  const int64_t bytes = PlaceLowest(function, lifetimes,
                                    std::vector<size_t>(order.begin(), rest));
  function.arena_bytes = PlaceByTime(
      function, lifetimes, std::vector<size_t>(rest, order.end()), bytes);
}

}  // namespace hone::loops
