#include "gtest/gtest.h"

#include "tests/hlo/passes/entry.h"

namespace hone::hlo {
namespace {

TEST(LogisticExpander, SpellsTheFunctionOut) {
  ExpectEntryRewrites("logistic-expander", R"(
  x = f32[4] parameter(0)
  ROOT r = f32[4] logistic(x))",
                      R"(
  x = f32[4] parameter(0)
  one = f32[] constant(1)
  ones = f32[4] broadcast(one), dimensions={}
  n = f32[4] negate(x)
  e = f32[4] exponential(n)
  d = f32[4] add(e, ones)
  ROOT r = f32[4] divide(ones, d))");
}

TEST(LogisticExpander, NeedsNoBroadcastForScalars) {
  ExpectEntryRewrites("logistic-expander", R"(
  x = f64[] parameter(0)
  ROOT r = f64[] logistic(x))",
                      R"(
  x = f64[] parameter(0)
  one = f64[] constant(1)
  n = f64[] negate(x)
  e = f64[] exponential(n)
  d = f64[] add(e, one)
  ROOT r = f64[] divide(one, d))");
}

TEST(LogisticExpander, KeepsEverythingElse) {
  ExpectEntryUnchanged("logistic-expander", R"(
  x = f32[4] parameter(0)
  ROOT r = f32[4] tanh(x))");
}

}  // namespace
}  // namespace hone::hlo
