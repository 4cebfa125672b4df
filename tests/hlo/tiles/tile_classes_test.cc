// Classes of tiles against the regions of all tiles.

#include "hlo/tiles/tile_classes.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/rng.h"
#include "hlo/text/parser.h"
#include "tests/support/random_module.h"
#include "tests/support/status_matchers.h"

namespace hone::hlo {
namespace {

using TileRun = TileClasses::Run;
using ::testing::ElementsAre;

Module Parse(const std::string& lines) {
  auto module =
      ParseHloText(absl::StrCat("HloModule m\nENTRY e {\n", lines, "\n}\n"));
  HONE_EXPECT_OK(module);
  return *std::move(module);
}

// Sizes of boxes and elements touched of all instructions.
std::vector<int64_t> Signature(const TileRegions& regions,
                               const std::vector<int64_t>& position) {
  std::vector<int64_t> signature;
  const IdMap<Region> at = regions.At(position);
  for (const InstructionId id : regions.kernel().instructions()) {
    const Region region = at.at(id);
    for (const Interval& interval : region.box) {
      signature.push_back(interval.size);
    }
    signature.push_back(region.touched);
  }
  return signature;
}

// Compares neighbors along each dimension, other positions 0: they are of one
// run only if they are alike.
void ExpectTilesOfARunAreAlike(const TileRegions& regions) {
  const TileClasses classes(regions);
  if (regions.tile_count() == 0) return;
  for (size_t d = 0; d < regions.grid().size(); ++d) {
    std::vector<int64_t> position(regions.grid().size());
    std::vector<int64_t> before = Signature(regions, position);
    for (position[d] = 1; position[d] < regions.grid()[d]; ++position[d]) {
      const std::vector<int64_t> here = Signature(regions, position);
      if (classes.RunOf(d, position[d] - 1) == classes.RunOf(d, position[d])) {
        ASSERT_EQ(before, here) << d << " " << position[d];
      }
      before = here;
    }
  }
}

bool HasSharedValues(const TiledKernel& kernel) {
  IdMap<int> uses;
  for (const InstructionId id : kernel.instructions()) {
    for (const InstructionId operand : kernel.computation()[id].operands()) {
      if (++uses[operand] > 1) return true;
    }
  }
  return kernel.results().size() > 1;
}

// Compares the representative of each class with all of its tiles.
void ExpectTilesOfAClassAreAlike(const TileRegions& regions) {
  const TileClasses classes(regions);
  const auto grid = regions.grid();
  int64_t tiles = 0;
  for (int64_t c = 0; c < classes.size(); ++c) {
    tiles += classes.At(c).count;
  }
  EXPECT_EQ(tiles, regions.tile_count());
  std::vector<std::vector<int64_t>> expected(
      static_cast<size_t>(classes.size()));
  for (int64_t tile = 0; tile < tiles; ++tile) {
    std::vector<int64_t> position(grid.size());
    int64_t rest = tile;
    for (size_t d = grid.size(); d-- > 0;) {
      position[d] = rest % grid[d];
      rest /= grid[d];
    }
    size_t c = 0;
    for (size_t d = 0; d < grid.size(); ++d) {
      c = c * classes.runs(d).size() + classes.RunOf(d, position[d]);
    }
    if (expected[c].empty()) {
      expected[c] = Signature(
          regions, classes.At(static_cast<int64_t>(c)).representative);
    }
    ASSERT_EQ(Signature(regions, position), expected[c])
        << ::testing::PrintToString(position);
  }
}

TEST(TileClasses, RunsEndWhereOperandsOfConcatenatesDo) {
  const Module module = Parse(R"(
  p = f32[1000000,8] parameter(0)
  q = f32[24,8] parameter(1)
  r = f32[2000004,8] parameter(2)
  ROOT c = f32[3000028,8] concatenate(p, q, r), dimensions={0})");
  const TiledKernel kernel(module);
  const TileClasses classes(TileRegions(kernel, {{16, 8}, {}}));
  EXPECT_TRUE(classes.is_exact());
  EXPECT_THAT(
      classes.runs(0),
      ElementsAre(TileRun{0, 62500}, TileRun{62500, 1}, TileRun{62501, 1},
                  TileRun{62502, 124999}, TileRun{187501, 1}));
  EXPECT_THAT(classes.runs(1), ElementsAre(TileRun{0, 1}));
  EXPECT_EQ(classes.size(), 5);
  EXPECT_EQ(classes.At(3).count, 124999);
}

TEST(TileClasses, PaddingOnBothSidesOfALongArrayIsFound) {
  const Module module = Parse(R"(
  p = f32[8,100] parameter(0)
  z = f32[] constant(0)
  a = f32[8000000,100] pad(p, z), padding=5000000_2999992x0_0
  ROOT r = f32[8000000,100] tanh(a))");
  const TiledKernel kernel(module);
  const TileClasses classes(TileRegions(kernel, {{8, 100}, {}}));
  EXPECT_THAT(classes.runs(0),
              ElementsAre(TileRun{0, 625000}, TileRun{625000, 1},
                          TileRun{625001, 374999}));
}

// The columns of the second operand are padded, which no tile of the first rows
// shows.
TEST(TileClasses, BoundariesThatOnlyOtherRowsHaveAreFound) {
  const Module module = Parse(R"(
  p = f32[8,64] parameter(0)
  q = f32[8,20] parameter(1)
  z = f32[] constant(0)
  a = f32[8,64] pad(q, z), padding=0_0x40_4
  ROOT c = f32[16,64] concatenate(p, a), dimensions={0})");
  const TiledKernel kernel(module);
  ExpectTilesOfAClassAreAlike(TileRegions(kernel, {{2, 4}, {}}));
  ExpectTilesOfAClassAreAlike(TileRegions(kernel, {{3, 5}, {}}));
}

TEST(TileClasses, TilesOfAClassOfARandomProgramAreAlike) {
  Rng rng(7);
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const std::string text = hone::testing::RandomModuleText(seed);
    const auto module = ParseHloText(text);
    ASSERT_THAT(module, hone::testing::IsOk());
    const TiledKernel kernel(*module);
    for (int round = 0; round < 4; ++round) {
      Tile tile;
      const auto draw = [&rng](int64_t size) {
        const auto most = static_cast<uint64_t>(std::max<int64_t>(size, 1));
        return 1 + static_cast<int64_t>(rng.Below(most));
      };
      for (const int64_t size : kernel.output_dimensions()) {
        tile.output.push_back(draw(size));
      }
      for (const int64_t size : kernel.reduction_dimensions()) {
        tile.reduction.push_back(draw(size));
      }
      SCOPED_TRACE(absl::StrCat("seed ", seed, " round ", round, "\n",
                                PrintKernelConfig({.tile = tile}), "\n", text));
      ExpectTilesOfARunAreAlike(TileRegions(kernel, tile));
      if (!HasSharedValues(kernel)) {
        ExpectTilesOfAClassAreAlike(TileRegions(kernel, tile));
      }
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(TileClasses, AnEmptyGridHasNone) {
  const Module module = Parse(R"(
  p = f32[0,8] parameter(0)
  ROOT r = f32[0,8] negate(p))");
  const TiledKernel kernel(module);
  EXPECT_EQ(TileClasses(TileRegions(kernel, {{1, 8}, {}})).size(), 0);
}

}  // namespace
}  // namespace hone::hlo
