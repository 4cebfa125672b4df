#include "graphs/metis_partition.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/rng.h"

namespace hone::graphs {
namespace {

using ::testing::Each;
using ::testing::IsEmpty;

// Vertices in a row, each of which reads the one before.
std::vector<WeightedPair> Chain(size_t size) {
  std::vector<WeightedPair> pairs;
  for (uint32_t i = 1; i < size; ++i) pairs.push_back({i - 1, i, 1});
  return pairs;
}

TEST(MetisPartitionTest, PartsHaveEqualWork) {
  const std::vector<double> work(40, 2.5);
  const std::vector<int32_t> part = PartitionByMetis(work, Chain(40), 4);
  ASSERT_EQ(part.size(), 40);
  std::vector<int> count(4);
  for (const int32_t p : part) ++count[static_cast<size_t>(p)];
  EXPECT_THAT(count, Each(10));
}

TEST(MetisPartitionTest, GraphsOfFewVerticesHaveNone) {
  EXPECT_THAT(PartitionByMetis(std::vector<double>(15, 1), Chain(15), 4),
              IsEmpty());
  EXPECT_THAT(PartitionByMetis({}, {}, 2), IsEmpty());
}

// A vertex that is more than a part's share has a part of its own, if nothing
// speaks against it.
TEST(MetisPartitionTest, AHeavyVertexIsAlone) {
  std::vector<double> work(31, 1);
  work[7] = 1000;
  const std::vector<int32_t> part = PartitionByMetis(work, {}, 4);
  ASSERT_EQ(part.size(), 31);
  EXPECT_EQ(std::count(part.begin(), part.end(), part[7]), 1);
}

// The output of a command is one document.
TEST(MetisPartitionTest, NothingIsPrinted) {
  Rng rng(1);
  for (int i = 0; i < 2000; ++i) {
    const auto parts = static_cast<int32_t>(2 + rng.Below(63));
    const size_t size =
        4 * static_cast<size_t>(parts) + rng.Below(i % 5 == 0 ? 2000 : 40);
    std::vector<double> work(size);
    // From equal work to one vertex that has nearly all of it.
    const double spread = static_cast<double>(rng.Below(30));
    for (double& w : work) w = std::pow(rng.Uniform(), spread);
    if (rng.Below(4) == 0) work[rng.Below(size)] = 1e6;
    std::vector<WeightedPair> pairs;
    const uint64_t shape = rng.Below(4);
    if (shape == 1) pairs = Chain(size);
    for (uint32_t v = 1; v < size && shape > 1; ++v) {
      const auto other = shape == 2 ? 0 : static_cast<uint32_t>(rng.Below(v));
      pairs.push_back({other, v, rng.Uniform()});
    }
    ::testing::internal::CaptureStdout();
    const std::vector<int32_t> part = PartitionByMetis(work, pairs, parts);
    EXPECT_EQ(::testing::internal::GetCapturedStdout(), "")
        << i << ": " << size << " vertices, " << parts << " parts";
    ASSERT_EQ(part.size(), size);
    for (const int32_t p : part) {
      ASSERT_GE(p, 0);
      ASSERT_LT(p, parts);
    }
  }
}

}  // namespace
}  // namespace hone::graphs
