#include "hlo/evaluator/arena.h"

#include <cstring>
#include <map>

#include "gtest/gtest.h"

#include "base/rng.h"

namespace hone::hlo::evaluator {
namespace {

constexpr int64_t kGranule = Arena::kGranule;

TEST(Arena, HandsOutTheLowestPlaceThatFits) {
  Arena arena(8 * kGranule);
  std::byte* const a = arena.Allocate(2 * kGranule);
  std::byte* const b = arena.Allocate(kGranule - 1);
  std::byte* const c = arena.Allocate(kGranule);
  EXPECT_EQ(b, a + 2 * kGranule);
  EXPECT_EQ(c, b + kGranule);
  EXPECT_TRUE(arena.Owns(c));
  arena.Free(a, 2 * kGranule);
  arena.Free(c, kGranule);
  EXPECT_EQ(arena.Allocate(kGranule), a);
  EXPECT_EQ(arena.Allocate(2 * kGranule), c);
  EXPECT_EQ(arena.Allocate(kGranule), a + kGranule);
}

TEST(Arena, HasNoPlaceForMoreThanItsSize) {
  Arena arena(4 * kGranule);
  EXPECT_EQ(arena.Allocate(5 * kGranule), nullptr);
  std::byte* const all = arena.Allocate(4 * kGranule);
  ASSERT_NE(all, nullptr);
  EXPECT_EQ(arena.Allocate(1), nullptr);
  arena.Free(all, 4 * kGranule);
  EXPECT_EQ(arena.Allocate(4 * kGranule), all);
}

TEST(Arena, OwnsNothingBeforeItAllocates) {
  Arena arena(kGranule);
  std::byte other{};
  EXPECT_FALSE(arena.Owns(&other));
  ASSERT_NE(arena.Allocate(1), nullptr);
  EXPECT_FALSE(arena.Owns(&other));
}

// An arena of more than a system has addresses for.
TEST(Arena, HasNoPlaceWhereTheSystemHasNone) {
  Arena arena(int64_t{1} << 60);
  EXPECT_EQ(arena.Allocate(1), nullptr);
}

// Ranges never share a byte, and are whole again once all are free.
TEST(Arena, KeepsRangesApart) {
  constexpr int64_t kSize = 64 * kGranule;
  Arena arena(kSize);
  Rng rng(3);
  std::map<std::byte*, int64_t> live;
  for (int step = 0; step < 5000; ++step) {
    if (rng.Below(2) == 0) {
      const auto bytes = static_cast<int64_t>(1 + rng.Below(12 * kGranule));
      std::byte* const data = arena.Allocate(bytes);
      if (data == nullptr) continue;
      const auto after = live.lower_bound(data);
      ASSERT_TRUE(after == live.end() || data + bytes <= after->first);
      if (after != live.begin()) {
        const auto before = std::prev(after);
        ASSERT_LE(before->first + before->second, data);
      }
      std::memset(data, step, static_cast<size_t>(bytes));
      live.emplace(data, bytes);
    } else if (!live.empty()) {
      const auto it = std::next(
          live.begin(), static_cast<std::ptrdiff_t>(rng.Below(live.size())));
      arena.Free(it->first, it->second);
      live.erase(it);
    }
  }
  for (const auto& [data, bytes] : live) arena.Free(data, bytes);
  EXPECT_NE(arena.Allocate(kSize), nullptr);
}

}  // namespace
}  // namespace hone::hlo::evaluator
