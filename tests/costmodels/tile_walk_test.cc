#include "costmodels/tile_walk.h"

#include <cstdint>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "costmodels/tpu_analytical.h"
#include "hlo/text/parser.h"
#include "hlo/tiles/tile_space.h"

namespace hone::costmodels {
namespace {

// Two results, a reduction, and tiles of several sizes.
constexpr char kKernel[] = R"(HloModule k

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

TEST(TileWalkTest, FindsTheRegionsOfTilesOnce) {
  const auto module = hlo::ParseHloText(kKernel);
  ASSERT_TRUE(module.ok());
  const hlo::TiledKernel kernel(*module);
  const hlo::TileSpace space(kernel);
  for (int64_t i = 0; i < space.tile_count(); i += 7) {
    TileWalk walk(kernel, space.TileAt(i));
    const hlo::TileRegions own(kernel, space.TileAt(i));
    ASSERT_EQ(walk.tiles().grid(), own.grid());
    std::vector<const hlo::IdMap<hlo::Region>*> found;
    // All corners of the grid.
    for (size_t corner = 0; corner < 1U << own.grid().size(); ++corner) {
      std::vector<int64_t> position;
      for (size_t d = 0; d < own.grid().size(); ++d) {
        position.push_back((corner >> d) % 2 == 1 ? own.grid()[d] - 1 : 0);
      }
      const hlo::IdMap<hlo::Region>& regions = walk.At(position);
      found.push_back(&regions);
      const hlo::IdMap<hlo::Region> expected = own.At(position);
      for (const hlo::InstructionId id : kernel.instructions()) {
        EXPECT_EQ(regions.at(id).box, expected.at(id).box);
        EXPECT_EQ(regions.at(id).touched, expected.at(id).touched);
      }
      EXPECT_EQ(&walk.At(position), &regions);
    }
    EXPECT_EQ(found[0], &walk.At(std::vector<int64_t>(own.grid().size())));
  }
}

// Who looked at a tile before makes no difference.
TEST(TileWalkTest, SharedWalksGiveTheSameTotals) {
  const auto module = hlo::ParseHloText(kKernel);
  ASSERT_TRUE(module.ok());
  const hlo::TiledKernel kernel(*module);
  const hlo::TileSpace space(kernel);
  const TpuAnalytical model(kernel);
  for (int64_t i = 0; i < space.tile_count(); i += 7) {
    TileWalk walk(kernel, space.TileAt(i));
    for (const hlo::GridOrder order :
         {hlo::GridOrder::kRow, hlo::GridOrder::kColumn}) {
      hlo::KernelConfig config;
      config.tile = space.TileAt(i);
      config.order = order;
      const TpuTotals shared = model.TotalsOf(config, walk);
      const TpuTotals own = model.TotalsOf(config);
      EXPECT_EQ(shared.tiles, own.tiles);
      EXPECT_EQ(shared.bytes, own.bytes);
      EXPECT_EQ(shared.tile_bytes, own.tile_bytes);
      EXPECT_EQ(shared.vector_operations, own.vector_operations);
      EXPECT_EQ(shared.vmem_bytes, own.vmem_bytes);
      EXPECT_EQ(model.PredictNs(shared), model.PredictNs(own));
    }
  }
}

}  // namespace
}  // namespace hone::costmodels
