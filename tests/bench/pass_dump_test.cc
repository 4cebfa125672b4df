#include "bench/pass_dump.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/status_matchers.h"

namespace hone::bench {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(PassDump, SplitsStatesAtTheirMarks) {
  HONE_ASSERT_OK_AND_ASSIGN(
      const auto states,
      ParsePassDump("=== 0001.first.after_pipeline-start.before_dce\n"
                    "HloModule a\n\nx = y\n"
                    "=== 0002.first.after_call-inliner.before_x.y\n"
                    "HloModule b // === no mark\n"));
  ASSERT_THAT(states, SizeIs(2));
  EXPECT_EQ(states[0].name, "0001.first.after_pipeline-start.before_dce");
  EXPECT_EQ(states[0].pipeline, "first");
  EXPECT_EQ(states[0].pass, "pipeline-start");
  EXPECT_EQ(states[0].text, "HloModule a\n\nx = y");
  EXPECT_EQ(states[1].pass, "call-inliner");
  EXPECT_EQ(states[1].text, "HloModule b // === no mark\n");
}

TEST(PassDump, RefusesOtherText) {
  EXPECT_THAT(ParsePassDump("HloModule a"),
              testing::StatusIs(absl::StatusCode::kInvalidArgument,
                                HasSubstr("begins with 'HloModule a'")));
  for (const char* name : {"=== ", "=== 0001.dce", "=== after_dce.before_cse",
                           "=== 1.p.before_a.after_b", "=== 1.p.after_a\n"}) {
    EXPECT_THAT(ParsePassDump(name),
                testing::StatusIs(absl::StatusCode::kInvalidArgument,
                                  HasSubstr("SSSS.PIPELINE.after_PASS")))
        << name;
  }
}

TEST(PassDump, OfNothingHasNoStates) {
  HONE_ASSERT_OK_AND_ASSIGN(const auto states, ParsePassDump(""));
  EXPECT_THAT(states, IsEmpty());
  EXPECT_THAT(FindPassPairs(states), IsEmpty());
}

TEST(PassDump, PairsEveryPassWithTheStateBeforeIt) {
  HONE_ASSERT_OK_AND_ASSIGN(
      const auto states,
      ParsePassDump("=== 0001.outer.after_pipeline-start.before_cse\nA\n"
                    "=== 0002.outer.after_cse.before_inner\nB\n"
                    "=== 0003.inner.after_pipeline-start.before_algsimp\nB\n"
                    "=== 0004.inner.after_algsimp.before_dce\nC\n"
                    "=== 0005.inner.after_dce.before_pipeline-end\nD\n"
                    "=== 0006.outer.after_inner.before_reshape-mover\nD\n"
                    "=== 0007.outer.after_reshape-mover.before_x\nE\n"));
  const std::vector<PassPair> pairs = FindPassPairs(states);
  ASSERT_THAT(pairs, SizeIs(4));
  EXPECT_EQ(pairs[0].pass, "cse");
  EXPECT_EQ(pairs[0].before, "A");
  EXPECT_EQ(pairs[0].after, "B");
  EXPECT_EQ(pairs[1].pass, "algsimp");
  EXPECT_EQ(pairs[1].before, "B");
  EXPECT_EQ(pairs[2].pass, "dce");
  EXPECT_EQ(pairs[2].before, "C");
  EXPECT_EQ(pairs[2].state, "0005.inner.after_dce.before_pipeline-end");
  EXPECT_EQ(pairs[3].pass, "reshape-mover");
  EXPECT_EQ(pairs[3].before, "D");
  EXPECT_EQ(pairs[3].after, "E\n");
}

// A dump that begins in the middle of a pipeline has no input for its first
// state.
TEST(PassDump, LeavesOutAPassWithoutInput) {
  HONE_ASSERT_OK_AND_ASSIGN(
      const auto states, ParsePassDump("=== 0004.p.after_cse.before_dce\nA\n"
                                       "=== 0005.p.after_dce.before_x\nB\n"));
  const std::vector<PassPair> pairs = FindPassPairs(states);
  ASSERT_THAT(pairs, SizeIs(1));
  EXPECT_EQ(pairs[0].pass, "dce");
}

}  // namespace
}  // namespace hone::bench
