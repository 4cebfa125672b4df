#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"

#include "tests/hlo/passes/entry.h"
#include "tests/hlo/passes/golden.h"

namespace hone::hlo {
namespace {

constexpr char kPass[] = "gather_expander";

TEST(GatherExpander, SlicesOneWindow) {
  ExpectEntryRewrites(kPass, R"(
  a = f32[9,7,8] parameter(0)
  at = s32[1,2] parameter(1)
  ROOT g = f32[1,7,4] gather(a, at), offset_dims={1,2}, collapsed_slice_dims={0}, start_index_map={2,0}, index_vector_dim=1, slice_sizes={1,7,4})",
                      R"(
  a = f32[9,7,8] parameter(0)
  at = s32[1,2] parameter(1)
  v = s32[2] reshape(at)
  v0 = s32[1] slice(v), slice={[0:1]}
  s0 = s32[] reshape(v0)
  v1 = s32[1] slice(v), slice={[1:2]}
  s1 = s32[] reshape(v1)
  zero = s32[] constant(0)
  ROOT d = f32[1,7,4] dynamic-slice(a, s1, zero, s0), dynamic_slice_sizes={1,7,4})");
}

TEST(GatherExpander, TakesAScalarIndex) {
  ExpectEntryRewrites(kPass, R"(
  a = f32[9] parameter(0)
  i = s32[] parameter(1)
  ROOT g = f32[] gather(a, i), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=0, slice_sizes={1})",
                      R"(
  a = f32[9] parameter(0)
  i = s32[] parameter(1)
  d = f32[1] dynamic-slice(a, i), dynamic_slice_sizes={1}
  ROOT r = f32[] reshape(d))");
}

TEST(GatherExpander, BroadcastsTheWholeOperand) {
  ExpectEntryRewrites(kPass, R"(
  a = f32[1,8] parameter(0)
  at = s32[3,5,1] parameter(1)
  ROOT g = f32[3,8,5] gather(a, at), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=2, slice_sizes={1,8})",
                      R"(
  a = f32[1,8] parameter(0)
  at = s32[3,5,1] parameter(1)
  r = f32[8] reshape(a)
  ROOT b = f32[3,8,5] broadcast(r), dimensions={1})");
}

TEST(GatherExpander, KeepsSeveralWindows) {
  ExpectEntryUnchanged(kPass, R"(
  a = f32[9,8] parameter(0)
  at = s32[2,1] parameter(1)
  ROOT g = f32[2,8] gather(a, at), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,8})");
}

// The elements of the result that windows of size 0 leave are no reshape of
// what is there.
TEST(GatherExpander, KeepsEmptyWindows) {
  ExpectEntryUnchanged(kPass, R"(
  a = f32[0] parameter(0)
  at = s32[2,1] parameter(1)
  ROOT g = f32[2] gather(a, at), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={0})");
  ExpectEntryUnchanged(kPass, R"(
  a = f32[3,4] parameter(0)
  at = s32[1] parameter(1)
  ROOT g = f32[2] gather(a, at), offset_dims={0}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=0, slice_sizes={0,2})");
}

// Indices out of bounds are clamped, and the last place of a window may be out
// of the range of their type.
TEST(GatherExpander, ClampsIndicesOfEveryType) {
  for (const char* type : {"s8", "u8", "s16", "u32", "s64", "u64"}) {
    for (const char* index : {"0", "5", "127", "-3", "-1"}) {
      if (type[0] == 'u' && index[0] == '-') continue;
      SCOPED_TRACE(absl::StrCat(type, " ", index));
      ExpectKeepsMeaning(kPass, Entry(absl::StrReplaceAll(
                                    R"(
  a = f32[300] parameter(0)
  at = $T[1] constant({$I})
  ROOT g = f32[4] gather(a, at), offset_dims={0}, collapsed_slice_dims={}, start_index_map={0}, index_vector_dim=0, slice_sizes={4})",
                                    {{"$T", type}, {"$I", index}})));
    }
  }
  ExpectKeepsMeaning(kPass, Entry(R"(
  a = f32[9] parameter(0)
  at = u64[1] constant({18446744073709551615})
  ROOT g = f32[4] gather(a, at), offset_dims={0}, collapsed_slice_dims={}, start_index_map={0}, index_vector_dim=0, slice_sizes={4})"));
}

TEST(GatherExpander, TakesBatchesOfOne) {
  ExpectKeepsMeaning(kPass, Entry(R"(
  a = f32[1,9] parameter(0)
  at = s32[1,1] parameter(1)
  ROOT g = f32[1,4] gather(a, at), offset_dims={1}, collapsed_slice_dims={}, start_index_map={1}, operand_batching_dims={0}, start_indices_batching_dims={0}, index_vector_dim=1, slice_sizes={1,4})"));
}

}  // namespace
}  // namespace hone::hlo
