#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "hlo/text/printer.h"
#include "tests/hlo/passes/entry.h"
#include "tests/hlo/passes/golden.h"

namespace hone::hlo {
namespace {

constexpr char kPass[] = "gemv-rewriter";

TEST(GemvRewriter, GivesTheRightVectorAColumn) {
  ExpectEntryRewrites(kPass, R"(
  a = f32[5,4] parameter(0)
  b = f32[4] parameter(1)
  ROOT d = f32[5] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0})",
                      R"(
  a = f32[5,4] parameter(0)
  b = f32[4] parameter(1)
  c = f32[4,1] reshape(b)
  d = f32[5,1] dot(a, c), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT r = f32[5] reshape(d))");
}

TEST(GemvRewriter, GivesTheLeftVectorARow) {
  ExpectEntryRewrites(kPass, R"(
  a = f32[2,4] parameter(0)
  b = f32[2,4,3] parameter(1)
  ROOT d = f32[2,3] dot(a, b), lhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_batch_dims={0}, rhs_contracting_dims={1})",
                      R"(
  a = f32[2,4] parameter(0)
  b = f32[2,4,3] parameter(1)
  c = f32[2,4,1] reshape(a)
  d = f32[2,1,3] dot(c, b), lhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_batch_dims={0}, rhs_contracting_dims={1}
  ROOT r = f32[2,3] reshape(d))");
}

TEST(GemvRewriter, KeepsOtherProducts) {
  ExpectEntryUnchanged(kPass, R"(
  a = f32[5,4] parameter(0)
  b = f32[4,3] parameter(1)
  v = f32[4] parameter(2)
  x = f32[2,5,4] parameter(3)
  m = f32[5,3] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  s = f32[] dot(v, v), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  y = f32[2,5] dot(x, v), lhs_contracting_dims={2}, rhs_contracting_dims={0}
  ROOT t = (f32[5,3], f32[], f32[2,5]) tuple(m, s, y))");
}

TEST(GemvRewriter, KeepsTypesAndPrecision) {
  const Module module = ExpectKeepsMeaning(kPass, Entry(R"(
  a = bf16[4,2,5] parameter(0)
  b = bf16[2,4] parameter(1)
  ROOT d = f32[2,5] dot(a, b), lhs_batch_dims={1}, lhs_contracting_dims={0}, rhs_batch_dims={0}, rhs_contracting_dims={1}, operand_precision={highest,highest})"));
  EXPECT_THAT(PrintModule(module),
              ::testing::HasSubstr("operand_precision={highest,highest}"));
}

}  // namespace
}  // namespace hone::hlo
