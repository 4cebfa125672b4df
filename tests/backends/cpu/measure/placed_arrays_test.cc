#include "backends/cpu/measure/placed_arrays.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/status_matchers.h"

namespace hone::backends {
namespace {

using ::hone::testing::StatusIs;

constexpr uintptr_t kBoundary = 2 << 20;

uintptr_t Address(const std::byte* array) {
  return reinterpret_cast<uintptr_t>(array);
}

TEST(PlacedArrays, AreZeroWritableAndApart) {
  // The last byte of one and the first of the next are on different pages.
  const std::vector<int64_t> bytes = {1, 0, 3 * int64_t{kBoundary}, 4096,
                                      int64_t{kBoundary} - 4 * 17 * 64};
  const auto placed = PlacedArrays::Create(bytes);
  HONE_ASSERT_OK(placed.status());
  const std::vector<std::byte*>& arrays = (*placed)->arrays();
  ASSERT_EQ(arrays.size(), bytes.size());
  for (size_t i = 0; i < bytes.size(); ++i) {
    const auto size = static_cast<size_t>(bytes[i]);
    EXPECT_EQ(std::count(arrays[i], arrays[i] + size, std::byte{0}), bytes[i]);
    std::fill_n(arrays[i], size, static_cast<std::byte>(i + 1));
  }
  for (size_t i = 0; i < bytes.size(); ++i) {
    EXPECT_EQ(std::count(arrays[i], arrays[i] + bytes[i],
                         static_cast<std::byte>(i + 1)),
              bytes[i]);
  }
}

TEST(PlacedArrays, LieAlikeEachTime) {
  const auto a = PlacedArrays::Create({100, 5'000'000, 100});
  const auto b = PlacedArrays::Create({100, 5'000'000, 100});
  HONE_ASSERT_OK(a.status());
  HONE_ASSERT_OK(b.status());
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(Address((*a)->arrays()[i]) % kBoundary,
              Address((*b)->arrays()[i]) % kBoundary);
  }
}

TEST(PlacedArrays, StartInDifferentSetsOfACache) {
  const auto arguments = PlacedArrays::Create({4096, 4096, 4096});
  HONE_ASSERT_OK(arguments.status());
  const auto results = PlacedArrays::Create({4096, 4096}, /*before=*/3);
  HONE_ASSERT_OK(results.status());
  std::set<uintptr_t> offsets;
  for (const auto* placed : {&*arguments, &*results}) {
    for (const std::byte* array : (*placed)->arrays()) {
      EXPECT_EQ(Address(array) % 64, 0u);
      offsets.insert(Address(array) % 4096);
    }
  }
  EXPECT_EQ(offsets.size(), 5u);
}

TEST(PlacedArrays, ScatterByTheSeed) {
  const std::vector<int64_t> bytes = {100, 5'000'000, 100, 4096};
  std::set<std::vector<uintptr_t>> placements;
  for (const uint64_t seed : {1u, 2u, 3u, 1u}) {
    const auto placed = PlacedArrays::Scatter(bytes, seed);
    HONE_ASSERT_OK(placed.status());
    std::vector<uintptr_t> offsets;
    for (size_t i = 0; i < bytes.size(); ++i) {
      std::byte* const array = (*placed)->arrays()[i];
      std::fill_n(array, bytes[i], static_cast<std::byte>(i + 1));
      EXPECT_EQ(Address(array) % 64, 0u);
      offsets.push_back(Address(array) % kBoundary);
    }
    for (size_t i = 0; i < bytes.size(); ++i) {
      std::byte* const array = (*placed)->arrays()[i];
      EXPECT_EQ(
          std::count(array, array + bytes[i], static_cast<std::byte>(i + 1)),
          bytes[i]);
    }
    placements.insert(offsets);
  }
  EXPECT_EQ(placements.size(), 3u);
}

TEST(PlacedArrays, TooMuchMemoryIsAnError) {
  EXPECT_THAT(PlacedArrays::Create({int64_t{1} << 60}),
              StatusIs(absl::StatusCode::kResourceExhausted, ::testing::_));
}

}  // namespace
}  // namespace hone::backends
