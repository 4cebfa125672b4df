#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"

#include "tests/hlo/passes/entry.h"
#include "tests/hlo/passes/golden.h"

namespace hone::hlo {
namespace {

constexpr char kPass[] = "batched_gather_scatter_normalizer";

TEST(BatchedGatherScatterNormalizer, AddsTheBatchToTheIndex) {
  ExpectEntryRewrites(kPass, R"(
  table = f32[2,9,4] parameter(0)
  at = s32[5,2,1] parameter(1)
  ROOT g = f32[5,2,4] gather(table, at), offset_dims={2}, collapsed_slice_dims={1}, start_index_map={1}, operand_batching_dims={0}, start_indices_batching_dims={1}, index_vector_dim=2, slice_sizes={1,1,4})",
                      R"(
  table = f32[2,9,4] parameter(0)
  at = s32[5,2,1] parameter(1)
  batch = s32[5,2,1] iota(), iota_dimension=1
  both = s32[5,2,2] concatenate(batch, at), dimensions={2}
  ROOT g = f32[5,2,4] gather(table, both), offset_dims={2}, collapsed_slice_dims={0,1}, start_index_map={0,1}, index_vector_dim=2, slice_sizes={1,1,4})");
}

TEST(BatchedGatherScatterNormalizer, WritesOutAnImpliedIndexVector) {
  ExpectEntryRewrites(kPass, R"(
  table = f32[9,2] parameter(0)
  at = s32[2,5] parameter(1)
  updates = f32[2,5] parameter(2)
  ROOT s = f32[9,2] scatter(table, at, updates), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, input_batching_dims={1}, scatter_indices_batching_dims={0}, index_vector_dim=2, unique_indices=true, indices_are_sorted=true, to_apply=sum)",
                      R"(
  table = f32[9,2] parameter(0)
  at = s32[2,5] parameter(1)
  updates = f32[2,5] parameter(2)
  vectors = s32[2,5,1] reshape(at)
  batch = s32[2,5,1] iota(), iota_dimension=0
  both = s32[2,5,2] concatenate(batch, vectors), dimensions={2}
  ROOT s = f32[9,2] scatter(table, both, updates), update_window_dims={}, inserted_window_dims={0,1}, scatter_dims_to_operand_dims={1,0}, index_vector_dim=2, unique_indices=true, to_apply=sum)");
}

TEST(BatchedGatherScatterNormalizer, WidensIndicesThatCannotHoldTheBatch) {
  ExpectEntryRewrites(kPass, R"(
  table = f32[300,4] parameter(0)
  at = u8[300,1] parameter(1)
  ROOT g = f32[300] gather(table, at), offset_dims={}, collapsed_slice_dims={1}, start_index_map={1}, operand_batching_dims={0}, start_indices_batching_dims={0}, index_vector_dim=1, slice_sizes={1,1})",
                      R"(
  table = f32[300,4] parameter(0)
  at = u8[300,1] parameter(1)
  wide = s32[300,1] convert(at)
  batch = s32[300,1] iota(), iota_dimension=0
  both = s32[300,2] concatenate(batch, wide), dimensions={1}
  ROOT g = f32[300] gather(table, both), offset_dims={}, collapsed_slice_dims={0,1}, start_index_map={0,1}, index_vector_dim=1, slice_sizes={1,1})");
}

TEST(BatchedGatherScatterNormalizer, KeepsOthers) {
  ExpectEntryUnchanged(kPass, R"(
  table = f32[9,8] parameter(0)
  rows = s32[2,5] parameter(1)
  ROOT g = f32[2,5,8] gather(table, rows), offset_dims={2}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=2, slice_sizes={1,8})");
}

TEST(BatchedGatherScatterNormalizer, KeepsSortednessOnlyUnderALeadingBatch) {
  for (const bool leads : {true, false}) {
    SCOPED_TRACE(leads);
    const Module module = ExpectKeepsMeaning(
        kPass, Entry(absl::StrReplaceAll(R"(
  table = f32[2,9] parameter(0)
  at = s32[$SIZES,1] parameter(1)
  ROOT g = f32[$SIZES] gather(table, at), offset_dims={}, collapsed_slice_dims={1}, start_index_map={1}, operand_batching_dims={0}, start_indices_batching_dims={$BATCH}, index_vector_dim=2, slice_sizes={1,1}, indices_are_sorted=true)",
                                         {{"$SIZES", leads ? "2,5" : "5,2"},
                                          {"$BATCH", leads ? "0" : "1"}})));
    const Computation& entry = module.entry_computation();
    EXPECT_EQ(entry[entry.root()].attributes().indices_are_sorted, leads);
  }
}

TEST(BatchedGatherScatterNormalizer, TakesNarrowIndicesAndSeveralBatches) {
  for (const char* type : {"s8", "u8", "u16", "s64", "u4"}) {
    SCOPED_TRACE(type);
    ExpectKeepsMeaning(kPass, EntryWithRegions(absl::StrReplaceAll(
                                  R"(
  table = f32[200,3,9] parameter(0)
  at = $T[3,200] parameter(1)
  updates = f32[3,200] parameter(2)
  ROOT s = f32[200,3,9] scatter(table, at, updates), update_window_dims={}, inserted_window_dims={2}, scatter_dims_to_operand_dims={2}, input_batching_dims={0,1}, scatter_indices_batching_dims={1,0}, index_vector_dim=2, to_apply=sum)",
                                  {{"$T", type}})));
  }
}

}  // namespace
}  // namespace hone::hlo
