#include "hlo/tiles/register_moves.h"

#include <string>

#include "gtest/gtest.h"

#include "hlo/text/parser.h"
#include "hlo/tiles/tile_regions.h"
#include "tests/support/status_matchers.h"

namespace hone::hlo {
namespace {

// The move of the root's first operand in a computation of these lines.
RegisterMove MoveIn(const std::string& lines) {
  const auto module =
      ParseHloText("HloModule m\n\nENTRY e {\n" + lines + "}\n");
  HONE_EXPECT_OK(module.status());
  const Computation& entry = module->entry_computation();
  return MoveOf(entry, entry[entry.root()], 0);
}

TEST(RegisterMoves, BroadcastsFillWhatTheirOperandLacks) {
  EXPECT_EQ(MoveIn(R"(
  a = f32[16,8] parameter(0)
  ROOT b = f32[16,8,128] broadcast(a), dimensions={0,1}
)"),
            RegisterMove::kFillLanes);
  EXPECT_EQ(MoveIn(R"(
  a = f32[16,128] parameter(0)
  ROOT b = f32[16,8,128] broadcast(a), dimensions={0,2}
)"),
            RegisterMove::kFillSublanes);
  EXPECT_EQ(MoveIn(R"(
  a = f32[8,128] parameter(0)
  ROOT b = f32[16,8,128] broadcast(a), dimensions={1,2}
)"),
            RegisterMove::kNone);
  EXPECT_EQ(MoveIn(R"(
  a = f32[128,8] parameter(0)
  ROOT b = f32[16,8,128] broadcast(a), dimensions={2,1}
)"),
            RegisterMove::kChangeLanes);
  EXPECT_EQ(MoveIn(R"(
  a = f32[] parameter(0)
  ROOT b = f32[16,8,128] broadcast(a), dimensions={}
)"),
            RegisterMove::kNone);
}

TEST(RegisterMoves, TransposesAreJudgedByWhatRunsAlongLanes) {
  const auto transpose = [](const std::string& shape, const std::string& to) {
    return MoveIn("  a = f32[4,8,128] parameter(0)\n  ROOT t = f32" + shape +
                  " transpose(a), dimensions=" + to + "\n");
  };
  EXPECT_EQ(transpose("[4,128,8]", "{0,2,1}"), RegisterMove::kChangeLanes);
  EXPECT_EQ(transpose("[8,4,128]", "{1,0,2}"), RegisterMove::kChangeSublanes);
  // By layouts, not by the order of dimensions.
  EXPECT_EQ(transpose("[4,128,8]{1,2,0}", "{0,2,1}"), RegisterMove::kNone);
}

TEST(RegisterMoves, ReshapesKeepLanesIfTheMinorDimensionStays) {
  const auto reshape = [](const std::string& from, const std::string& to) {
    return MoveIn("  a = f32" + from + " parameter(0)\n  ROOT r = f32" + to +
                  " reshape(a)\n");
  };
  EXPECT_EQ(reshape("[4,16,100]", "[64,100]"), RegisterMove::kNone);
  EXPECT_EQ(reshape("[4,6,100]", "[24,100]"), RegisterMove::kChangeSublanes);
  EXPECT_EQ(reshape("[64,100]", "[100,64]"), RegisterMove::kChangeLanes);
  // Arrays of one dimension fill whole registers.
  EXPECT_EQ(reshape("[128]", "[1,128]"), RegisterMove::kChangeLanes);
  EXPECT_EQ(reshape("[1]", "[]"), RegisterMove::kNone);
}

TEST(RegisterMoves, OperandsOfOtherLayoutsChangeLanes) {
  EXPECT_EQ(MoveIn(R"(
  a = f32[16,128]{0,1} parameter(0)
  ROOT n = f32[16,128]{1,0} negate(a)
)"),
            RegisterMove::kChangeLanes);
  EXPECT_EQ(MoveIn(R"(
  a = f32[16,128]{0,1} parameter(0)
  ROOT n = f32[16,128]{0,1} negate(a)
)"),
            RegisterMove::kNone);
  EXPECT_EQ(MoveIn(R"(
  a = f32[16,128]{0,1} parameter(0)
  ROOT s = f32[8,128]{1,0} slice(a), slice={[0:8], [0:128]}
)"),
            RegisterMove::kNone);
}

TEST(RegisterMoves, OffsetsInsideOfRegistersAreNotAligned) {
  const RegisterDimensions dimensions = {.lane = 2, .sublane = 1};
  EXPECT_TRUE(IsAligned(dimensions, 0, 1));
  EXPECT_TRUE(IsAligned(dimensions, 1, 16));
  EXPECT_FALSE(IsAligned(dimensions, 1, 4));
  EXPECT_TRUE(IsAligned(dimensions, 2, -256));
  EXPECT_FALSE(IsAligned(dimensions, 2, 16));
  EXPECT_TRUE(IsAligned(RegisterDimensions(), 0, 1));
}

TEST(RegisterMoves, RegistersAreCombinedBeforeWhatIsInsideOfThem) {
  const Shape shape(ElementType::kF32, {4, 64, 512});
  const Box box = {{0, 4}, {0, 64}, {0, 512}};
  EXPECT_EQ(CombinedRegisters(shape, box, {}), 4 * 8 * 4);
  EXPECT_EQ(CombinedRegisters(shape, box, {2}), 4 * 8);
  EXPECT_EQ(CombinedRegisters(shape, box, {0, 1}), 4);
  EXPECT_EQ(CombinedRegisters(shape, {{0, 4}, {0, 0}, {0, 512}}, {1}), 0);
}

TEST(RegisterMoves, IndicesSaySlicesOfResultsAndOfUpdates) {
  const auto module = ParseHloText(R"(HloModule m

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT sum = f32[] add(a, b)
}

ENTRY e {
  t = f32[100,32] parameter(0)
  i = s32[6] parameter(1)
  u = f32[6,32] parameter(2)
  g = f32[6,32] gather(t, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,32}
  w = f32[6,32] add(g, u)
  ROOT s = f32[100,32] scatter(t, i, w), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add
})");
  HONE_ASSERT_OK(module.status());
  const Computation& entry = module->entry_computation();
  const TiledKernel kernel(*module);
  const TileRegions regions(kernel, {.output = {100, 32}, .reduction = {}});
  const IdMap<Region> tile = regions.At({0, 0});
  int found = 0;
  for (const InstructionId id : kernel.instructions()) {
    const auto slices = IndexedSlicesOf(entry, entry[id], tile);
    if (!slices) continue;
    ++found;
    EXPECT_EQ(slices->count, 6);
    EXPECT_EQ(slices->array, entry[id].opcode() == Opcode::kScatter
                                 ? entry[id].operand(2)
                                 : id);
  }
  EXPECT_EQ(found, 2);
}

}  // namespace
}  // namespace hone::hlo
