#include "gtest/gtest.h"

#include "tests/hlo/passes/entry.h"

namespace hone::hlo {
namespace {

void ExpectSimplifies(const char* before, const char* after) {
  ExpectEntryRewrites("algsimp", before, after);
}
void ExpectKept(const char* body) { ExpectEntryUnchanged("algsimp", body); }

TEST(AlgsimpGather, KeepsADimensionThatAReshapeInserts) {
  ExpectSimplifies(R"(
  x = f32[8,4] parameter(0)
  i = s32[3] parameter(1)
  g = f32[3,4] gather(x, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,4}
  ROOT r = f32[3,1,4] reshape(g))",
                   R"(
  x = f32[8,4] parameter(0)
  i = s32[3] parameter(1)
  ROOT g = f32[3,1,4] gather(x, i), offset_dims={1,2}, collapsed_slice_dims={}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,4})");
  // The collapsed dimension comes first in the operand, so it cannot be last.
  ExpectKept(R"(
  x = f32[8,4] parameter(0)
  i = s32[3] parameter(1)
  g = f32[3,4] gather(x, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,4}
  ROOT r = f32[3,4,1] reshape(g))");
}

TEST(AlgsimpDynamicSlice, AtConstantsIsASlice) {
  // The second index is out of bounds and moved into them.
  ExpectSimplifies(R"(
  x = f32[8,4] parameter(0)
  a = s32[] constant(2)
  b = s32[] constant(9)
  ROOT s = f32[3,2] dynamic-slice(x, a, b), dynamic_slice_sizes={3,2})",
                   R"(
  x = f32[8,4] parameter(0)
  ROOT s = f32[3,2] slice(x), slice={[2:5], [2:4]})");
}

TEST(AlgsimpDynamicSlice, OfEverythingIsItsOperand) {
  ExpectSimplifies(R"(
  x = f32[8] parameter(0)
  i = s32[] parameter(1)
  ROOT s = f32[8] dynamic-slice(x, i), dynamic_slice_sizes={8})",
                   R"(
  ROOT x = f32[8] parameter(0)
  i = s32[] parameter(1))");
}

TEST(AlgsimpDynamicUpdateSlice, ThatPutsBackWhatItTookIsItsOperand) {
  ExpectSimplifies(R"(
  x = f32[8] parameter(0)
  i = s32[] parameter(1)
  s = f32[3] dynamic-slice(x, i), dynamic_slice_sizes={3}
  ROOT u = f32[8] dynamic-update-slice(x, s, i))",
                   R"(
  ROOT x = f32[8] parameter(0)
  i = s32[] parameter(1))");
}

TEST(AlgsimpDynamicUpdateSlice, IntoAFillingIsAPad) {
  ExpectSimplifies(R"(
  u = f32[3] parameter(0)
  z = f32[] constant(0)
  x = f32[8] broadcast(z), dimensions={}
  i = s32[] constant(2)
  ROOT r = f32[8] dynamic-update-slice(x, u, i))",
                   R"(
  u = f32[3] parameter(0)
  z = f32[] constant(0)
  ROOT r = f32[8] pad(u, z), padding=2_3)");
}

TEST(AlgsimpTuple, TakesElementsDirectly) {
  ExpectSimplifies(R"(
  p = f32[] parameter(0)
  q = f32[4] parameter(1)
  t = (f32[], f32[4]) tuple(p, q)
  ROOT g = f32[4] get-tuple-element(t), index=1)",
                   R"(
  p = f32[] parameter(0)
  ROOT q = f32[4] parameter(1))");
  ExpectSimplifies(R"(
  t = (f32[], f32[4]) parameter(0)
  a = f32[] get-tuple-element(t), index=0
  b = f32[4] get-tuple-element(t), index=1
  ROOT u = (f32[], f32[4]) tuple(a, b))",
                   R"(
  ROOT t = (f32[], f32[4]) parameter(0))");
  ExpectKept(R"(
  t = (f32[], f32[4], f32[2]) parameter(0)
  a = f32[] get-tuple-element(t), index=0
  b = f32[4] get-tuple-element(t), index=1
  ROOT u = (f32[], f32[4]) tuple(a, b))");
}

}  // namespace
}  // namespace hone::hlo
