#include "gtest/gtest.h"

#include "tests/hlo/passes/entry.h"

namespace hone::hlo {
namespace {

TEST(LogisticRecognizer, NamesTheFunction) {
  ExpectEntryRewrites("logistic-recognizer", R"(
  p = f32[4] parameter(0)
  one = f32[] constant(1)
  ones = f32[4] broadcast(one), dimensions={}
  n = f32[4] negate(p)
  e = f32[4] exponential(n)
  s = f32[4] add(e, ones)
  ROOT r = f32[4] divide(ones, s))",
                      R"(
  p = f32[4] parameter(0)
  ROOT r = f32[4] logistic(p))");
}

TEST(LogisticRecognizer, TakesTheSumInEitherOrder) {
  ExpectEntryRewrites("logistic-recognizer", R"(
  p = f64[] parameter(0)
  one = f64[] constant(1)
  n = f64[] negate(p)
  e = f64[] exponential(n)
  s = f64[] add(one, e)
  ROOT r = f64[] divide(one, s))",
                      R"(
  p = f64[] parameter(0)
  ROOT r = f64[] logistic(p))");
}

TEST(LogisticRecognizer, KeepsOtherQuotients) {
  // exp(x), not exp(-x).
  ExpectEntryUnchanged("logistic-recognizer", R"(
  p = f32[] parameter(0)
  one = f32[] constant(1)
  e = f32[] exponential(p)
  s = f32[] add(one, e)
  ROOT r = f32[] divide(one, s))");
  // 2 + exp(-x).
  ExpectEntryUnchanged("logistic-recognizer", R"(
  p = f32[] parameter(0)
  one = f32[] constant(1)
  two = f32[] constant(2)
  n = f32[] negate(p)
  e = f32[] exponential(n)
  s = f32[] add(two, e)
  ROOT r = f32[] divide(one, s))");
}

TEST(LogisticRecognizer, KeepsASumWithOtherUsers) {
  ExpectEntryUnchanged("logistic-recognizer", R"(
  p = f32[] parameter(0)
  one = f32[] constant(1)
  n = f32[] negate(p)
  e = f32[] exponential(n)
  s = f32[] add(one, e)
  d = f32[] divide(one, s)
  ROOT t = (f32[], f32[]) tuple(d, s))");
}

// 1 / (1 + exp(-x)) rounds more often, and is 0 where exp(-x) overflows.
TEST(LogisticRecognizer, IsNotExact) {
  constexpr char kBody[] = R"(
  p = f16[4] parameter(0)
  one = f16[] constant(1)
  ones = f16[4] broadcast(one), dimensions={}
  n = f16[4] negate(p)
  e = f16[4] exponential(n)
  s = f16[4] add(ones, e)
  ROOT r = f16[4] divide(ones, s), sharding={replicated})";
  ExpectEntryRewrites("logistic-recognizer", kBody, R"(
  p = f16[4] parameter(0)
  ROOT r = f16[4] logistic(p), sharding={replicated})");
  ExpectEntryUnchanged("logistic-recognizer", kBody,
                       {.numerics = Numerics::kExact});
}

TEST(LogisticRecognizer, KeepsADemandedAccuracy) {
  ExpectEntryUnchanged("logistic-recognizer", R"(
  p = f32[] parameter(0)
  one = f32[] constant(1)
  n = f32[] negate(p)
  e = f32[] exponential(n), result_accuracy={mode=highest}
  s = f32[] add(one, e)
  ROOT r = f32[] divide(one, s))");
}

}  // namespace
}  // namespace hone::hlo
