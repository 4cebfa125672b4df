#include "gtest/gtest.h"

#include "tests/hlo/passes/entry.h"

namespace hone::hlo {
namespace {

constexpr char kPass[] = "batch-dot-simplification";

TEST(BatchDotSimplification, DropsBatchesOfOne) {
  ExpectEntryRewrites(kPass, R"(
  a = f32[1,2,5,4] parameter(0)
  b = f32[1,2,4,3] parameter(1)
  ROOT d = f32[1,2,5,3] dot(a, b), lhs_batch_dims={0,1}, lhs_contracting_dims={3}, rhs_batch_dims={0,1}, rhs_contracting_dims={2})",
                      R"(
  a = f32[1,2,5,4] parameter(0)
  b = f32[1,2,4,3] parameter(1)
  ar = f32[2,5,4] reshape(a)
  br = f32[2,4,3] reshape(b)
  d = f32[2,5,3] dot(ar, br), lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={1}
  ROOT r = f32[1,2,5,3] reshape(d))");
}

TEST(BatchDotSimplification, KeepsOtherDots) {
  ExpectEntryUnchanged(kPass, R"(
  a = f32[2,1,4] parameter(0)
  b = f32[2,4,3] parameter(1)
  x = f32[1,4,4] parameter(2)
  y = f32[4,1,4] parameter(3)
  d = f32[2,1,3] dot(a, b), lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={1}
  e = f32[1,4,4] dot(x, y), lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={1}, rhs_contracting_dims={0}
  f = f32[1] dot(x, x), lhs_batch_dims={0}, lhs_contracting_dims={1,2}, rhs_batch_dims={0}, rhs_contracting_dims={1,2}
  ROOT t = (f32[2,1,3], f32[1,4,4], f32[1]) tuple(d, e, f))");
}

TEST(BatchDotSimplification, KeepsTypeAndAttributes) {
  ExpectEntryRewrites("batch-dot-simplification", R"(
  a = bf16[1,5,4] parameter(0)
  b = bf16[1,4,3] parameter(1)
  ROOT d = f32[1,5,3] dot(a, b), lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={1}, operand_precision={high,high}, sharding={replicated})",
                      R"(
  a = bf16[1,5,4] parameter(0)
  b = bf16[1,4,3] parameter(1)
  ar = bf16[5,4] reshape(a)
  br = bf16[4,3] reshape(b)
  d = f32[5,3] dot(ar, br), lhs_contracting_dims={1}, rhs_contracting_dims={0}, operand_precision={high,high}
  ROOT r = f32[1,5,3] reshape(d), sharding={replicated})");
}

}  // namespace
}  // namespace hone::hlo
