#include "hlo/tiles/tile_space.h"

#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "hlo/text/parser.h"
#include "tests/support/status_matchers.h"

namespace hone::hlo {
namespace {

using ::hone::testing::StatusIs;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

Module Parse(const std::string& lines) {
  auto module =
      ParseHloText(absl::StrCat("HloModule m\nENTRY e {\n", lines, "\n}\n"));
  HONE_EXPECT_OK(module);
  return *std::move(module);
}

constexpr char kDot[] = R"(
  p = bf16[100,300] parameter(0)
  q = bf16[300,1024] parameter(1)
  ROOT r = bf16[100,1024] dot(p, q), lhs_contracting_dims={1}, rhs_contracting_dims={0})";

TEST(TileSpace, SizesAreMultiplesOfTheRegisterTileOrWhole) {
  const Module module = Parse(kDot);
  const TiledKernel kernel(module);
  const TileSpace space(kernel);
  EXPECT_THAT(space.sizes(),
              ElementsAre(ElementsAre(16, 32, 48, 64, 96, 100),
                          ElementsAre(128, 256, 384, 512, 768, 1024),
                          ElementsAre(128, 256, 300)));
}

TEST(TileSpace, FollowsTheLayout) {
  const Module module = Parse(R"(
  ROOT p = f32[256,24,5]{0,2,1} parameter(0))");
  const TiledKernel kernel(module);
  EXPECT_THAT(
      TileSpace(kernel).sizes(),
      ElementsAre(ElementsAre(128, 256),
                  ElementsAre(1, 2, 3, 4, 6, 8, 12, 16, 24), ElementsAre(5)));
}

TEST(TileSpace, HasAtMost64SizesWithTheWholeAsTheLast) {
  const Module module = Parse(R"(
  ROOT p = u8[720720000,4,1024] parameter(0))");
  const TiledKernel kernel(module);
  const TileSpace space(kernel);
  EXPECT_THAT(space.sizes()[0], SizeIs(64));
  EXPECT_EQ(space.sizes()[0].back(), 720720000);
  EXPECT_TRUE(std::is_sorted(space.sizes()[0].begin(), space.sizes()[0].end()));
}

TEST(TileSpace, EveryTileIsLegalAndReachedByItsNumber) {
  const Module module = Parse(kDot);
  const TiledKernel kernel(module);
  const TileSpace space(kernel);
  EXPECT_EQ(space.tile_count(), 6 * 6 * 3);
  std::set<std::string> tiles;
  for (int64_t i = 0; i < space.tile_count(); ++i) {
    const KernelConfig config = {space.TileAt(i)};
    HONE_EXPECT_OK(space.Check(config));
    tiles.insert(PrintKernelConfig(config));
  }
  EXPECT_THAT(tiles, SizeIs(6 * 6 * 3));
}

TEST(TileSpace, RandomConfigurationsHaveAllTilesAndFlags) {
  const Module module = Parse(kDot);
  const TiledKernel kernel(module);
  const TileSpace space(kernel);
  std::set<std::string> tiles, flags;
  Rng rng(1);
  for (int i = 0; i < 5000; ++i) {
    const KernelConfig config = space.RandomConfig(rng);
    HONE_EXPECT_OK(space.Check(config));
    tiles.insert(PrintKernelConfig({config.tile}));
    KernelConfig of_first = config;
    of_first.tile = space.TileAt(0);
    flags.insert(PrintKernelConfig(of_first));
  }
  EXPECT_THAT(tiles, SizeIs(6 * 6 * 3));
  EXPECT_THAT(flags, SizeIs(24));
}

TEST(TileSpace, ErrorsNameTheLimit) {
  const Module module = Parse(kDot);
  const TiledKernel kernel(module);
  const TileSpace space(kernel);
  const struct {
    KernelConfig config;
    const char* message;
  } kCases[] = {
      {{{{16}, {128}}}, "the output tile has 1 dimensions, expected 2"},
      {{{{16, 128}, {}}}, "the reduction tile has 0 dimensions, expected 1"},
      {{{{101, 128}, {128}}},
       "the tile of output dimension 0 is 101, expected 1 to 100"},
      {{{{16, 0}, {128}}},
       "the tile of output dimension 1 is 0, expected 1 to 1024"},
      {{{{8, 128}, {128}}},
       "the tile of output dimension 0 is 8, expected a multiple of 16 or the "
       "whole 100"},
      {{{{16, 128}, {130}}},
       "the tile of reduction dimension 0 is 130, expected a multiple of 128"},
      {{{{16, 128}, {128}}, GridOrder::kRow, 4}, "4 buffers, expected 1 to 3"},
      {{{{16, 128}, {128}}, GridOrder::kRow, 2, 3},
       "unrolled 3 times, expected a power of two up to 8"},
  };
  for (const auto& each : kCases) {
    EXPECT_THAT(
        space.Check(each.config),
        StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(each.message)));
  }
  // Not a candidate, but legal.
  HONE_EXPECT_OK(space.Check({{{48, 640}, {128}}}));
}

TEST(TileSpace, ScalarsEmptyArraysAndTokensHaveATile) {
  for (const char* const line :
       {"ROOT p = f32[] parameter(0)", "ROOT p = f32[0,8] parameter(0)",
        "ROOT p = token[] parameter(0)",
        "ROOT p = (f32[3], f32[4]) parameter(0)"}) {
    const Module module = Parse(line);
    const TiledKernel kernel(module);
    const TileSpace space(kernel);
    EXPECT_GE(space.tile_count(), 1);
    HONE_EXPECT_OK(space.Check({space.TileAt(0)}));
  }
}

TEST(TileSpace, HugeShapesDoNotOverflow) {
  const Module module = Parse(R"(
  ROOT p = u8[1048576,1048576,1048576,1,1,2] parameter(0))");
  const TiledKernel kernel(module);
  const TileSpace space(kernel);
  EXPECT_GT(space.tile_count(), 0);
  HONE_EXPECT_OK(space.Check({space.TileAt(space.tile_count() - 1)}));
}

}  // namespace
}  // namespace hone::hlo
