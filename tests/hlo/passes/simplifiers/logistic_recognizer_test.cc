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

}  // namespace
}  // namespace hone::hlo
