#include "gtest/gtest.h"

#include "tests/hlo/passes/entry.h"
#include "tests/hlo/passes/golden.h"

namespace hone::hlo {
namespace {

constexpr char kPass[] = "dot-merger";

TEST(DotMerger, JoinsRightOperands) {
  ExpectEntryRewrites(kPass, R"(
  a = f32[8,4] parameter(0)
  b = f32[4,3] parameter(1)
  c = f32[4,5] parameter(2)
  d = f32[8,3] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  e = f32[8,5] dot(a, c), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT t = (f32[8,3], f32[8,5]) tuple(d, e))",
                      R"(
  a = f32[8,4] parameter(0)
  b = f32[4,3] parameter(1)
  c = f32[4,5] parameter(2)
  bc = f32[4,8] concatenate(b, c), dimensions={1}
  m = f32[8,8] dot(a, bc), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  d = f32[8,3] slice(m), slice={[0:8], [0:3]}
  e = f32[8,5] slice(m), slice={[0:8], [3:8]}
  ROOT t = (f32[8,3], f32[8,5]) tuple(d, e))");
}

TEST(DotMerger, JoinsThreeLeftOperandsOfABatch) {
  ExpectEntryRewrites(kPass, R"(
  a = f32[2,1,4] parameter(0)
  b = f32[2,3,4] parameter(1)
  c = f32[2,4,4] parameter(2)
  w = f32[2,4,5] parameter(3)
  d = f32[2,1,5] dot(a, w), lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={1}
  e = f32[2,3,5] dot(b, w), lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={1}
  f = f32[2,4,5] dot(c, w), lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={1}
  ROOT t = (f32[2,1,5], f32[2,3,5], f32[2,4,5]) tuple(d, e, f))",
                      R"(
  a = f32[2,1,4] parameter(0)
  b = f32[2,3,4] parameter(1)
  c = f32[2,4,4] parameter(2)
  w = f32[2,4,5] parameter(3)
  abc = f32[2,8,4] concatenate(a, b, c), dimensions={1}
  m = f32[2,8,5] dot(abc, w), lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={1}
  d = f32[2,1,5] slice(m), slice={[0:2], [0:1], [0:5]}
  e = f32[2,3,5] slice(m), slice={[0:2], [1:4], [0:5]}
  f = f32[2,4,5] slice(m), slice={[0:2], [4:8], [0:5]}
  ROOT t = (f32[2,1,5], f32[2,3,5], f32[2,4,5]) tuple(d, e, f))");
}

TEST(DotMerger, KeepsDotsThatDependOnEachOther) {
  ExpectEntryUnchanged(kPass, R"(
  a = f32[4,4] parameter(0)
  b = f32[4,4] parameter(1)
  d = f32[4,4] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  n = f32[4,4] tanh(d)
  ROOT e = f32[4,4] dot(a, n), lhs_contracting_dims={1}, rhs_contracting_dims={0})");
}

// Once b and c are merged, the merged dot needs what e gives: e must not join.
TEST(DotMerger, SeesDependenciesThroughTheGroup) {
  ExpectEntryRewrites(kPass, R"(
  a = f32[4,4] parameter(0)
  b = f32[4,4] parameter(1)
  c = f32[4,4] parameter(2)
  d = f32[4,4] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  n = f32[4,4] tanh(d)
  f = f32[4,4] dot(a, c), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  e = f32[4,4] dot(a, n), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT t = (f32[4,4], f32[4,4]) tuple(e, f))",
                      R"(
  a = f32[4,4] parameter(0)
  b = f32[4,4] parameter(1)
  c = f32[4,4] parameter(2)
  bc = f32[4,8] concatenate(b, c), dimensions={1}
  m = f32[4,8] dot(a, bc), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  d = f32[4,4] slice(m), slice={[0:4], [0:4]}
  n = f32[4,4] tanh(d)
  f = f32[4,4] slice(m), slice={[0:4], [4:8]}
  e = f32[4,4] dot(a, n), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT t = (f32[4,4], f32[4,4]) tuple(e, f))");
}

TEST(DotMerger, KeepsDotsThatDiffer) {
  ExpectEntryUnchanged(kPass, R"(
  a = f32[4,4] parameter(0)
  b = f32[4,4] parameter(1)
  c = f32[4,4] parameter(2)
  d = f32[4,4] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  e = f32[4,4] dot(a, c), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  f = f32[4,4] dot(a, c), lhs_contracting_dims={1}, rhs_contracting_dims={0}, operand_precision={highest,highest}
  ROOT t = (f32[4,4], f32[4,4], f32[4,4]) tuple(d, e, f))");
}

TEST(DotMerger, KeepsTypesAndCarriesAttributes) {
  ExpectEntryRewrites(kPass, R"(
  a = bf16[8,4] parameter(0)
  b = bf16[4,3] parameter(1)
  c = bf16[4,5] parameter(2)
  d = f32[8,3] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}, operand_precision={high,highest}, sharding={replicated}
  e = f32[8,5] dot(a, c), lhs_contracting_dims={1}, rhs_contracting_dims={0}, operand_precision={high,highest}, sharding={replicated}
  f = bf16[8,5] dot(a, c), lhs_contracting_dims={1}, rhs_contracting_dims={0}, operand_precision={high,highest}, sharding={replicated}
  ROOT t = (f32[8,3], f32[8,5], bf16[8,5]) tuple(d, e, f))",
                      R"(
  a = bf16[8,4] parameter(0)
  b = bf16[4,3] parameter(1)
  c = bf16[4,5] parameter(2)
  bc = bf16[4,8] concatenate(b, c), dimensions={1}
  m = f32[8,8] dot(a, bc), lhs_contracting_dims={1}, rhs_contracting_dims={0}, operand_precision={high,highest}
  d = f32[8,3] slice(m), slice={[0:8], [0:3]}, sharding={replicated}
  e = f32[8,5] slice(m), slice={[0:8], [3:8]}, sharding={replicated}
  f = bf16[8,5] dot(a, c), lhs_contracting_dims={1}, rhs_contracting_dims={0}, operand_precision={high,highest}, sharding={replicated}
  ROOT t = (f32[8,3], f32[8,5], bf16[8,5]) tuple(d, e, f))");
}

// d runs before e by control only.
TEST(DotMerger, SeesControlDependencies) {
  ExpectEntryUnchanged(kPass, R"(
  a = f32[4,4] parameter(0)
  b = f32[4,4] parameter(1)
  c = f32[4,4] parameter(2)
  d = f32[4,4] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  n = f32[4,4] negate(d)
  k = f32[4,4] abs(c), control-predecessors={n}
  e = f32[4,4] dot(a, k), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT t = (f32[4,4], f32[4,4]) tuple(n, e))");
}

TEST(DotMerger, JoinsEmptyOperands) {
  ExpectKeepsMeaning(kPass, Entry(R"(
  a = f32[8,0] parameter(0)
  b = f32[0,3] parameter(1)
  c = f32[0,0] parameter(2)
  d = f32[8,3] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  e = f32[8,0] dot(a, c), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT t = (f32[8,3], f32[8,0]) tuple(d, e))"));
}

}  // namespace
}  // namespace hone::hlo
