#include "gtest/gtest.h"

#include "tests/hlo/passes/entry.h"

namespace hone::hlo {
namespace {

void ExpectFolds(const char* before, const char* after) {
  ExpectEntryRewrites("transpose-folding", before, after);
}
void ExpectKept(const char* body) {
  ExpectEntryUnchanged("transpose-folding", body);
}

TEST(TransposeFolding, FoldsBothOperandsOfADot) {
  ExpectFolds(R"(
  a = f32[4,2] parameter(0)
  b = f32[3,4] parameter(1)
  at = f32[2,4] transpose(a), dimensions={1,0}
  bt = f32[4,3] transpose(b), dimensions={1,0}
  ROOT d = f32[2,3] dot(at, bt), lhs_contracting_dims={1}, rhs_contracting_dims={0})",
              R"(
  a = f32[4,2] parameter(0)
  b = f32[3,4] parameter(1)
  ROOT d = f32[2,3] dot(a, b), lhs_contracting_dims={0}, rhs_contracting_dims={1})");
}

TEST(TransposeFolding, FoldsBesideBatchDimensions) {
  ExpectFolds(R"(
  a = f32[2,3,7] parameter(0)
  b = f32[2,3,6] parameter(1)
  at = f32[2,7,3] transpose(a), dimensions={0,2,1}
  ROOT d = f32[2,7,6] dot(at, b), lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={1})",
              R"(
  a = f32[2,3,7] parameter(0)
  b = f32[2,3,6] parameter(1)
  ROOT d = f32[2,7,6] dot(a, b), lhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_batch_dims={0}, rhs_contracting_dims={1})");
}

TEST(TransposeFolding, KeepsATransposeThatMovesBatchDimensions) {
  ExpectKept(R"(
  a = f32[7,2,3] parameter(0)
  b = f32[2,3,6] parameter(1)
  at = f32[2,7,3] transpose(a), dimensions={1,0,2}
  ROOT d = f32[2,7,6] dot(at, b), lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={1})");
}

TEST(TransposeFolding, LeavesDotsWithVectors) {
  ExpectKept(R"(
  a = f32[4,2] parameter(0)
  b = f32[4] parameter(1)
  at = f32[2,4] transpose(a), dimensions={1,0}
  ROOT d = f32[2] dot(at, b), lhs_contracting_dims={1}, rhs_contracting_dims={0})");
}

TEST(TransposeFolding, KeepsATransposeThatOrdersTheResult) {
  ExpectKept(R"(
  a = f32[4,2,5] parameter(0)
  b = f32[4,3] parameter(1)
  at = f32[5,2,4] transpose(a), dimensions={2,1,0}
  ROOT d = f32[5,2,3] dot(at, b), lhs_contracting_dims={2}, rhs_contracting_dims={0})");
}

TEST(TransposeFolding, KeepsATransposeForItsOtherUsers) {
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

TEST(TransposeFolding, LeavesConvolutions) {
  ExpectKept(R"(
  x = f32[2,9,1] parameter(0)
  k = f32[3,2,4] parameter(1)
  xt = f32[1,9,2] transpose(x), dimensions={2,1,0}
  ROOT c = f32[1,7,4] convolution(xt, k), window={size=3}, dim_labels=b0f_0io->b0f)");
}

}  // namespace
}  // namespace hone::hlo
