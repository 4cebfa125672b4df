#include <memory>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "hlo/analysis/fingerprint.h"
#include "hlo/analysis/op_count.h"
#include "hlo/passes/pipeline.h"
#include "hlo/passes/registry.h"
#include "hlo/read_module.h"
#include "tests/support/corpus.h"
#include "tests/support/status_matchers.h"
#include "tests/tuning/sample_modules.h"
#include "tuning/registry.h"
#include "tuning/task.h"

namespace hone::tuning {
namespace {

using ::hone::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

const Task& PassOrder() { return **FindTask("pass_order"); }

TEST(PassOrder, SpaceVersionNamesThePasses) {
  for (absl::string_view pass : hlo::Passes().ids()) {
    EXPECT_THAT(PassOrder().space_version(), HasSubstr(std::string(pass)));
  }
}

TEST(PassOrder, OptionsKeyNamesTheScore) {
  HONE_ASSERT_OK_AND_ASSIGN(const std::string key,
                            PassOrder().OptionsKey({.score = "time"}));
  EXPECT_EQ(key, "score=time;numerics=reassociate");
  EXPECT_THAT(PassOrder().OptionsKey({.score = "luck"}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("'luck'"), HasSubstr("ops, time"))));
}

TEST(PassOrder, TheDefaultIsTheDefaultPipeline) {
  HONE_ASSERT_OK_AND_ASSIGN(
      const hlo::Module module,
      hlo::ReadModuleFile(hone::testing::CorpusPath("mlp.train")));
  hlo::Module expected = module;
  HONE_ASSERT_OK(hlo::RunPipeline(expected, "xla-cpu").status());

  HONE_ASSERT_OK_AND_ASSIGN(const auto problem,
                            PassOrder().MakeProblem(module, {}, {}));
  const space::Candidate candidate = problem->DefaultCandidate();
  EXPECT_EQ(problem->unit(), "ops");
  EXPECT_EQ(problem->Measure(candidate)->cost,
            static_cast<double>(hlo::CountOps(expected)));
  HONE_ASSERT_OK_AND_ASSIGN(const AppliedDecision applied,
                            PassOrder().Apply(module, *problem, candidate));
  EXPECT_EQ(hlo::Fingerprint(applied.module), hlo::Fingerprint(expected));
}

TEST(PassOrder, ADecisionIsReadable) {
  const hlo::Module module = ParseOrDie(kSimplifiable);
  HONE_ASSERT_OK_AND_ASSIGN(const auto problem,
                            PassOrder().MakeProblem(module, {}, {}));
  HONE_ASSERT_OK_AND_ASSIGN(
      const AppliedDecision applied,
      PassOrder().Apply(module, *problem, problem->DefaultCandidate()));
  EXPECT_THAT(applied.decision,
              AllOf(HasSubstr(R"({"passes":[)"), HasSubstr(R"("algsimp",)"),
                    HasSubstr(R"("ops":3})")));
}

TEST(PassOrder, TimeIsScoredInNanoseconds) {
  const hlo::Module module = ParseOrDie(kSimplifiable);
  HONE_ASSERT_OK_AND_ASSIGN(
      const auto problem,
      PassOrder().MakeProblem(module, {.score = "time"}, {}));
  EXPECT_EQ(problem->unit(), "ns");
  EXPECT_LT(problem->Measure(problem->DefaultCandidate())->cost,
            problem->Measure({})->cost);
}

TEST(PassOrder, CandidatesOutsideTheSpaceAreRefused) {
  const hlo::Module module = ParseOrDie(kSimplifiable);
  HONE_ASSERT_OK_AND_ASSIGN(const auto problem,
                            PassOrder().MakeProblem(module, {}, {}));
  EXPECT_THAT(PassOrder().Apply(module, *problem, {{999}}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("999")));
}

}  // namespace
}  // namespace hone::tuning
