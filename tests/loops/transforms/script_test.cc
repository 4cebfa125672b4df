#include "loops/transforms/script.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "loops/text/text.h"
#include "tests/support/status_matchers.h"

namespace hone::loops {
namespace {

using ::hone::testing::StatusIs;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kCopy[] = R"(kernel k
argument x f32[64,64]
result y f32[64,64]
for i 64
| for j 64
| | y[i,j] = x[i,j]
)";

TEST(Script, StepsSurviveTheirText) {
  for (const Step& step :
       {Step{"split", {0, 12, 1}, {16}}, Step{"fuse", {3}, {}},
        Step{"set_memory", {}, {2, -1}}}) {
    HONE_ASSERT_OK_AND_ASSIGN(const Step parsed, ParseStep(PrintStep(step)));
    EXPECT_EQ(parsed, step);
  }
  EXPECT_EQ(PrintStep({"split", {0, 1}, {16}}), "split 0.1 16");
  EXPECT_EQ(PrintStep({"pad", {}, {3, 8}}), "pad - 3 8");
}

TEST(Script, RefusesWhatIsNoStep) {
  for (const char* text :
       {"", "split", "Split 0", "split 0. 16", "split 0.-1", "split a",
        "split 0 x", "split 0 1.5", "split 0 99999999999999999999"}) {
    EXPECT_THAT(ParseStep(text), StatusIs(absl::StatusCode::kInvalidArgument,
                                          HasSubstr("expected")))
        << text;
  }
}

TEST(Script, ReadsLinesAndComments) {
  HONE_ASSERT_OK_AND_ASSIGN(const std::vector<Step> steps,
                            ParseScript("# blocks\n"
                                        "\n"
                                        "  split 0 16   # rows\r\n"
                                        "reorder 0.0"));
  ASSERT_EQ(steps.size(), 2);
  EXPECT_EQ(PrintScript(steps), "split 0 16\nreorder 0.0\n");
  EXPECT_THAT(
      ParseScript("split 0 16\n\nsplit\n"),
      StatusIs(absl::StatusCode::kInvalidArgument, StartsWith("line 3: ")));
  EXPECT_THAT(ParseScript("split 0 16\n\nsplit\n", "my.script"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       StartsWith("my.script:3: 'split', expected ")));
}

TEST(Script, ErrorsArePrintableAndShort) {
  const absl::Status status =
      ParseScript(std::string(1000, '\x01') + "\n").status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument,
                               StartsWith("line 1: '\\x01\\x01")));
  EXPECT_LT(status.message().size(), 400u);
}

TEST(Script, AppliesStepsInOrder) {
  HONE_ASSERT_OK_AND_ASSIGN(const Program program, ParseProgram(kCopy));
  HONE_ASSERT_OK_AND_ASSIGN(
      const std::vector<Step> steps,
      ParseScript("split 0.0 16\nvectorize 0.0.0\nparallelize 0\n"));
  HONE_ASSERT_OK_AND_ASSIGN(const Program after, ApplyScript(program, steps));
  EXPECT_EQ(PrintProgram(after), R"(kernel k
argument x f32[64,64]
result y f32[64,64]
for i0 64 parallel
| for i1 4
| | for i2 16 vector
| | | y[i0,16*i1+i2] = x[i0,16*i1+i2]
)");
  HONE_ASSERT_OK_AND_ASSIGN(const Program same, ApplyScript(program, {}));
  EXPECT_EQ(PrintProgram(same), PrintProgram(program));
}

TEST(Script, SaysWhichStepIsNotLegal) {
  HONE_ASSERT_OK_AND_ASSIGN(const Program program, ParseProgram(kCopy));
  EXPECT_THAT(
      ApplyScript(program, {{"split", {0}, {16}}, {"vectorize", {0}, {}}}),
      StatusIs(absl::StatusCode::kInvalidArgument,
               "step 2 (vectorize 0): the loop has inner loops"));
  EXPECT_THAT(
      ApplyScript(program, {{"skew", {0}, {}}}),
      StatusIs(absl::StatusCode::kNotFound,
               AllOf(StartsWith("step 1 (skew 0): "), HasSubstr("'skew'"))));
}

TEST(Script, EveryLegalStepApplies) {
  HONE_ASSERT_OK_AND_ASSIGN(const Program program, ParseProgram(kCopy));
  const std::vector<Step> steps = LegalSteps(program, Machine{.threads = 2});
  for (const Step& step : steps) {
    HONE_EXPECT_OK(ApplyScript(program, {step})) << PrintStep(step);
  }
  EXPECT_THAT(steps, ::testing::Contains(Step{"reorder", {0}, {}}));
  EXPECT_THAT(steps, ::testing::Contains(Step{"parallelize", {0, 0}, {}}));
  EXPECT_EQ(steps, LegalSteps(program, Machine{.threads = 2}));
}

}  // namespace
}  // namespace hone::loops
