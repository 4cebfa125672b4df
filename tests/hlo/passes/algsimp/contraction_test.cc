#include "gtest/gtest.h"

#include "tests/hlo/passes/entry.h"

namespace hone::hlo {
namespace {

void ExpectSimplifies(const char* before, const char* after) {
  ExpectEntryRewrites("algsimp", before, after);
}
void ExpectKept(const char* body) { ExpectEntryUnchanged("algsimp", body); }

TEST(AlgsimpDot, OfNothingIsZero) {
  ExpectSimplifies(R"(
  a = f32[2,0] parameter(0)
  b = f32[0,3] parameter(1)
  ROOT d = f32[2,3] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0})",
                   R"(
  a = f32[2,0] parameter(0)
  b = f32[0,3] parameter(1)
  z = f32[] constant(0)
  ROOT d = f32[2,3] broadcast(z), dimensions={})");
}

TEST(AlgsimpDot, MovesNegationsOut) {
  ExpectSimplifies(R"(
  a = f32[2,4] parameter(0)
  b = f32[4,3] parameter(1)
  c = f32[2,3] parameter(2)
  n = f32[2,4] negate(a)
  d = f32[2,3] dot(n, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT s = f32[2,3] add(c, d))",
                   R"(
  a = f32[2,4] parameter(0)
  b = f32[4,3] parameter(1)
  c = f32[2,3] parameter(2)
  d = f32[2,3] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT s = f32[2,3] subtract(c, d))");
}

TEST(AlgsimpDot, KeepsNegationsOfIntegersThatItWidens) {
  ExpectKept(R"(
  a = s8[2,4] parameter(0)
  b = s8[4,3] parameter(1)
  n = s8[2,4] negate(a)
  ROOT d = s32[2,3] dot(n, b), lhs_contracting_dims={1}, rhs_contracting_dims={0})");
}

TEST(AlgsimpConvolution, PadsItself) {
  ExpectSimplifies(R"(
  x = f32[1,5,2] parameter(0)
  k = f32[3,2,4] parameter(1)
  z = f32[] constant(0)
  p = f32[1,12,2] pad(x, z), padding=0_0x1_2_1x0_0
  ROOT c = f32[1,10,4] convolution(p, k), window={size=3}, dim_labels=b0f_0io->b0f)",
                   R"(
  x = f32[1,5,2] parameter(0)
  k = f32[3,2,4] parameter(1)
  ROOT c = f32[1,10,4] convolution(x, k), window={size=3 pad=1_2 lhs_dilate=2}, dim_labels=b0f_0io->b0f)");
  ExpectKept(R"(
  x = f32[1,5,2] parameter(0)
  k = f32[3,3,4] parameter(1)
  z = f32[] constant(0)
  p = f32[1,5,3] pad(x, z), padding=0_0x0_0x0_1
  ROOT c = f32[1,3,4] convolution(p, k), window={size=3}, dim_labels=b0f_0io->b0f)");
}

TEST(AlgsimpConvolution, DilatesItsKernel) {
  ExpectSimplifies(R"(
  x = f32[1,9,2] parameter(0)
  k = f32[3,2,4] parameter(1)
  z = f32[] constant(0)
  p = f32[5,2,4] pad(k, z), padding=0_0_1x0_0x0_0
  ROOT c = f32[1,5,4] convolution(x, p), window={size=5}, dim_labels=b0f_0io->b0f)",
                   R"(
  x = f32[1,9,2] parameter(0)
  k = f32[3,2,4] parameter(1)
  ROOT c = f32[1,5,4] convolution(x, k), window={size=3 rhs_dilate=2}, dim_labels=b0f_0io->b0f)");
}

// XLA:CPU's convolutions are several times slower with reversed windows.
TEST(AlgsimpConvolution, KeepsAReversedKernel) {
  ExpectKept(R"(
  x = f32[1,9,2] parameter(0)
  k = f32[3,2,4] parameter(1)
  q = f32[3,2,4] reverse(k), dimensions={0}
  ROOT c = f32[1,7,4] convolution(x, q), window={size=3}, dim_labels=b0f_0io->b0f)");
}

}  // namespace
}  // namespace hone::hlo
