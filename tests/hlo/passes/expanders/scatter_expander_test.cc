#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"

#include "tests/hlo/passes/entry.h"
#include "tests/hlo/passes/golden.h"

namespace hone::hlo {
namespace {

constexpr char kPass[] = "scatter_expander";

TEST(ScatterExpander, UpdatesOneWindow) {
  ExpectEntryRewrites(kPass, R"(
  a = f32[9,8] parameter(0)
  at = s32[1,1] parameter(1)
  u = f32[1,8] parameter(2)
  ROOT s = f32[9,8] scatter(a, at, u), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=sum)",
                      R"(
  a = f32[9,8] parameter(0)
  at = s32[1,1] parameter(1)
  u = f32[1,8] parameter(2)
  i = s32[] reshape(at)
  first = s32[] constant(0)
  ge = pred[] compare(i, first), direction=GE
  last = s32[] constant(8)
  le = pred[] compare(i, last), direction=LE
  in = pred[] and(ge, le)
  zero = s32[] constant(0)
  old = f32[1,8] dynamic-slice(a, i, zero), dynamic_slice_sizes={1,8}
  new = f32[1,8] add(old, u)
  mask = pred[1,8] broadcast(in), dimensions={}
  w = f32[1,8] select(mask, new, old)
  ROOT s = f32[9,8] dynamic-update-slice(a, w, i, zero))");
}

// Windows out of bounds, which the equality check draws too, change nothing.
TEST(ScatterExpander, ReplacesWithoutACombiner) {
  ExpectRewrites(kPass, R"(
HloModule m
second {
  x = f32[] parameter(0)
  ROOT y = f32[] parameter(1)
}
ENTRY e {
  a = f32[9] parameter(0)
  i = s32[] parameter(1)
  u = f32[4] parameter(2)
  ROOT s = f32[9] scatter(a, i, u), update_window_dims={0}, inserted_window_dims={}, scatter_dims_to_operand_dims={0}, index_vector_dim=0, to_apply=second
})",
                 R"(
HloModule m
second {
  x = f32[] parameter(0)
  ROOT y = f32[] parameter(1)
}
ENTRY e {
  a = f32[9] parameter(0)
  i = s32[] parameter(1)
  u = f32[4] parameter(2)
  first = s32[] constant(0)
  ge = pred[] compare(i, first), direction=GE
  last = s32[] constant(5)
  le = pred[] compare(i, last), direction=LE
  in = pred[] and(ge, le)
  old = f32[4] dynamic-slice(a, i), dynamic_slice_sizes={4}
  mask = pred[4] broadcast(in), dimensions={}
  w = f32[4] select(mask, u, old)
  ROOT s = f32[9] dynamic-update-slice(a, w, i)
})");
}

TEST(ScatterExpander, DropsEmptyUpdates) {
  ExpectEntryRewrites(kPass, R"(
  a = f32[9,8] parameter(0)
  at = s32[0,1] parameter(1)
  u = f32[0,8] parameter(2)
  s = f32[9,8] scatter(a, at, u), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=sum
  ROOT n = f32[9,8] negate(s))",
                      R"(
  a = f32[9,8] parameter(0)
  at = s32[0,1] parameter(1)
  u = f32[0,8] parameter(2)
  ROOT n = f32[9,8] negate(a))");
}

TEST(ScatterExpander, KeepsSeveralWindows) {
  ExpectEntryUnchanged(kPass, R"(
  a = f32[9,8] parameter(0)
  at = s32[2,1] parameter(1)
  u = f32[2,8] parameter(2)
  ROOT s = f32[9,8] scatter(a, at, u), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=sum)");
}

// Windows out of bounds are left out, whatever the type of the index.
TEST(ScatterExpander, TakesIndicesOfEveryType) {
  for (const char* type : {"s8", "u8", "s16", "u32", "s64", "u64"}) {
    for (const char* index : {"0", "5", "6", "127", "-1", "-128"}) {
      if (type[0] == 'u' && index[0] == '-') continue;
      SCOPED_TRACE(absl::StrCat(type, " ", index));
      ExpectKeepsMeaning(kPass, EntryWithRegions(absl::StrReplaceAll(
                                    R"(
  a = f32[9] parameter(0)
  i = $T[] constant($I)
  u = f32[4] parameter(1)
  ROOT s = f32[9] scatter(a, i, u), update_window_dims={0}, inserted_window_dims={}, scatter_dims_to_operand_dims={0}, index_vector_dim=0, to_apply=maximum)",
                                    {{"$T", type}, {"$I", index}})));
    }
  }
}

// An index cannot be compared with a bound that its type does not have.
TEST(ScatterExpander, KeepsIndicesTooNarrowForTheOperand) {
  ExpectEntryUnchanged(kPass, R"(
  a = f32[300] parameter(0)
  i = s8[] parameter(1)
  u = f32[4] parameter(2)
  ROOT s = f32[300] scatter(a, i, u), update_window_dims={0}, inserted_window_dims={}, scatter_dims_to_operand_dims={0}, index_vector_dim=0, to_apply=sum)");
}

TEST(ScatterExpander, DropsUpdatesOfAnEmptyOperand) {
  ExpectKeepsMeaning(kPass, EntryWithRegions(R"(
  a = f32[0] parameter(0)
  n = f32[0] negate(a)
  at = s32[1] parameter(1)
  u = f32[] parameter(2)
  s = f32[0] scatter(n, at, u), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=0, to_apply=sum
  ROOT r = f32[0] negate(s))"));
}

TEST(ScatterExpander, KeepsSeveralOperandsAndRegionsThatAreNoOperation) {
  ExpectUnchanged(kPass, R"(
HloModule m
difference {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] subtract(y, x)
}
both {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  c = f32[] parameter(2)
  d = f32[] parameter(3)
  ROOT r = (f32[], f32[]) tuple(c, b)
}
ENTRY e {
  a = f32[9] parameter(0)
  i = s32[] parameter(1)
  u = f32[4] parameter(2)
  s = f32[9] scatter(a, i, u), update_window_dims={0}, inserted_window_dims={}, scatter_dims_to_operand_dims={0}, index_vector_dim=0, to_apply=difference
  t = (f32[9], f32[9]) scatter(a, s, i, u, u), update_window_dims={0}, inserted_window_dims={}, scatter_dims_to_operand_dims={0}, index_vector_dim=0, to_apply=both
  ROOT r = f32[9] get-tuple-element(t), index=0
})");
}

}  // namespace
}  // namespace hone::hlo
