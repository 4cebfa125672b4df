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

TEST(AlgsimpReduce, OverOnesIsAReshape) {
  ExpectSimplifies(R"(
  p = f32[2,1] parameter(0)
  zero = f32[] constant(0)
  ROOT s = f32[2] reduce(p, zero), dimensions={1}, to_apply=sum)",
                   R"(
  p = f32[2,1] parameter(0)
  ROOT s = f32[2] reshape(p))");
  ExpectKept(R"(
  p = f32[2,1] parameter(0)
  one = f32[] constant(1)
  ROOT s = f32[2] reduce(p, one), dimensions={1}, to_apply=sum)");
}

TEST(AlgsimpReduce, OfNothingIsTheInitialValue) {
  ExpectSimplifies(R"(
  p = f32[2,0] parameter(0)
  one = f32[] constant(1)
  ROOT s = f32[2] reduce(p, one), dimensions={1}, to_apply=sum)",
                   R"(
  p = f32[2,0] parameter(0)
  one = f32[] constant(1)
  ROOT s = f32[2] broadcast(one), dimensions={})");
}

TEST(AlgsimpReduce, ReadsThroughTransposeAndReshape) {
  ExpectSimplifies(R"(
  p = f32[2,3,4] parameter(0)
  t = f32[4,2,3] transpose(p), dimensions={2,0,1}
  zero = f32[] constant(0)
  ROOT s = f32[2] reduce(t, zero), dimensions={0,2}, to_apply=sum)",
                   R"(
  p = f32[2,3,4] parameter(0)
  zero = f32[] constant(0)
  ROOT s = f32[2] reduce(p, zero), dimensions={1,2}, to_apply=sum)");
  ExpectSimplifies(R"(
  p = f32[2,3,4] parameter(0)
  t = f32[2,12] reshape(p)
  zero = f32[] constant(0)
  ROOT s = f32[2] reduce(t, zero), dimensions={1}, to_apply=sum)",
                   R"(
  p = f32[2,3,4] parameter(0)
  zero = f32[] constant(0)
  ROOT s = f32[2] reduce(p, zero), dimensions={1,2}, to_apply=sum)");
  ExpectKept(R"(
  p = f32[2,3,4] parameter(0)
  t = f32[6,4] reshape(p)
  zero = f32[] constant(0)
  ROOT s = f32[6] reduce(t, zero), dimensions={1}, to_apply=sum)");
}

TEST(AlgsimpReduce, MergesReductions) {
  ExpectSimplifies(R"(
  p = f32[2,3,4] parameter(0)
  zero = f32[] constant(0)
  one = f32[] constant(1)
  t = f32[2,4] reduce(p, zero), dimensions={1}, to_apply=sum
  ROOT s = f32[2] reduce(t, one), dimensions={1}, to_apply=sum)",
                   R"(
  p = f32[2,3,4] parameter(0)
  one = f32[] constant(1)
  ROOT s = f32[2] reduce(p, one), dimensions={1,2}, to_apply=sum)",
                   Numerics::kFast);
  // Partial sums of the whole may overflow where those of the parts do not.
  ExpectKept(R"(
  p = f32[2,3,4] parameter(0)
  zero = f32[] constant(0)
  one = f32[] constant(1)
  t = f32[2,4] reduce(p, zero), dimensions={1}, to_apply=sum
  ROOT s = f32[2] reduce(t, one), dimensions={1}, to_apply=sum)");
  ExpectSimplifies(R"(
  p = f32[2,3,4] parameter(0)
  c = f32[] constant(-inf)
  t = f32[2,4] reduce(p, c), dimensions={1}, to_apply=maximum
  ROOT s = f32[2] reduce(t, c), dimensions={1}, to_apply=maximum)",
                   R"(
  p = f32[2,3,4] parameter(0)
  c = f32[] constant(-inf)
  ROOT s = f32[2] reduce(p, c), dimensions={1,2}, to_apply=maximum)",
                   Numerics::kExact);
  ExpectKept(R"(
  p = f32[2,3,4] parameter(0)
  zero = f32[] constant(0)
  t = f32[2,4] reduce(p, zero), dimensions={1}, to_apply=sum
  ROOT s = f32[2] reduce(t, zero), dimensions={1}, to_apply=maximum)");
}

TEST(AlgsimpReduce, OfABroadcastReducesNothing) {
  ExpectSimplifies(R"(
  p = f32[2] parameter(0)
  b = f32[3,2] broadcast(p), dimensions={1}
  c = f32[] constant(-inf)
  ROOT s = f32[2] reduce(b, c), dimensions={0}, to_apply=maximum)",
                   R"(
  ROOT p = f32[2] parameter(0))");
  ExpectSimplifies(R"(
  half = f32[] constant(0.5)
  b = f32[3,2] broadcast(half), dimensions={}
  zero = f32[] constant(0)
  ROOT s = f32[2] reduce(b, zero), dimensions={0}, to_apply=sum)",
                   R"(
  c = f32[] constant(1.5)
  ROOT s = f32[2] broadcast(c), dimensions={})");
}

TEST(AlgsimpReduce, MovesANegationOutOfASum) {
  ExpectSimplifies(R"(
  p = f32[2,3] parameter(0)
  n = f32[2,3] negate(p)
  zero = f32[] constant(0)
  ROOT s = f32[2] reduce(n, zero), dimensions={1}, to_apply=sum)",
                   R"(
  p = f32[2,3] parameter(0)
  zero = f32[] constant(0)
  s = f32[2] reduce(p, zero), dimensions={1}, to_apply=sum
  ROOT n = f32[2] negate(s))");
  ExpectKept(R"(
  p = f32[2,3] parameter(0)
  n = f32[2,3] negate(p)
  c = f32[] constant(-inf)
  ROOT s = f32[2] reduce(n, c), dimensions={1}, to_apply=maximum)");
}

TEST(AlgsimpReduceWindow, OfOneElementIsItsOperand) {
  ExpectSimplifies(R"(
  p = f32[4,3] parameter(0)
  zero = f32[] constant(0)
  w = f32[4,3] reduce-window(p, zero), window={size=1x1}, to_apply=sum
  ROOT r = f32[4,3] tanh(w))",
                   R"(
  p = f32[4,3] parameter(0)
  ROOT r = f32[4,3] tanh(p))");
}

TEST(AlgsimpReduceWindow, PadsItself) {
  ExpectSimplifies(R"(
  p = f32[4] parameter(0)
  c = f32[] constant(-inf)
  q = f32[7] pad(p, c), padding=1_2
  ROOT w = f32[3] reduce-window(q, c), window={size=3 stride=2}, to_apply=maximum)",
                   R"(
  p = f32[4] parameter(0)
  c = f32[] constant(-inf)
  ROOT w = f32[3] reduce-window(p, c), window={size=3 stride=2 pad=1_2}, to_apply=maximum)");
}

}  // namespace
}  // namespace hone::hlo
