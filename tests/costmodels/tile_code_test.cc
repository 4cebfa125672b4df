#include "costmodels/tile_code.h"

#include <string>

#include "gtest/gtest.h"

#include "hlo/text/parser.h"
#include "hlo/tiles/tile_space.h"
#include "tests/support/status_matchers.h"

namespace hone::costmodels {
namespace {

TileCode CodeOf(const std::string& text, const std::string& config) {
  const hlo::Module module = *hlo::ParseHloText(text);
  const hlo::TiledKernel kernel(module);
  const auto parsed = hlo::ParseKernelConfig(config);
  HONE_EXPECT_OK(parsed.status());
  HONE_EXPECT_OK(hlo::TileSpace(kernel).Check(*parsed));
  return TileCodeOf(kernel, *parsed, TileWalk(kernel, *parsed));
}

std::string Entry(const std::string& body) {
  return "HloModule m\n\nENTRY e {\n" + body + "}\n";
}

TEST(TileCode, ElementsFillLanes) {
  // 256 × 512: 32 × 4 registers. One of each row of registers is filled.
  const std::string rows = Entry(R"(
  a = f32[256] parameter(0)
  b = f32[256,512] parameter(1)
  w = f32[256,512] broadcast(a), dimensions={0}
  ROOT s = f32[256,512] add(b, w)
)");
  EXPECT_EQ(CodeOf(rows, "output=256,512").lane_broadcasts, 32);
  EXPECT_EQ(CodeOf(rows, "output=256,512").relayouts, 0);
  // Again for each tile of columns.
  EXPECT_EQ(CodeOf(rows, "output=64,128").lane_broadcasts, 4 * 32);
  const std::string columns = Entry(R"(
  a = f32[512] parameter(0)
  b = f32[256,512] parameter(1)
  w = f32[256,512] broadcast(a), dimensions={1}
  ROOT s = f32[256,512] add(b, w)
)");
  EXPECT_EQ(CodeOf(columns, "output=256,512").lane_broadcasts, 0);
}

TEST(TileCode, ValuesChangeTheirLanes) {
  const std::string transposed = Entry(R"(
  a = f32[512,256] parameter(0)
  b = f32[256,512] parameter(1)
  t = f32[256,512] transpose(a), dimensions={1,0}
  ROOT s = f32[256,512] add(b, t)
)");
  EXPECT_EQ(CodeOf(transposed, "output=256,512").relayouts, 2 * 128);
  // By the layouts in memory, not by the order of dimensions.
  const std::string swapped = Entry(R"(
  a = f32[256,512]{0,1} parameter(0)
  b = f32[256,512]{1,0} parameter(1)
  ROOT s = f32[256,512]{1,0} add(b, a)
)");
  EXPECT_EQ(CodeOf(swapped, "output=256,512").relayouts, 2 * 128);
  const std::string reshaped = Entry(R"(
  a = f32[256,4,128] parameter(0)
  r = f32[256,512] reshape(a)
  ROOT n = f32[256,512] negate(r)
)");
  EXPECT_EQ(CodeOf(reshaped, "output=256,512").relayouts, 2 * 128);
}

TEST(TileCode, OnlyOffsetsInsideOfRegistersCost) {
  const auto slice = [](const std::string& from) {
    return Entry(R"(
  a = f32[64,1024] parameter(0)
  s = f32[64,128] slice(a), slice={[0:64], [)" +
                 from + R"(]}
  ROOT n = f32[64,128] negate(s)
)");
  };
  EXPECT_EQ(CodeOf(slice("256:384"), "output=64,128").misaligned, 0);
  EXPECT_EQ(CodeOf(slice("192:320"), "output=64,128").misaligned, 8);
  const std::string joined = Entry(R"(
  a = f32[8,128] parameter(0)
  b = f32[8,100] parameter(1)
  c = f32[8,28] parameter(2)
  ROOT j = f32[8,256] concatenate(a, b, c), dimensions={1}
)");
  EXPECT_EQ(CodeOf(joined, "output=8,256").misaligned, 1);
}

TEST(TileCode, RowsOfIndices) {
  const std::string gather = Entry(R"(
  table = f32[1000,256] parameter(0)
  ids = s32[64,1] parameter(1)
  ROOT g = f32[64,256] gather(table, ids), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,256}
)");
  EXPECT_EQ(CodeOf(gather, "output=64,256").indexed_rows, 64);
  EXPECT_EQ(CodeOf(gather, "output=64,128").indexed_rows, 2 * 64);
}

TEST(TileCode, NarrowValuesAreUnpacked) {
  const auto sum = [](const std::string& type) {
    return Entry("  a = " + type + "[64,128] parameter(0)\n  b = " + type +
                 "[64,128] parameter(1)\n  ROOT s = " + type +
                 "[64,128] add(a, b)\n");
  };
  EXPECT_EQ(CodeOf(sum("f32"), "output=64,128").unpacked, 0);
  // Two operands and the result, 8 registers each.
  EXPECT_EQ(CodeOf(sum("bf16"), "output=64,128").unpacked, 3 * 8);
}

TEST(TileCode, PathsAndLiveValuesOfLoops) {
  const std::string one = Entry(R"(
  a = f32[64,128] parameter(0)
  ROOT n = f32[64,128] negate(a)
)");
  const std::string three = Entry(R"(
  a = f32[64,128] parameter(0)
  n = f32[64,128] negate(a)
  m = f32[64,128] multiply(n, a)
  ROOT s = f32[64,128] add(m, a)
)");
  // 8 registers, unrolled by 4: two iterations.
  const TileCode simple = CodeOf(one, "output=64,128 unroll=4");
  EXPECT_EQ(simple.iterations, 2);
  EXPECT_EQ(CodeOf(one, "output=64,128 unroll=1").iterations, 8);
  EXPECT_EQ(CodeOf(one, "output=8,128 unroll=4").iterations, 8);
  const TileCode chain = CodeOf(three, "output=64,128 unroll=4");
  EXPECT_EQ(chain.iterations, 2);
  EXPECT_EQ(chain.path_steps - simple.path_steps, 2 * 2);
  EXPECT_EQ(simple.live, 2 * 4);
  EXPECT_EQ(chain.live, 3 * 4);
}

TEST(TileCode, RandomNumbersAreValuesOfLoops) {
  const TileCode code = CodeOf(Entry(R"(
  low = f32[] parameter(0)
  high = f32[] parameter(1)
  r = f32[64,128] rng(low, high), distribution=rng_uniform
  ROOT n = f32[64,128] negate(r)
)"),
                               "output=64,128 unroll=4");
  EXPECT_EQ(code.iterations, 2);
  EXPECT_EQ(code.path_steps, 2 * (2 + 1));
  // The numbers and both limits.
  EXPECT_EQ(code.live, 3 * 4);
}

TEST(TileCode, ReductionsAlongLanesLeaveARegisterOfEachRow) {
  const auto sums = [](const std::string& dimension, const std::string& left) {
    return R"(HloModule sums

add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y)
}
ENTRY e {
  a = f32[256,512] parameter(0)
  zero = f32[] constant(0)
  ROOT r = f32[)" +
           left + "] reduce(a, zero), dimensions={" + dimension +
           "}, to_apply=add\n}\n";
  };
  EXPECT_EQ(CodeOf(sums("1", "256"), "output=256 reduction=512").partial_lanes,
            32);
  EXPECT_EQ(CodeOf(sums("0", "512"), "output=512 reduction=256").partial_lanes,
            0);
}

TEST(TileCode, ProductsStreamRows) {
  const std::string product = Entry(R"(
  a = f32[512,1024] parameter(0)
  b = f32[1024,256] parameter(1)
  ROOT d = f32[512,256] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
)");
  const TileCode code = CodeOf(product, "output=512,256 reduction=1024");
  EXPECT_EQ(code.streamed_rows, 512 / 8 * 2 * 8);
  EXPECT_EQ(code.partial_results, 512 / 8 * 2 * 7);
  // The terms of `a` run along lanes, those of `b` along sublanes.
  EXPECT_EQ(code.transposed[0], 0);
  EXPECT_EQ(code.transposed[1], 1024 / 8 * 2);
}

}  // namespace
}  // namespace hone::costmodels
