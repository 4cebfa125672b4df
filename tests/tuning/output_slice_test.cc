#include "tuning/output_slice.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "hlo/equivalence/equivalence.h"
#include "hlo/evaluator/evaluator.h"
#include "hlo/inference/verifier.h"
#include "tests/support/status_matchers.h"
#include "tests/tuning/sample_modules.h"

namespace hone::tuning {
namespace {

using ::hone::testing::StatusIs;
using ::testing::_;

constexpr absl::string_view kThreeOutputs = R"(
HloModule three

ENTRY main {
  x = f32[2] parameter(0)
  y = f32[2] parameter(1)
  a = f32[2] negate(x)
  b = f32[2] exponential(y)
  c = f32[2] add(a, b)
  ROOT result = (f32[2], f32[2], f32[2]) tuple(a, b, c)
}
)";

constexpr absl::string_view kCalled = R"(
HloModule called

inner {
  x = f32[2] parameter(0)
  a = f32[2] negate(x)
  b = f32[2] exponential(x)
  ROOT result = (f32[2], f32[2]) tuple(a, b)
}

ENTRY main {
  x = f32[2] parameter(0)
  ROOT call = (f32[2], f32[2]) call(x), to_apply=inner
}
)";

// The outputs `outputs` of `module` are those of its slice.
void ExpectSlice(const hlo::Module& module, std::vector<int64_t> outputs) {
  HONE_ASSERT_OK_AND_ASSIGN(const hlo::Module slice,
                            SliceOutputs(module, outputs));
  HONE_ASSERT_OK(hlo::VerifyModule(slice));
  EXPECT_EQ(OutputCount(slice), static_cast<int64_t>(outputs.size()));
  const std::vector<hlo::Literal> arguments =
      hlo::RandomArguments(module, 1).value();
  HONE_ASSERT_OK_AND_ASSIGN(const hlo::Literal whole,
                            hlo::Evaluate(module, arguments));
  HONE_ASSERT_OK_AND_ASSIGN(const hlo::Literal part,
                            hlo::Evaluate(slice, arguments));
  for (size_t i = 0; i < outputs.size(); ++i) {
    EXPECT_TRUE(
        hlo::CompareLiterals(whole.elements()[static_cast<size_t>(outputs[i])],
                             part.elements()[i])
            .equal);
  }
}

TEST(OutputSlice, KeepsTheChosenOutputsAndWhatTheyNeed) {
  const hlo::Module module = ParseOrDie(kThreeOutputs);
  EXPECT_EQ(OutputCount(module), 3);
  ExpectSlice(module, {0});
  ExpectSlice(module, {2, 1});
  HONE_ASSERT_OK_AND_ASSIGN(const hlo::Module slice, SliceOutputs(module, {0}));
  // Both parameters, the negation and the tuple.
  EXPECT_EQ(slice.instruction_count(), 4);
}

TEST(OutputSlice, LeavesTheModuleAsItWas) {
  const hlo::Module module = ParseOrDie(kThreeOutputs);
  HONE_ASSERT_OK(SliceOutputs(module, {0}).status());
  EXPECT_EQ(module.instruction_count(), 6);
  EXPECT_EQ(OutputCount(module), 3);
}

TEST(OutputSlice, TakesElementsOfARootThatIsNoTupleInstruction) {
  ExpectSlice(ParseOrDie(kCalled), {1});
}

TEST(OutputSlice, AnArrayRootHasNoParts) {
  const hlo::Module module = ParseOrDie(R"(
HloModule m
ENTRY main {
  ROOT x = f32[2] parameter(0)
}
)");
  EXPECT_EQ(OutputCount(module), 1);
  EXPECT_THAT(SliceOutputs(module, {0}),
              StatusIs(absl::StatusCode::kFailedPrecondition, _));
}

}  // namespace
}  // namespace hone::tuning
