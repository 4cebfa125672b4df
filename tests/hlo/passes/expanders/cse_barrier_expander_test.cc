#include "gtest/gtest.h"

#include "tests/hlo/passes/entry.h"

namespace hone::hlo {
namespace {

TEST(CseBarrierExpander, RemovesBarriersOfArraysAndTuples) {
  ExpectEntryRewrites("cse_barrier_expander", R"(
  x = f32[4] parameter(0)
  s = f32[4] sine(x)
  a = f32[4] opt-barrier(s)
  t = (f32[4], f32[4]) tuple(x, a)
  b = (f32[4], f32[4]) opt-barrier(t)
  ROOT r = f32[4] get-tuple-element(b), index=1)",
                      R"(
  x = f32[4] parameter(0)
  s = f32[4] sine(x)
  t = (f32[4], f32[4]) tuple(x, s)
  ROOT r = f32[4] get-tuple-element(t), index=1)");
}

TEST(CseBarrierExpander, KeepsAnOrderThatGoesThroughABarrier) {
  ExpectEntryUnchanged("cse_barrier_expander", R"(
  x = f32[4] parameter(0)
  c = f32[4] custom-call(x), custom_call_target="effect"
  s = f32[4] sine(x)
  ROOT r = f32[4] opt-barrier(s), control-predecessors={c})");
}

TEST(CseBarrierExpander, TakesTokensParametersAndDynamicSizes) {
  ExpectEntryRewrites("cse_barrier_expander", R"(
  x = f32[<=4] parameter(0)
  k = token[] after-all()
  t = (f32[<=4], token[]) tuple(x, k)
  b = (f32[<=4], token[]) opt-barrier(t)
  y = f32[<=4] get-tuple-element(b), index=0
  c = f32[<=4] opt-barrier(y)
  ROOT r = f32[<=4] opt-barrier(c))",
                      R"(
  x = f32[<=4] parameter(0)
  k = token[] after-all()
  t = (f32[<=4], token[]) tuple(x, k)
  ROOT y = f32[<=4] get-tuple-element(t), index=0)");
}

// They have no other instruction to be on.
TEST(CseBarrierExpander, KeepsFrontendAttributes) {
  ExpectEntryUnchanged("cse_barrier_expander", R"(
  x = f32[4] parameter(0)
  s = f32[4] sine(x)
  ROOT r = f32[4] opt-barrier(s), frontend_attributes={a="b"})");
}

}  // namespace
}  // namespace hone::hlo
