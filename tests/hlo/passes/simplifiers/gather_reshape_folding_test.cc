#include "gtest/gtest.h"

#include "tests/hlo/passes/entry.h"

namespace hone::hlo {
namespace {

TEST(GatherReshapeFolding, ReadsIndicesThroughAReshape) {
  ExpectEntryRewrites("gather-reshape-folding", R"(
  x = f32[8,4] parameter(0)
  i = s32[2,3] parameter(1)
  j = s32[2,3,1] reshape(i)
  ROOT g = f32[2,3,4] gather(x, j), offset_dims={2}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=2, slice_sizes={1,4})",
                      R"(
  x = f32[8,4] parameter(0)
  i = s32[2,3] parameter(1)
  ROOT g = f32[2,3,4] gather(x, i), offset_dims={2}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=2, slice_sizes={1,4})");
}

TEST(GatherReshapeFolding, TakesScatteredIndicesAndUpdatesThroughReshapes) {
  ExpectEntryRewrites("gather-reshape-folding", R"(
  x = f32[8,4] parameter(0)
  i = s32[3] parameter(1)
  u = f32[3,1,4] parameter(2)
  j = s32[3,1] reshape(i)
  v = f32[3,4] reshape(u)
  ROOT s = f32[8,4] scatter(x, j, v), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=sum)",
                      R"(
  x = f32[8,4] parameter(0)
  i = s32[3] parameter(1)
  u = f32[3,1,4] parameter(2)
  ROOT s = f32[8,4] scatter(x, i, u), update_window_dims={1,2}, inserted_window_dims={}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=sum)");
}

TEST(GatherReshapeFolding, KeepsAReshapeThatSplitsAnIndexVector) {
  ExpectEntryUnchanged("gather-reshape-folding", R"(
  x = f32[8,4] parameter(0)
  i = s32[4] parameter(1)
  j = s32[2,2] reshape(i)
  ROOT g = f32[2] gather(x, j), offset_dims={}, collapsed_slice_dims={0,1}, start_index_map={0,1}, index_vector_dim=1, slice_sizes={1,1})");
}

}  // namespace
}  // namespace hone::hlo
