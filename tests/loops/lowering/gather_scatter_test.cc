#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"

#include "tests/loops/lowering/lowered.h"

namespace hone::loops {
namespace {

constexpr char kRegions[] = R"(
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
last {
  a = f32[] parameter(0)
  ROOT b = f32[] parameter(1)
}
mix {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  half = f32[] constant(0.5)
  h = f32[] multiply(a, half)
  ROOT c = f32[] subtract(h, b)
}
both {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  c = f32[] parameter(2)
  d = f32[] parameter(3)
  s = f32[] add(a, d)
  p = f32[] multiply(b, c)
  ROOT t = (f32[], f32[]) tuple(s, p)
})";

TEST(LowerGather, RowsAndWindows) {
  // Random indices are below 8, so some are clamped.
  ExpectLowersRight(ModuleText(R"(
  x = f32[6,5] parameter(0)
  i = s32[3,2] parameter(1)
  n = f32[6,5] negate(x)
  r = f32[3,2,5] gather(n, i), offset_dims={2}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=2, slice_sizes={1,5}
  w = f32[2,3,4] gather(x, i), offset_dims={0,2}, collapsed_slice_dims={}, start_index_map={1,0}, index_vector_dim=1, slice_sizes={2,4}
  e = f32[2,3,4] exponential(w)
  ROOT t = (f32[3,2,5], f32[2,3,4]) tuple(r, e))"));
}

TEST(LowerGather, BatchDimensions) {
  ExpectLowersRight(ModuleText(R"(
  x = f32[4,6,3] parameter(0)
  i = s64[3,1,4] parameter(1)
  ROOT r = f32[3,4,2] gather(x, i), offset_dims={2}, collapsed_slice_dims={}, start_index_map={1}, operand_batching_dims={0,2}, start_indices_batching_dims={2,0}, index_vector_dim=1, slice_sizes={1,2,1})"));
}

TEST(LowerScatter, SumsAndOverwrites) {
  ExpectLowersRight(ModuleText(R"(
  x = f32[6,5] parameter(0)
  i = s32[3] parameter(1)
  u = f32[3,5] parameter(2)
  k = s32[2,2] parameter(3)
  v = f32[2,2,3] parameter(4)
  n = f32[3,5] negate(u)
  a = f32[6,5] scatter(x, i, n), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=sum
  b = f32[6,5] scatter(x, i, u), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=last
  c = f32[6,5] scatter(x, k, v), update_window_dims={1,2}, inserted_window_dims={}, scatter_dims_to_operand_dims={1,0}, index_vector_dim=1, to_apply=mix
  ROOT t = (f32[6,5], f32[6,5], f32[6,5]) tuple(a, b, c))",
                               kRegions));
}

TEST(LowerScatter, SeveralOperands) {
  ExpectLowersRight(ModuleText(R"(
  x = f32[6] parameter(0)
  y = f32[6] parameter(1)
  i = s32[4,1] parameter(2)
  u = f32[4] parameter(3)
  v = f32[4] parameter(4)
  ROOT a = (f32[6], f32[6]) scatter(x, y, i, u, v), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=both)",
                               kRegions));
}

}  // namespace
}  // namespace hone::loops
