#include "gtest/gtest.h"

#include "tests/hlo/passes/entry.h"

namespace hone::hlo {
namespace {

void ExpectSimplifies(const char* before, const char* after,
                      Numerics numerics = Numerics::kReassociate) {
  RewriteOptions options;
  options.numerics = numerics;
  ExpectEntryRewrites("algsimp", before, after, options);
}
void ExpectKept(const char* body) { ExpectEntryUnchanged("algsimp", body); }

TEST(AlgsimpArithmetic, DropsNeutralOperands) {
  ExpectSimplifies(R"(
  p = f32[4] parameter(0)
  zero = f32[] constant(0)
  zeros = f32[4] broadcast(zero), dimensions={}
  one = f32[] constant(1)
  ones = f32[4] broadcast(one), dimensions={}
  a = f32[4] add(p, zeros)
  b = f32[4] subtract(a, zeros)
  c = f32[4] multiply(ones, b)
  d = f32[4] divide(c, ones)
  ROOT r = f32[4] tanh(d))",
                   R"(
  p = f32[4] parameter(0)
  ROOT r = f32[4] tanh(p))");
}

TEST(AlgsimpArithmetic, MultipliesIntegersByZeroButNotFloats) {
  ExpectSimplifies(R"(
  p = s32[4] parameter(0)
  zero = s32[] constant(0)
  zeros = s32[4] broadcast(zero), dimensions={}
  ROOT r = s32[4] multiply(p, zeros))",
                   R"(
  p = s32[4] parameter(0)
  zero = s32[] constant(0)
  ROOT zeros = s32[4] broadcast(zero), dimensions={})");
  ExpectKept(R"(
  p = f32[4] parameter(0)
  zero = f32[] constant(0)
  zeros = f32[4] broadcast(zero), dimensions={}
  ROOT r = f32[4] multiply(p, zeros))");
}

TEST(AlgsimpArithmetic, SubtractsIntegersFromThemselvesButNotFloats) {
  ExpectSimplifies(R"(
  p = s32[4] parameter(0)
  ROOT r = s32[4] subtract(p, p))",
                   R"(
  p = s32[4] parameter(0)
  zero = s32[] constant(0)
  ROOT zeros = s32[4] broadcast(zero), dimensions={})");
  ExpectKept(R"(
  p = f32[4] parameter(0)
  ROOT r = f32[4] subtract(p, p))");
}

TEST(AlgsimpArithmetic, AbsorbsNegationsInSums) {
  ExpectSimplifies(R"(
  p = f32[4] parameter(0)
  q = f32[4] parameter(1)
  n = f32[4] negate(q)
  ROOT r = f32[4] add(p, n))",
                   R"(
  p = f32[4] parameter(0)
  q = f32[4] parameter(1)
  ROOT r = f32[4] subtract(p, q))");
  ExpectSimplifies(R"(
  p = f32[4] parameter(0)
  q = f32[4] parameter(1)
  n = f32[4] negate(q)
  ROOT r = f32[4] subtract(p, n))",
                   R"(
  p = f32[4] parameter(0)
  q = f32[4] parameter(1)
  ROOT r = f32[4] add(p, q))");
}

TEST(AlgsimpArithmetic, KeepsANegationThatOthersUse) {
  ExpectKept(R"(
  p = f32[4] parameter(0)
  q = f32[4] parameter(1)
  n = f32[4] negate(q)
  s = f32[4] add(p, n)
  ROOT t = (f32[4], f32[4]) tuple(s, n))");
}

TEST(AlgsimpArithmetic, MovesNegationsOutOfProducts) {
  ExpectSimplifies(R"(
  p = f32[4] parameter(0)
  q = f32[4] parameter(1)
  s = f32[4] parameter(2)
  n = f32[4] negate(q)
  m = f32[4] multiply(n, s)
  ROOT r = f32[4] add(p, m))",
                   R"(
  p = f32[4] parameter(0)
  q = f32[4] parameter(1)
  s = f32[4] parameter(2)
  m = f32[4] multiply(q, s)
  ROOT r = f32[4] subtract(p, m))");
  ExpectSimplifies(R"(
  p = f32[4] parameter(0)
  q = f32[4] parameter(1)
  m = f32[4] negate(p)
  n = f32[4] negate(q)
  ROOT r = f32[4] divide(m, n))",
                   R"(
  p = f32[4] parameter(0)
  q = f32[4] parameter(1)
  ROOT r = f32[4] divide(p, q))");
}

TEST(AlgsimpArithmetic, NegatesADifferenceBySwapping) {
  ExpectSimplifies(R"(
  p = f32[4] parameter(0)
  q = f32[4] parameter(1)
  d = f32[4] subtract(p, q)
  ROOT r = f32[4] negate(d))",
                   R"(
  p = f32[4] parameter(0)
  q = f32[4] parameter(1)
  ROOT r = f32[4] subtract(q, p))");
}

TEST(AlgsimpArithmetic, DropsDoubleNegation) {
  ExpectSimplifies(R"(
  p = f32[4] parameter(0)
  a = f32[4] negate(p)
  ROOT b = f32[4] negate(a))",
                   R"(
  ROOT p = f32[4] parameter(0))");
}

TEST(AlgsimpArithmetic, MergesOffsets) {
  ExpectSimplifies(R"(
  p = f32[4] parameter(0)
  c = f32[] constant(1.5)
  d = f32[] constant(2)
  cs = f32[4] broadcast(c), dimensions={}
  ds = f32[4] broadcast(d), dimensions={}
  a = f32[4] add(cs, p)
  ROOT b = f32[4] add(a, ds))",
                   R"(
  p = f32[4] parameter(0)
  c = f32[] constant(3.5)
  cs = f32[4] broadcast(c), dimensions={}
  ROOT b = f32[4] add(p, cs))");
  ExpectSimplifies(R"(
  p = s32[] parameter(0)
  c = s32[] constant(7)
  d = s32[] constant(9)
  a = s32[] add(p, c)
  ROOT b = s32[] subtract(a, d))",
                   R"(
  p = s32[] parameter(0)
  c = s32[] constant(-2)
  ROOT b = s32[] add(p, c))");
}

TEST(AlgsimpArithmetic, KeepsOffsetsThatRoundAFloat) {
  ExpectKept(R"(
  p = f32[] parameter(0)
  c = f32[] constant(12582912)
  a = f32[] add(p, c)
  ROOT b = f32[] subtract(a, c))");
}

TEST(AlgsimpArithmetic, KeepsOffsetsWhoseSumOverflows) {
  ExpectKept(R"(
  p = s8[] parameter(0)
  c = s8[] constant(100)
  a = s8[] add(p, c)
  ROOT b = s8[] add(a, c))");
}

TEST(AlgsimpArithmetic, MergesScales) {
  ExpectSimplifies(R"(
  p = f32[4] parameter(0)
  c = f32[] constant(2)
  d = f32[] constant(64)
  cs = f32[4] broadcast(c), dimensions={}
  ds = f32[4] broadcast(d), dimensions={}
  a = f32[4] multiply(p, cs)
  ROOT b = f32[4] divide(a, ds))",
                   R"(
  p = f32[4] parameter(0)
  c = f32[] constant(0.03125)
  cs = f32[4] broadcast(c), dimensions={}
  ROOT b = f32[4] multiply(p, cs))");
  ExpectSimplifies(R"(
  p = f32[] parameter(0)
  c = f32[] constant(3)
  d = f32[] constant(5)
  a = f32[] divide(p, c)
  ROOT b = f32[] divide(a, d))",
                   R"(
  p = f32[] parameter(0)
  c = f32[] constant(15)
  ROOT b = f32[] divide(p, c))");
  ExpectSimplifies(R"(
  p = f32[] parameter(0)
  c = f32[] constant(3)
  a = f32[] multiply(p, c)
  ROOT b = f32[] negate(a))",
                   R"(
  p = f32[] parameter(0)
  c = f32[] constant(-3)
  ROOT b = f32[] multiply(p, c))");
}

TEST(AlgsimpArithmetic, KeepsScalesWhoseProductIsNotNormal) {
  ExpectKept(R"(
  p = f32[] parameter(0)
  c = f32[] constant(1e-30)
  a = f32[] multiply(p, c)
  ROOT b = f32[] multiply(a, c))");
}

TEST(AlgsimpArithmetic, KeepsScalesWhoseConstantsOthersUse) {
  // One broadcast more would replace one multiplication: nothing gained.
  ExpectKept(R"(
  p = f32[4] parameter(0)
  c = f32[] constant(2)
  d = f32[] constant(3)
  cs = f32[4] broadcast(c), dimensions={}
  ds = f32[4] broadcast(d), dimensions={}
  a = f32[4] multiply(p, cs)
  b = f32[4] multiply(a, ds)
  ROOT t = (f32[4], f32[4], f32[4]) tuple(b, cs, ds))");
}

TEST(AlgsimpArithmetic, RecognizesReciprocalRoots) {
  ExpectSimplifies(R"(
  p = f32[] parameter(0)
  one = f32[] constant(1)
  s = f32[] sqrt(p)
  ROOT r = f32[] divide(one, s))",
                   R"(
  p = f32[] parameter(0)
  ROOT r = f32[] rsqrt(p))");
}

TEST(AlgsimpArithmetic, AddsIntoAScatter) {
  ExpectSimplifies(R"(
  x = f32[8,2] parameter(0)
  i = s32[3] parameter(1)
  u = f32[3,2] parameter(2)
  zero = f32[] constant(0)
  zeros = f32[8,2] broadcast(zero), dimensions={}
  s = f32[8,2] scatter(zeros, i, u), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=sum
  ROOT r = f32[8,2] add(x, s))",
                   R"(
  x = f32[8,2] parameter(0)
  i = s32[3] parameter(1)
  u = f32[3,2] parameter(2)
  ROOT s = f32[8,2] scatter(x, i, u), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=sum)",
                   Numerics::kFast);
  // An index may come twice, and x + u1 overflow where u1 + u2 is small.
  ExpectKept(R"(
  x = f32[8,2] parameter(0)
  i = s32[3] parameter(1)
  u = f32[3,2] parameter(2)
  zero = f32[] constant(0)
  zeros = f32[8,2] broadcast(zero), dimensions={}
  s = f32[8,2] scatter(zeros, i, u), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=sum
  ROOT r = f32[8,2] add(x, s))");
}

TEST(AlgsimpArithmetic, DropsRepeatedRemainders) {
  ExpectSimplifies(R"(
  p = s32[] parameter(0)
  c = s32[] constant(5)
  a = s32[] remainder(p, c)
  ROOT b = s32[] remainder(a, c))",
                   R"(
  p = s32[] parameter(0)
  c = s32[] constant(5)
  ROOT a = s32[] remainder(p, c))");
}

}  // namespace
}  // namespace hone::hlo
