#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"

#include "tests/hlo/passes/entry.h"
#include "tests/hlo/passes/golden.h"

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

// exp(-x) overflows where the result is 0 or denormal.
TEST(LogisticExpander, KeepsTheRange) {
  for (const char* type : {"f16", "bf16", "f32", "f64"}) {
    SCOPED_TRACE(type);
    ExpectKeepsMeaning("logistic-expander", Entry(absl::StrReplaceAll(
                                                R"(
  x = $T[12] constant({-inf, -1e4, -100, -30, -10, -1, 0, 1, 10, 100, inf, nan})
  ROOT r = $T[12] logistic(x))",
                                                {{"$T", type}})));
  }
}

TEST(LogisticExpander, KeepsTypesInWhichTheOverflowIsNan) {
  for (const char* type : {"f8e4m3fn", "f8e5m2", "c64"}) {
    SCOPED_TRACE(type);
    ExpectEntryUnchanged("logistic-expander",
                         absl::StrReplaceAll(R"(
  x = $T[4] parameter(0)
  ROOT r = $T[4] logistic(x))",
                                             {{"$T", type}}));
  }
}

}  // namespace
}  // namespace hone::hlo
