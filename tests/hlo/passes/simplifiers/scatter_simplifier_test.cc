#include "gtest/gtest.h"

#include "tests/hlo/passes/entry.h"

namespace hone::hlo {
namespace {

constexpr char kPass[] = "scatter_simplifier";

TEST(ScatterSimplifier, ListsTheIndices) {
  ExpectEntryRewrites(kPass, R"(
  table = f32[9,8] parameter(0)
  rows = s32[2,5] parameter(1)
  updates = f32[2,5,8] parameter(2)
  ROOT s = f32[9,8] scatter(table, rows, updates), update_window_dims={2}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=2, to_apply=sum)",
                      R"(
  table = f32[9,8] parameter(0)
  rows = s32[2,5] parameter(1)
  updates = f32[2,5,8] parameter(2)
  list = s32[10,1] reshape(rows)
  windows = f32[10,1,8] reshape(updates)
  ROOT s = f32[9,8] scatter(table, list, windows), update_window_dims={1,2}, inserted_window_dims={}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=sum)");
}

TEST(ScatterSimplifier, MovesTheIndexVectorAndTheWindow) {
  ExpectEntryRewrites(kPass, R"(
  table = f32[9,8,7] parameter(0)
  at = s32[2,5] parameter(1)
  updates = f32[3,5,6] parameter(2)
  ROOT s = f32[9,8,7] scatter(table, at, updates), update_window_dims={0,2}, inserted_window_dims={1}, scatter_dims_to_operand_dims={2,1}, index_vector_dim=0, to_apply=sum)",
                      R"(
  table = f32[9,8,7] parameter(0)
  at = s32[2,5] parameter(1)
  updates = f32[3,5,6] parameter(2)
  list = s32[5,2] transpose(at), dimensions={1,0}
  t = f32[5,3,6] transpose(updates), dimensions={1,0,2}
  windows = f32[5,3,1,6] reshape(t)
  ROOT s = f32[9,8,7] scatter(table, list, windows), update_window_dims={1,2,3}, inserted_window_dims={}, scatter_dims_to_operand_dims={2,1}, index_vector_dim=1, to_apply=sum)");
}

TEST(ScatterSimplifier, TakesASingleIndex) {
  ExpectEntryRewrites(kPass, R"(
  v = f32[9] parameter(0)
  at = s32[1] parameter(1)
  u = f32[] parameter(2)
  ROOT s = f32[9] scatter(v, at, u), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=0, to_apply=maximum)",
                      R"(
  v = f32[9] parameter(0)
  at = s32[1] parameter(1)
  u = f32[] parameter(2)
  list = s32[1,1] reshape(at)
  window = f32[1,1] reshape(u)
  ROOT s = f32[9] scatter(v, list, window), update_window_dims={1}, inserted_window_dims={}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=maximum)");
}

TEST(ScatterSimplifier, KeepsSimpleAndBatchedScatters) {
  ExpectEntryUnchanged(kPass, R"(
  table = f32[9,8] parameter(0)
  list = s32[10,1] parameter(1)
  windows = f32[10,1,8] parameter(2)
  each = s32[9,3,1] parameter(3)
  values = f32[9,3] parameter(4)
  s = f32[9,8] scatter(table, list, windows), update_window_dims={1,2}, inserted_window_dims={}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=sum
  ROOT b = f32[9,8] scatter(s, each, values), update_window_dims={}, inserted_window_dims={1}, scatter_dims_to_operand_dims={1}, input_batching_dims={0}, scatter_indices_batching_dims={0}, index_vector_dim=2, to_apply=sum)");
}

TEST(ScatterSimplifier, KeepsScattersIntoEmptyArrays) {
  ExpectEntryUnchanged(kPass, R"(
  table = f32[0,4] parameter(0)
  rows = s32[2,1] parameter(1)
  updates = f32[2,4] parameter(2)
  ROOT s = f32[0,4] scatter(table, rows, updates), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=sum)");
}

TEST(ScatterSimplifier, KeepsWhatIsSaidOfTheIndices) {
  ExpectEntryRewrites(kPass, R"(
  table = f32[9,8] parameter(0)
  rows = u8[5] parameter(1)
  updates = f32[5,8] parameter(2)
  ROOT s = f32[9,8] scatter(table, rows, updates), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, indices_are_sorted=true, unique_indices=true, to_apply=sum, sharding={replicated})",
                      R"(
  table = f32[9,8] parameter(0)
  rows = u8[5] parameter(1)
  updates = f32[5,8] parameter(2)
  list = u8[5,1] reshape(rows)
  windows = f32[5,1,8] reshape(updates)
  ROOT s = f32[9,8] scatter(table, list, windows), update_window_dims={1,2}, inserted_window_dims={}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, indices_are_sorted=true, unique_indices=true, to_apply=sum, sharding={replicated})");
}

}  // namespace
}  // namespace hone::hlo
