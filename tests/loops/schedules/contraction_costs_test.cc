#include "loops/schedules/contraction_costs.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "gtest/gtest.h"

namespace hone::loops {
namespace {

// The tiles that the busiest thread computes, if threads take shares in turn
// and one computes what is left.
int64_t Longest(int64_t share, int64_t whole_tiles, int64_t tiles,
                int64_t threads) {
  std::vector<int64_t> work(static_cast<size_t>(threads));
  int64_t done = 0;
  for (size_t next = 0; done + share <= whole_tiles; ++next) {
    work[next % work.size()] += share;
    done += share;
  }
  return *std::max_element(work.begin(), work.end()) + tiles - done;
}

TEST(TilesPerShare, KeepsTheBusiestThreadShort) {
  for (int64_t threads : {2, 3, 4, 16}) {
    for (int64_t whole = 2 * threads; whole < 70; ++whole) {
      for (int64_t tiles : {whole, whole + 1}) {
        const int64_t share = TilesPerShare(whole, tiles, threads);
        int64_t best = tiles;
        for (int64_t other = 1; other <= whole / threads; ++other) {
          best = std::min(best, Longest(other, whole, tiles, threads));
        }
        EXPECT_EQ(Longest(share, whole, tiles, threads), best)
            << whole << " of " << tiles << " tiles, " << threads << " threads";
      }
    }
  }
}

TEST(TilesPerShare, SharesAreLongWhereThatTakesNoLonger) {
  EXPECT_EQ(TilesPerShare(24, 24, 2), 12);
  EXPECT_EQ(TilesPerShare(23, 24, 2), 11);
  EXPECT_EQ(TilesPerShare(39, 40, 16), 1);
}

}  // namespace
}  // namespace hone::loops
