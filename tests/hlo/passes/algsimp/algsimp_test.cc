#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "hlo/inference/verifier.h"
#include "hlo/passes/registry.h"
#include "tests/hlo/passes/entry.h"
#include "tests/hlo/passes/golden.h"
#include "tests/support/status_matchers.h"

namespace hone::hlo {
namespace {

void ExpectKept(const char* body) { ExpectEntryUnchanged("algsimp", body); }

TEST(Algsimp, NeverReadsElidedConstants) {
  ExpectKept(R"(
  p = f32[4] parameter(0)
  c = f32[1] constant({...})
  s = f32[] reshape(c)
  cs = f32[4] broadcast(s), dimensions={}
  ROOT r = f32[4] add(p, cs))");
}

TEST(Algsimp, LeavesDynamicShapes) {
  ExpectKept(R"(
  p = f32[<=4] parameter(0)
  a = f32[<=4] negate(p)
  ROOT b = f32[<=4] negate(a))");
}

TEST(Algsimp, LeavesControlDependencies) {
  ExpectKept(R"(
  p = f32[4] parameter(0)
  q = f32[4] exponential(p)
  a = f32[4] negate(p), control-predecessors={q}
  b = f32[4] negate(a), control-predecessors={q}
  ROOT s = f32[4] multiply(b, q))");
}

TEST(Algsimp, LeavesInstructionsWithUnknownAttributes) {
  ExpectKept(R"(
  p = f32[4] parameter(0)
  a = f32[4] negate(p), sharding={replicated}
  ROOT b = f32[4] negate(a), sharding={replicated})");
}

TEST(Algsimp, LeavesLayoutsThatABitcastSees) {
  ExpectKept(R"(
  p = f32[2,3]{0,1} parameter(0)
  a = f32[2,3]{0,1} negate(p)
  b = f32[2,3]{0,1} negate(a)
  ROOT c = f32[3,2]{1,0} bitcast(b))");
}

TEST(Algsimp, CopiesWhereABitcastWouldSeeAnotherLayout) {
  ExpectEntryRewrites("algsimp", R"(
  p = f32[2,3]{0,1} parameter(0)
  a = f32[2,3] negate(p)
  b = f32[2,3] negate(a)
  ROOT c = f32[3,2] bitcast(b))",
                      R"(
  p = f32[2,3]{0,1} parameter(0)
  b = f32[2,3] copy(p)
  ROOT c = f32[3,2] bitcast(b))");
}

TEST(Algsimp, LooksPastLayoutsThatNobodySees) {
  ExpectEntryRewrites("algsimp", R"(
  p = f32[2,3] parameter(0)
  a = f32[3,2]{0,1} transpose(p), dimensions={1,0}
  b = f32[2,3] transpose(a), dimensions={1,0}
  ROOT c = f32[2,3] tanh(b))",
                      R"(
  p = f32[2,3] parameter(0)
  ROOT c = f32[2,3] tanh(p))");
}

TEST(Algsimp, LeavesScheduledModules) {
  ExpectUnchanged("algsimp", R"(HloModule m, is_scheduled=true
ENTRY e {
  p = f32[4] parameter(0)
  a = f32[4] negate(p)
  ROOT b = f32[4] negate(a)
})");
}

TEST(Algsimp, WorksInEveryComputation) {
  ExpectRewrites("algsimp", R"(HloModule m
f {
  p = f32[4] parameter(0)
  a = f32[4] negate(p)
  b = f32[4] negate(a)
  ROOT c = f32[4] tanh(b)
}
ENTRY e {
  p = f32[4] parameter(0)
  ROOT c = f32[4] call(p), to_apply=f
})",
                 R"(HloModule m
f {
  p = f32[4] parameter(0)
  ROOT c = f32[4] tanh(p)
}
ENTRY e {
  p = f32[4] parameter(0)
  ROOT c = f32[4] call(p), to_apply=f
})");
}

TEST(Algsimp, ReachesAFixedPointInOneRun) {
  // A chain that shrinks from one end only.
  std::string body = "p = f32[4] parameter(0)\na0 = f32[4] negate(p)\n";
  constexpr int kLength = 501;
  for (int i = 1; i < kLength; ++i) {
    absl::StrAppend(&body, i + 1 == kLength ? "ROOT " : "", "a", i,
                    " = f32[4] negate(a", i - 1, ")\n");
  }
  ExpectEntryRewrites("algsimp", body, R"(
  p = f32[4] parameter(0)
  ROOT r = f32[4] negate(p))");
}

TEST(Algsimp, LeavesAForkAsItWas) {
  const Module input = ParseForTest(Entry(R"(
  p = f32[4] parameter(0)
  a = f32[4] negate(p)
  ROOT b = f32[4] negate(a))"));
  Module output = input;
  HONE_ASSERT_OK_AND_ASSIGN(const Pass* pass, FindPass("algsimp"));
  HONE_ASSERT_OK_AND_ASSIGN(const bool changed, pass->Run(output));
  EXPECT_TRUE(changed);
  EXPECT_EQ(input.instruction_count(), 3);
  EXPECT_EQ(output.instruction_count(), 1);
  HONE_EXPECT_OK(VerifyModule(input));
}

}  // namespace
}  // namespace hone::hlo
