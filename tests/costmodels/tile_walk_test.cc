#include "costmodels/tile_walk.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "hlo/text/parser.h"
#include "hlo/tiles/tile_space.h"

namespace hone::costmodels {
namespace {

// Two results, a reduction, and tiles of several sizes.
constexpr char kReduction[] = R"(HloModule k

add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y)
}
ENTRY e {
  a = f32[40,60,70] parameter(0)
  b = f32[60] parameter(1)
  w = f32[40,60,70] broadcast(b), dimensions={1}
  m = f32[40,60,70] multiply(a, w)
  zero = f32[] constant(0)
  r = f32[40,60] reduce(m, zero), dimensions={2}, to_apply=add
  n = f32[40,60] negate(r)
  ROOT t = (f32[40,60], f32[40,60]) tuple(r, n)
})";

constexpr char kConcatenate[] = R"(HloModule k

ENTRY e {
  a = f32[100,300] parameter(0)
  b = f32[30,300] parameter(1)
  c = f32[62,300] parameter(2)
  t = f32[62,300] tanh(c)
  ROOT j = f32[192,300] concatenate(a, b, t), dimensions={0}
})";

constexpr char kWindows[] = R"(HloModule k

ENTRY e {
  x = f32[2,33,40,16] parameter(0)
  w = f32[3,3,16,32] parameter(1)
  ROOT c = f32[2,33,40,32] convolution(x, w), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f
})";

// The tiles of a grid in the order of its loops.
std::vector<std::vector<int64_t>> Positions(const hlo::TiledKernel& kernel,
                                            const hlo::KernelConfig& config,
                                            const hlo::TileRegions& tiles) {
  const auto grid = tiles.grid();
  const size_t outputs = kernel.output_dimensions().size();
  std::vector<size_t> loops;
  for (size_t i = 0; i < grid.size(); ++i) {
    const bool reverses =
        i < outputs && config.order == hlo::GridOrder::kColumn;
    loops.push_back(reverses ? outputs - 1 - i : i);
  }
  std::vector<std::vector<int64_t>> positions;
  std::vector<int64_t> at(grid.size());
  for (int64_t i = 0; i < tiles.tile_count(); ++i) {
    positions.push_back(at);
    for (size_t l = loops.size(); l-- > 0;) {
      if (++at[loops[l]] < grid[loops[l]]) break;
      at[loops[l]] = 0;
    }
  }
  return positions;
}

class TileWalkTest : public testing::TestWithParam<const char*> {
 protected:
  // Calls `check` with configurations of the kernel.
  template <typename Check>
  void ForConfigs(Check check) {
    const auto module = hlo::ParseHloText(GetParam());
    ASSERT_TRUE(module.ok());
    const hlo::TiledKernel kernel(*module);
    const hlo::TileSpace space(kernel);
    int checked = 0;
    const int64_t step = std::max<int64_t>(space.tile_count() / 30, 1);
    for (int64_t i = 0; i < space.tile_count(); i += step) {
      hlo::KernelConfig config;
      config.tile = space.TileAt(i);
      config.order =
          i % 2 == 0 ? hlo::GridOrder::kRow : hlo::GridOrder::kColumn;
      if (hlo::TileRegions(kernel, config.tile).tile_count() > 3000) continue;
      check(kernel, config);
      ++checked;
    }
    EXPECT_GT(checked, 3);
  }
};

// What all tiles need, and how often, is what a walk to each of them finds.
TEST_P(TileWalkTest, ClassesStandForAllTiles) {
  ForConfigs(
      [](const hlo::TiledKernel& kernel, const hlo::KernelConfig& config) {
        const TileWalk walk(kernel, config);
        const hlo::TileRegions tiles(kernel, config.tile);
        ASSERT_EQ(walk.tile_count(), static_cast<double>(tiles.tile_count()));
        hlo::IdMap<double> expected;
        for (const auto& position : Positions(kernel, config, tiles)) {
          const auto regions = tiles.At(position);
          for (const hlo::InstructionId id : kernel.instructions()) {
            expected[id] += static_cast<double>(regions.at(id).touched);
          }
        }
        for (const hlo::InstructionId id : kernel.instructions()) {
          double elements = 0;
          double count = 0;
          for (const TileWalk::Class& tile : walk.classes()) {
            elements +=
                tile.tiles * static_cast<double>(tile.regions.at(id).touched);
            count += tile.tiles;
          }
          EXPECT_NEAR(count, walk.tile_count(), 1e-6 * count);
          EXPECT_NEAR(elements, expected.at(id), 1e-6 * elements)
              << kernel.computation()[id].name();
        }
      });
}

TEST_P(TileWalkTest, ChangesAreThoseOfAWalkThroughAllTiles) {
  ForConfigs([](const hlo::TiledKernel& kernel,
                const hlo::KernelConfig& config) {
    const TileWalk walk(kernel, config);
    const hlo::TileRegions tiles(kernel, config.tile);
    // Elements that are transferred: of each tile that is unlike the one
    // before.
    std::map<hlo::InstructionId, double> expected;
    std::map<hlo::InstructionId, hlo::Region> before;
    for (const auto& position : Positions(kernel, config, tiles)) {
      const auto regions = tiles.At(position);
      for (const hlo::InstructionId id : kernel.instructions()) {
        const hlo::Region& region = regions.at(id);
        const auto [known, is_new] = before.try_emplace(id, region);
        if (!is_new && known->second == region) continue;
        known->second = region;
        expected[id] += static_cast<double>(region.touched);
      }
    }
    for (const hlo::InstructionId id : kernel.instructions()) {
      double mean = 0;
      for (const TileWalk::Class& tile : walk.classes()) {
        mean += tile.tiles / walk.tile_count() *
                static_cast<double>(tile.regions.at(id).touched);
      }
      EXPECT_NEAR(walk.Changes(id) * mean, expected[id], 1e-6 * expected[id])
          << kernel.computation()[id].name() << ' '
          << hlo::PrintKernelConfig(config);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Kernels, TileWalkTest,
                         testing::Values(kReduction, kConcatenate, kWindows));

TEST(TileWalkTest, GridsWithoutTilesHaveNoClasses) {
  const auto module = hlo::ParseHloText(
      "HloModule k\n\nENTRY e {\n  a = f32[0,7] parameter(0)\n"
      "  ROOT n = f32[0,7] negate(a)\n}\n");
  ASSERT_TRUE(module.ok());
  const hlo::TiledKernel kernel(*module);
  hlo::KernelConfig config;
  config.tile = hlo::TileSpace(kernel).TileAt(0);
  const TileWalk walk(kernel, config);
  EXPECT_EQ(walk.tile_count(), 0);
  EXPECT_TRUE(walk.classes().empty());
}

}  // namespace
}  // namespace hone::costmodels
