#include <utility>

#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"

#include "tests/hlo/passes/entry.h"
#include "tests/hlo/passes/golden.h"

namespace hone::hlo {
namespace {

constexpr char kPass[] = "dot_decomposer";

TEST(DotDecomposer, MergesAndMovesDimensions) {
  ExpectEntryRewrites(kPass, R"(
  a = f32[4,7,5,3] parameter(0)
  b = f32[6,3,2,4] parameter(1)
  ROOT d = f32[7,5,6,2] dot(a, b), lhs_contracting_dims={0,3}, rhs_contracting_dims={3,1})",
                      R"(
  a = f32[4,7,5,3] parameter(0)
  b = f32[6,3,2,4] parameter(1)
  at = f32[7,5,4,3] transpose(a), dimensions={1,2,0,3}
  ar = f32[35,12] reshape(at)
  bt = f32[4,3,6,2] transpose(b), dimensions={3,1,0,2}
  br = f32[12,12] reshape(bt)
  d = f32[35,12] dot(ar, br), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT r = f32[7,5,6,2] reshape(d))");
}

TEST(DotDecomposer, PutsBatchDimensionsInFront) {
  ExpectEntryRewrites(kPass, R"(
  a = f32[2,7,3,5] parameter(0)
  b = f32[2,9,3,5] parameter(1)
  ROOT d = f32[2,3,7,9] dot(a, b), lhs_batch_dims={0,2}, lhs_contracting_dims={3}, rhs_batch_dims={0,2}, rhs_contracting_dims={3}, operand_precision={highest,highest})",
                      R"(
  a = f32[2,7,3,5] parameter(0)
  b = f32[2,9,3,5] parameter(1)
  at = f32[2,3,7,5] transpose(a), dimensions={0,2,1,3}
  bt = f32[2,3,5,9] transpose(b), dimensions={0,2,3,1}
  ROOT d = f32[2,3,7,9] dot(at, bt), lhs_batch_dims={0,1}, lhs_contracting_dims={3}, rhs_batch_dims={0,1}, rhs_contracting_dims={2}, operand_precision={highest,highest})");
}

TEST(DotDecomposer, GivesAnOuterProductAContractingDimension) {
  ExpectEntryRewrites(kPass, R"(
  a = f32[3] parameter(0)
  b = f32[4] parameter(1)
  ROOT d = f32[3,4] dot(a, b))",
                      R"(
  a = f32[3] parameter(0)
  b = f32[4] parameter(1)
  ar = f32[3,1] reshape(a)
  br = f32[1,4] reshape(b)
  ROOT d = f32[3,4] dot(ar, br), lhs_contracting_dims={1}, rhs_contracting_dims={0})");
}

TEST(DotDecomposer, DropsDimensionsOfSizeOne) {
  ExpectEntryRewrites(kPass, R"(
  a = f32[1,1,4] parameter(0)
  b = f32[4,3] parameter(1)
  ROOT d = f32[1,1,3] dot(a, b), lhs_contracting_dims={2}, rhs_contracting_dims={0})",
                      R"(
  a = f32[1,1,4] parameter(0)
  b = f32[4,3] parameter(1)
  ar = f32[4] reshape(a)
  d = f32[3] dot(ar, b), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  ROOT r = f32[1,1,3] reshape(d))");
}

TEST(DotDecomposer, KeepsCanonicalDots) {
  ExpectEntryUnchanged(kPass, R"(
  a = f32[5,4] parameter(0)
  b = f32[4,3] parameter(1)
  v = f32[4] parameter(2)
  x = f32[2,4,5] parameter(3)
  y = f32[2,3,4] parameter(4)
  d = f32[5,3] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  e = f32[5] dot(a, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  f = f32[2,5,3] dot(x, y), lhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_batch_dims={0}, rhs_contracting_dims={2}
  ROOT t = (f32[5,3], f32[5], f32[2,5,3]) tuple(d, e, f))");
}

TEST(DotDecomposer, LeavesShardedDots) {
  ExpectEntryUnchanged(kPass, R"(
  a = f32[2,5,4] parameter(0)
  b = f32[4,3] parameter(1)
  ROOT d = f32[2,5,3] dot(a, b), lhs_contracting_dims={2}, rhs_contracting_dims={0}, sharding={devices=[2,1,1]0,1})");
}

TEST(DotDecomposer, KeepsTypesAndOrderOfBatches) {
  for (const auto& [operand, result] :
       {std::pair("bf16", "f32"), std::pair("s8", "s32"),
        std::pair("u8", "u32"), std::pair("c64", "c64"),
        std::pair("f8e5m2", "f32"), std::pair("f16", "f16")}) {
    SCOPED_TRACE(operand);
    ExpectKeepsMeaning(kPass, Entry(absl::StrReplaceAll(
                                  R"(
  a = $A[3,4,2,5] parameter(0)
  b = $A[5,2,3,6] parameter(1)
  ROOT d = $R[2,3,4,6] dot(a, b), lhs_batch_dims={2,0}, lhs_contracting_dims={3}, rhs_batch_dims={1,2}, rhs_contracting_dims={0})",
                                  {{"$A", operand}, {"$R", result}})));
  }
}

TEST(DotDecomposer, TakesEmptySums) {
  ExpectKeepsMeaning(kPass, Entry(R"(
  a = f32[0,3,4] parameter(0)
  b = f32[4,0,2] parameter(1)
  ROOT d = f32[3,2] dot(a, b), lhs_contracting_dims={0,2}, rhs_contracting_dims={1,0})"));
}

}  // namespace
}  // namespace hone::hlo
