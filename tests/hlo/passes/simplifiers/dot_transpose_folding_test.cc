#include "gtest/gtest.h"

#include "tests/hlo/passes/entry.h"

namespace hone::hlo {
namespace {

void ExpectFolds(const char* before, const char* after) {
  ExpectEntryRewrites("dot-transpose-folding", before, after);
}
void ExpectKept(const char* body) {
  ExpectEntryUnchanged("dot-transpose-folding", body);
}

TEST(DotTransposeFolding, RenamesBatchDimensions) {
  ExpectFolds(R"(
  a = f32[2,5,7,3] parameter(0)
  b = f32[2,5,3,6] parameter(1)
  at = f32[5,7,2,3] transpose(a), dimensions={1,2,0,3}
  ROOT d = f32[2,5,7,6] dot(at, b), lhs_batch_dims={2,0}, lhs_contracting_dims={3}, rhs_batch_dims={0,1}, rhs_contracting_dims={2})",
              R"(
  a = f32[2,5,7,3] parameter(0)
  b = f32[2,5,3,6] parameter(1)
  ROOT d = f32[2,5,7,6] dot(a, b), lhs_batch_dims={0,1}, lhs_contracting_dims={3}, rhs_batch_dims={0,1}, rhs_contracting_dims={2})");
}

TEST(DotTransposeFolding, KeepsATransposeThatOrdersTheResult) {
  ExpectKept(R"(
  a = f32[4,2,5] parameter(0)
  b = f32[4,3] parameter(1)
  at = f32[5,2,4] transpose(a), dimensions={2,1,0}
  ROOT d = f32[5,2,3] dot(at, b), lhs_contracting_dims={2}, rhs_contracting_dims={0})");
}

TEST(DotTransposeFolding, KeepsATransposeForItsOtherUsers) {
  ExpectFolds(R"(
  a = f32[4,2] parameter(0)
  b = f32[4,3] parameter(1)
  at = f32[2,4] transpose(a), dimensions={1,0}
  d = f32[2,3] dot(at, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT t = (f32[2,3], f32[2,4]) tuple(d, at))",
              R"(
  a = f32[4,2] parameter(0)
  b = f32[4,3] parameter(1)
  at = f32[2,4] transpose(a), dimensions={1,0}
  d = f32[2,3] dot(a, b), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  ROOT t = (f32[2,3], f32[2,4]) tuple(d, at))");
}

TEST(DotTransposeFolding, FoldsChainsOfTransposes) {
  ExpectFolds(R"(
  a = f32[4,3,2] parameter(0)
  b = f32[4,3,5] parameter(1)
  s = f32[3,2,4] transpose(a), dimensions={1,2,0}
  t = f32[2,4,3] transpose(s), dimensions={1,2,0}
  ROOT d = f32[2,5] dot(t, b), lhs_contracting_dims={1,2}, rhs_contracting_dims={0,1})",
              R"(
  a = f32[4,3,2] parameter(0)
  b = f32[4,3,5] parameter(1)
  ROOT d = f32[2,5] dot(a, b), lhs_contracting_dims={0,1}, rhs_contracting_dims={0,1})");
}

TEST(DotTransposeFolding, KeepsTypeAndAttributes) {
  ExpectEntryRewrites("dot-transpose-folding", R"(
  a = bf16[4,2] parameter(0)
  b = bf16[4,3] parameter(1)
  at = bf16[2,4] transpose(a), dimensions={1,0}
  ROOT d = f32[2,3] dot(at, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}, operand_precision={high,high}, sharding={replicated})",
                      R"(
  a = bf16[4,2] parameter(0)
  b = bf16[4,3] parameter(1)
  ROOT d = f32[2,3] dot(a, b), lhs_contracting_dims={0}, rhs_contracting_dims={0}, operand_precision={high,high}, sharding={replicated})");
}

}  // namespace
}  // namespace hone::hlo
