#include "loops/lowering/plan/buffer_assignment.h"

#include <algorithm>
#include <vector>

#include "gtest/gtest.h"

#include "base/rng.h"

namespace hone::loops {
namespace {

// Copies among slots of many sizes, which are mostly used for a short time.
PlanFunction RandomFunction(Rng& rng, int slots) {
  const auto below = [&](int bound) {
    return static_cast<int>(rng.Below(static_cast<uint64_t>(bound)));
  };
  PlanFunction function;
  for (int i = 0; i < slots; ++i) {
    const int64_t bytes = int64_t{1} << below(12);
    function.slots.push_back(
        {.shape = hlo::Shape::Array(hlo::ElementType::kU8,
                                    {below(20) == 0 ? 0 : bytes + below(64)}),
         .literal = nullptr});
    const int distance = below(50) == 0 ? 500 : 10;
    const int from = std::max(0, i - below(distance));
    function.steps.emplace_back(CopyStep{from, i});
  }
  return function;
}

TEST(AssignArena, LiveSlotsAreDisjoint) {
  Rng rng(1);
  for (const int slots : {1, 30, 1000, 3000}) {
    PlanFunction function = RandomFunction(rng, slots);
    const size_t count = function.slots.size();
    AssignArena(function, std::vector<bool>(count, true));
    std::vector<int64_t> first(count, -1);
    std::vector<int64_t> last(count, -1);
    for (size_t i = 0; i < function.steps.size(); ++i) {
      ForEachSlot(function.steps[i], [&](SlotId id, bool) {
        const size_t slot = static_cast<size_t>(id);
        if (first[slot] < 0) first[slot] = static_cast<int64_t>(i);
        last[slot] = static_cast<int64_t>(i);
      });
    }
    std::vector<int64_t> live_bytes(function.steps.size());
    for (size_t a = 0; a < count; ++a) {
      const int64_t begin = function.slots[a].arena_offset;
      const int64_t end = begin + function.slots[a].shape->byte_size();
      EXPECT_GE(begin, 0);
      EXPECT_EQ(begin % 64, 0);
      EXPECT_LE(end, function.arena_bytes);
      for (int64_t i = first[a]; i <= last[a]; ++i) {
        live_bytes[static_cast<size_t>(i)] += end - begin;
      }
      for (size_t b = 0; b < a; ++b) {
        if (last[a] < first[b] || last[b] < first[a]) continue;
        const int64_t other = function.slots[b].arena_offset;
        EXPECT_TRUE(end <= other ||
                    other + function.slots[b].shape->byte_size() <= begin ||
                    begin == end)
            << "slots " << a << " and " << b;
      }
    }
    // Fragmentation and alignment cost less than the live bytes themselves.
    const int64_t most =
        *std::max_element(live_bytes.begin(), live_bytes.end());
    EXPECT_LE(function.arena_bytes, 2 * most + 64 * 64);
  }
}

}  // namespace
}  // namespace hone::loops
