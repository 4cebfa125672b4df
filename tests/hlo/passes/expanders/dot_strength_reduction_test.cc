#include <utility>

#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"

#include "tests/hlo/passes/entry.h"
#include "tests/hlo/passes/golden.h"

namespace hone::hlo {
namespace {

constexpr char kPass[] = "dot-strength-reduction";

TEST(DotStrengthReduction, MultipliesAndSums) {
  ExpectRewrites(kPass, R"(
HloModule m
ENTRY e {
  a = f32[2,4,5] parameter(0)
  b = f32[2,4] parameter(1)
  ROOT d = f32[2,5] dot(a, b), lhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_batch_dims={0}, rhs_contracting_dims={1}
})",
                 R"(
HloModule m
scalar_add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT s = f32[] add(x, y)
}
ENTRY e {
  a = f32[2,4,5] parameter(0)
  b = f32[2,4] parameter(1)
  at = f32[2,5,4] transpose(a), dimensions={0,2,1}
  bb = f32[2,5,4] broadcast(b), dimensions={0,2}
  p = f32[2,5,4] multiply(at, bb)
  zero = f32[] constant(0)
  ROOT r = f32[2,5] reduce(p, zero), dimensions={2}, to_apply=scalar_add
})");
}

TEST(DotStrengthReduction, UsesARegionThatIsThere) {
  ExpectEntryRewrites(kPass, R"(
  a = bf16[4] parameter(0)
  b = bf16[3,4] parameter(1)
  x = f32[6] parameter(2)
  zero = f32[] constant(0)
  s = f32[] reduce(x, zero), dimensions={0}, to_apply=sum
  d = bf16[3] dot(a, b), lhs_contracting_dims={0}, rhs_contracting_dims={1}
  ROOT t = (f32[], bf16[3]) tuple(s, d))",
                      R"(
  a = bf16[4] parameter(0)
  b = bf16[3,4] parameter(1)
  x = f32[6] parameter(2)
  zero = f32[] constant(0)
  s = f32[] reduce(x, zero), dimensions={0}, to_apply=sum
  ac = f32[4] convert(a)
  ab = f32[3,4] broadcast(ac), dimensions={1}
  bc = f32[3,4] convert(b)
  p = f32[3,4] multiply(ab, bc)
  nought = f32[] constant(0)
  r = f32[3] reduce(p, nought), dimensions={1}, to_apply=sum
  d = bf16[3] convert(r)
  ROOT t = (f32[], bf16[3]) tuple(s, d))");
}

TEST(DotStrengthReduction, BroadcastsOuterProducts) {
  ExpectEntryRewrites(kPass, R"(
  a = f32[4] parameter(0)
  s = f32[] parameter(1)
  ROOT d = f32[4] dot(a, s))",
                      R"(
  a = f32[4] parameter(0)
  s = f32[] parameter(1)
  b = f32[4] broadcast(s), dimensions={}
  ROOT p = f32[4] multiply(a, b))");
}

TEST(DotStrengthReduction, KeepsMatrixProductsAndLargeOnes) {
  ExpectEntryUnchanged(kPass, R"(
  a = f32[5,4] parameter(0)
  b = f32[4,3] parameter(1)
  m = f32[10000,1000] parameter(2)
  v = f32[1000] parameter(3)
  d = f32[5,3] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  e = f32[10000] dot(m, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT t = (f32[5,3], f32[10000]) tuple(d, e))");
}

TEST(DotStrengthReduction, ComputesInTheTypeOfTheDot) {
  for (const auto& [operand, result] :
       {std::pair("bf16", "f32"), std::pair("s8", "s32"), std::pair("u8", "u8"),
        std::pair("c64", "c64"), std::pair("f16", "f16"),
        std::pair("f8e5m2", "bf16"), std::pair("s32", "f32")}) {
    SCOPED_TRACE(operand);
    ExpectKeepsMeaning(kPass, Entry(absl::StrReplaceAll(
                                  R"(
  a = $A[3,40] parameter(0)
  b = $A[40] parameter(1)
  ROOT d = $R[3] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0})",
                                  {{"$A", operand}, {"$R", result}})));
  }
}

// The sum leaves the range of f16 on the way to 0, and that of f8 as well.
TEST(DotStrengthReduction, SumsNarrowTypesInF32) {
  for (const char* type : {"f16", "f8e4m3fn", "f8e5m2"}) {
    SCOPED_TRACE(type);
    ExpectKeepsMeaning(kPass, Entry(absl::StrReplaceAll(
                                  R"(
  a = $T[6] constant({224, 224, 224, -224, -224, -224})
  b = $T[6] constant({224, 224, 224, 224, 224, 224})
  ROOT d = $T[] dot(a, b), lhs_contracting_dims={0}, rhs_contracting_dims={0})",
                                  {{"$T", type}})));
  }
}

TEST(DotStrengthReduction, TakesEmptySums) {
  ExpectKeepsMeaning(kPass, Entry(R"(
  a = f32[3,0] parameter(0)
  b = f32[0] parameter(1)
  ROOT d = f32[3] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0})"));
}

TEST(DotStrengthReduction, KeepsWhatAConversionWouldNarrow) {
  ExpectEntryUnchanged(kPass, R"(
  a = f64[3,4] parameter(0)
  b = f64[4] parameter(1)
  ROOT d = f32[3] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0})");
  ExpectEntryUnchanged(kPass, R"(
  a = f32[3,4] parameter(0)
  b = f32[4] parameter(1)
  ROOT d = f32[3] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0})",
                       {.numerics = Numerics::kExact});
}

}  // namespace
}  // namespace hone::hlo
