#include "gtest/gtest.h"

#include "tests/hlo/passes/entry.h"
#include "tests/hlo/passes/golden.h"

namespace hone::hlo {
namespace {

constexpr char kPass[] = "gather_simplifier";

TEST(GatherSimplifier, ListsTheIndices) {
  ExpectEntryRewrites(kPass, R"(
  table = f32[9,8] parameter(0)
  rows = s32[2,5] parameter(1)
  ROOT g = f32[2,5,8] gather(table, rows), offset_dims={2}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=2, slice_sizes={1,8}, indices_are_sorted=true)",
                      R"(
  table = f32[9,8] parameter(0)
  rows = s32[2,5] parameter(1)
  list = s32[10,1] reshape(rows)
  g = f32[10,1,8] gather(table, list), offset_dims={1,2}, collapsed_slice_dims={}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,8}, indices_are_sorted=true
  ROOT r = f32[2,5,8] reshape(g))");
}

TEST(GatherSimplifier, MovesTheIndexVectorAndTheWindow) {
  ExpectEntryRewrites(kPass, R"(
  table = f32[9,8,7] parameter(0)
  at = s32[2,5,4] parameter(1)
  ROOT g = f32[3,5,6,4] gather(table, at), offset_dims={0,2}, collapsed_slice_dims={1}, start_index_map={2,1}, index_vector_dim=0, slice_sizes={3,1,6})",
                      R"(
  table = f32[9,8,7] parameter(0)
  at = s32[2,5,4] parameter(1)
  t = s32[5,4,2] transpose(at), dimensions={1,2,0}
  list = s32[20,2] reshape(t)
  g = f32[20,3,1,6] gather(table, list), offset_dims={1,2,3}, collapsed_slice_dims={}, start_index_map={2,1}, index_vector_dim=1, slice_sizes={3,1,6}
  r = f32[5,4,3,6] reshape(g)
  ROOT p = f32[3,5,6,4] transpose(r), dimensions={2,0,3,1})");
}

TEST(GatherSimplifier, TakesASingleIndex) {
  ExpectEntryRewrites(kPass, R"(
  table = f32[9,8] parameter(0)
  at = s32[2] parameter(1)
  ROOT g = f32[4] gather(table, at), offset_dims={0}, collapsed_slice_dims={0}, start_index_map={0,1}, index_vector_dim=0, slice_sizes={1,4})",
                      R"(
  table = f32[9,8] parameter(0)
  at = s32[2] parameter(1)
  list = s32[1,2] reshape(at)
  g = f32[1,1,4] gather(table, list), offset_dims={1,2}, collapsed_slice_dims={}, start_index_map={0,1}, index_vector_dim=1, slice_sizes={1,4}
  ROOT r = f32[4] reshape(g))");
}

TEST(GatherSimplifier, BroadcastsAScalar) {
  ExpectEntryRewrites(kPass, R"(
  s = f32[] parameter(0)
  at = s32[3,0] parameter(1)
  ROOT g = f32[3] gather(s, at), offset_dims={}, collapsed_slice_dims={}, start_index_map={}, index_vector_dim=1, slice_sizes={})",
                      R"(
  s = f32[] parameter(0)
  at = s32[3,0] parameter(1)
  ROOT b = f32[3] broadcast(s), dimensions={})");
}

TEST(GatherSimplifier, KeepsSimpleAndBatchedGathers) {
  ExpectEntryUnchanged(kPass, R"(
  table = f32[9,8] parameter(0)
  list = s32[10,1] parameter(1)
  each = s32[9,3,1] parameter(2)
  g = f32[10,1,8] gather(table, list), offset_dims={1,2}, collapsed_slice_dims={}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,8}
  b = f32[9,3] gather(table, each), offset_dims={}, collapsed_slice_dims={1}, start_index_map={1}, operand_batching_dims={0}, start_indices_batching_dims={0}, index_vector_dim=2, slice_sizes={1,1}
  ROOT t = (f32[10,1,8], f32[9,3]) tuple(g, b))");
}

TEST(GatherSimplifier, CarriesAttributesToTheResult) {
  ExpectEntryRewrites(kPass, R"(
  table = pred[9,8] parameter(0)
  rows = u8[5] parameter(1)
  ROOT g = pred[5,8] gather(table, rows), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,8}, sharding={devices=[1,2]<=[2]})",
                      R"(
  table = pred[9,8] parameter(0)
  rows = u8[5] parameter(1)
  list = u8[5,1] reshape(rows)
  g = pred[5,1,8] gather(table, list), offset_dims={1,2}, collapsed_slice_dims={}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,8}
  ROOT r = pred[5,8] reshape(g), sharding={devices=[1,2]<=[2]})");
}

TEST(GatherSimplifier, GathersNothingFromEmptyWindows) {
  ExpectKeepsMeaning(kPass, Entry(R"(
  table = c64[9,8] parameter(0)
  rows = s64[5] parameter(1)
  ROOT g = c64[5,0] gather(table, rows), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,0})"));
}

}  // namespace
}  // namespace hone::hlo
