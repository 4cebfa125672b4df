#include "gtest/gtest.h"

#include "tests/hlo/passes/entry.h"

namespace hone::hlo {
namespace {

void ExpectSimplifies(const char* before, const char* after) {
  ExpectEntryRewrites("algsimp", before, after);
}
void ExpectKept(const char* body) { ExpectEntryUnchanged("algsimp", body); }

TEST(AlgsimpLogic, DropsNeutralOperands) {
  ExpectSimplifies(R"(
  p = pred[4] parameter(0)
  t = pred[] constant(true)
  ts = pred[4] broadcast(t), dimensions={}
  f = pred[] constant(false)
  fs = pred[4] broadcast(f), dimensions={}
  a = pred[4] and(p, ts)
  b = pred[4] or(a, fs)
  c = pred[4] xor(b, fs)
  d = pred[4] and(c, c)
  ROOT r = pred[4] not(d))",
                   R"(
  p = pred[4] parameter(0)
  ROOT r = pred[4] not(p))");
}

TEST(AlgsimpLogic, KnowsAbsorbingOperands) {
  ExpectSimplifies(R"(
  p = u8[4] parameter(0)
  c = u8[] constant(255)
  cs = u8[4] broadcast(c), dimensions={}
  ROOT r = u8[4] or(p, cs))",
                   R"(
  p = u8[4] parameter(0)
  c = u8[] constant(255)
  ROOT cs = u8[4] broadcast(c), dimensions={})");
  ExpectSimplifies(R"(
  p = s32[4] parameter(0)
  c = s32[] constant(-1)
  cs = s32[4] broadcast(c), dimensions={}
  ROOT r = s32[4] xor(p, cs))",
                   R"(
  p = s32[4] parameter(0)
  ROOT r = s32[4] not(p))");
}

TEST(AlgsimpLogic, ComplementsComparisons) {
  ExpectSimplifies(R"(
  p = s32[4] parameter(0)
  q = s32[4] parameter(1)
  c = pred[4] compare(p, q), direction=LT
  ROOT r = pred[4] not(c))",
                   R"(
  p = s32[4] parameter(0)
  q = s32[4] parameter(1)
  ROOT c = pred[4] compare(p, q), direction=GE)");
  ExpectKept(R"(
  p = f32[4] parameter(0)
  q = f32[4] parameter(1)
  c = pred[4] compare(p, q), direction=LT
  ROOT r = pred[4] not(c))");
}

TEST(AlgsimpLogic, DropsShiftsByZero) {
  ExpectSimplifies(R"(
  p = u32[4] parameter(0)
  c = u32[] constant(0)
  cs = u32[4] broadcast(c), dimensions={}
  a = u32[4] shift-right-logical(p, cs)
  ROOT r = u32[4] not(a))",
                   R"(
  p = u32[4] parameter(0)
  ROOT r = u32[4] not(p))");
}

TEST(AlgsimpComparison, ComparesWithItself) {
  ExpectSimplifies(R"(
  p = s32[4] parameter(0)
  ROOT r = pred[4] compare(p, p), direction=LE)",
                   R"(
  p = s32[4] parameter(0)
  c = pred[] constant(true)
  ROOT r = pred[4] broadcast(c), dimensions={})");
  ExpectKept(R"(
  p = f32[4] parameter(0)
  ROOT r = pred[4] compare(p, p), direction=EQ)");
}

TEST(AlgsimpComparison, KnowsWhatIsNotNegative) {
  ExpectSimplifies(R"(
  i = s32[4] iota(), iota_dimension=0
  q = s32[4] parameter(0)
  zero = s32[] constant(0)
  zeros = s32[4] broadcast(zero), dimensions={}
  lt = pred[4] compare(i, zeros), direction=LT
  ROOT r = s32[4] select(lt, q, i))",
                   R"(
  q = s32[4] parameter(0)
  ROOT i = s32[4] iota(), iota_dimension=0)");
}

TEST(AlgsimpComparison, ComparesPredicatesWithConstants) {
  ExpectSimplifies(R"(
  p = pred[4] parameter(0)
  t = pred[] constant(true)
  ts = pred[4] broadcast(t), dimensions={}
  ROOT r = pred[4] compare(p, ts), direction=NE)",
                   R"(
  p = pred[4] parameter(0)
  ROOT r = pred[4] not(p))");
}

TEST(AlgsimpComparison, SelectsAtOnce) {
  ExpectSimplifies(R"(
  p = pred[4] parameter(0)
  x = f32[4] parameter(1)
  y = f32[4] parameter(2)
  n = pred[4] not(p)
  a = f32[4] select(n, x, y)
  ROOT r = f32[4] select(p, a, x))",
                   R"(
  p = pred[4] parameter(0)
  x = f32[4] parameter(1)
  y = f32[4] parameter(2)
  ROOT r = f32[4] select(p, y, x))");
}

TEST(AlgsimpComparison, TurnsSelectsOfPredicatesIntoLogic) {
  ExpectSimplifies(R"(
  p = pred[4] parameter(0)
  q = pred[4] parameter(1)
  f = pred[] constant(false)
  fs = pred[4] broadcast(f), dimensions={}
  ROOT r = pred[4] select(p, q, fs))",
                   R"(
  p = pred[4] parameter(0)
  q = pred[4] parameter(1)
  ROOT r = pred[4] and(p, q))");
  ExpectSimplifies(R"(
  p = pred[4] parameter(0)
  t = pred[] constant(true)
  ts = pred[4] broadcast(t), dimensions={}
  f = pred[] constant(false)
  fs = pred[4] broadcast(f), dimensions={}
  ROOT r = pred[4] select(p, ts, fs))",
                   R"(
  ROOT p = pred[4] parameter(0))");
}

TEST(AlgsimpComparison, DropsBoundsThatDoNotBind) {
  ExpectSimplifies(R"(
  p = f32[4] parameter(0)
  c = f32[] constant(-inf)
  cs = f32[4] broadcast(c), dimensions={}
  ROOT r = f32[4] maximum(p, cs))",
                   R"(
  ROOT p = f32[4] parameter(0))");
  ExpectSimplifies(R"(
  p = s8[4] parameter(0)
  c = s8[] constant(127)
  cs = s8[4] broadcast(c), dimensions={}
  ROOT r = s8[4] minimum(p, cs))",
                   R"(
  ROOT p = s8[4] parameter(0))");
}

TEST(AlgsimpComparison, MergesBounds) {
  // As doubles the two constants are equal.
  ExpectSimplifies(R"(
  p = s64[] parameter(0)
  c = s64[] constant(9007199254740993)
  d = s64[] constant(9007199254740992)
  a = s64[] maximum(p, c)
  ROOT r = s64[] maximum(a, d))",
                   R"(
  p = s64[] parameter(0)
  c = s64[] constant(9007199254740993)
  ROOT r = s64[] maximum(p, c))");
}

TEST(AlgsimpComparison, FormsClampsWithScalarBounds) {
  ExpectSimplifies(R"(
  p = f32[4] parameter(0)
  zero = f32[] constant(0)
  zeros = f32[4] broadcast(zero), dimensions={}
  six = f32[] constant(6)
  sixes = f32[4] broadcast(six), dimensions={}
  a = f32[4] maximum(p, zeros)
  ROOT r = f32[4] minimum(a, sixes))",
                   R"(
  p = f32[4] parameter(0)
  zero = f32[] constant(0)
  six = f32[] constant(6)
  ROOT r = f32[4] clamp(zero, p, six))");
  ExpectKept(R"(
  p = f32[4] parameter(0)
  zero = f32[] constant(0)
  zeros = f32[4] broadcast(zero), dimensions={}
  m = f32[] constant(-6)
  ms = f32[4] broadcast(m), dimensions={}
  a = f32[4] maximum(p, zeros)
  ROOT r = f32[4] minimum(a, ms))");
}

TEST(AlgsimpConversion, DropsConversions) {
  ExpectSimplifies(R"(
  p = bf16[4] parameter(0)
  a = f32[4] convert(p)
  ROOT b = bf16[4] convert(a))",
                   R"(
  ROOT p = bf16[4] parameter(0))");
  ExpectSimplifies(R"(
  p = s8[4] parameter(0)
  a = s32[4] convert(p)
  ROOT b = f32[4] convert(a))",
                   R"(
  p = s8[4] parameter(0)
  ROOT b = f32[4] convert(p))");
}

TEST(AlgsimpConversion, KeepsConversionsThatRound) {
  ExpectKept(R"(
  p = f32[4] parameter(0)
  a = bf16[4] convert(p)
  ROOT b = f32[4] convert(a))");
  ExpectKept(R"(
  p = s16[4] parameter(0)
  a = f32[4] convert(p)
  ROOT b = s8[4] convert(a))");
}

TEST(AlgsimpConversion, DropsBitcastConversions) {
  ExpectSimplifies(R"(
  p = f32[4] parameter(0)
  a = u32[4] bitcast-convert(p)
  b = s32[4] bitcast-convert(a)
  ROOT r = f32[4] bitcast-convert(b))",
                   R"(
  ROOT p = f32[4] parameter(0))");
}

}  // namespace
}  // namespace hone::hlo
