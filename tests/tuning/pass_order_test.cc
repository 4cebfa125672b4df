#include <memory>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "costmodels/registry.h"
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
                            PassOrder().OptionsKey({.score = "xla"}));
  EXPECT_EQ(key, "score=xla;numerics=reassociate");
  EXPECT_THAT(PassOrder().OptionsKey({.score = "luck"}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("'luck'"), HasSubstr("ops, xla"))));
}

TEST(PassOrder, TheDefaultIsTheDefaultPipelineOfTheTarget) {
  HONE_ASSERT_OK_AND_ASSIGN(
      const hlo::Module module,
      hlo::ReadModuleFile(hone::testing::CorpusPath("mlp.train")));
  for (const char* target : {"xla-cpu", "xla-gpu"}) {
    hlo::Module expected = module;
    HONE_ASSERT_OK(hlo::RunPipeline(expected, target).status());

    HONE_ASSERT_OK_AND_ASSIGN(
        const auto problem,
        PassOrder().MakeProblem(module, {}, {.target = target}));
    const space::Candidate candidate = problem->DefaultCandidate();
    EXPECT_EQ(problem->unit(), "ops");
    EXPECT_EQ(problem->Measure(candidate)->cost,
              static_cast<double>(hlo::CountOps(expected)));
    HONE_ASSERT_OK_AND_ASSIGN(const AppliedDecision applied,
                              PassOrder().Apply(module, *problem, candidate));
    EXPECT_EQ(hlo::Fingerprint(*applied.module), hlo::Fingerprint(expected));
  }
}

TEST(PassOrder, ModulesAreScoredAndPublishedLowered) {
  const hlo::Module module = ParseOrDie(R"(
HloModule m
ENTRY e {
  a = f32[8,4] parameter(0)
  ROOT l = f32[8,4] logistic(a)
})");
  HONE_ASSERT_OK_AND_ASSIGN(const auto problem,
                            PassOrder().MakeProblem(module, {}, {}));
  HONE_ASSERT_OK_AND_ASSIGN(const AppliedDecision as_it_is,
                            PassOrder().Apply(module, *problem, {}));
  EXPECT_THAT(as_it_is.decision,
              HasSubstr(R"("passes":["logistic-expander"])"));
  EXPECT_GT(hlo::CountOps(*as_it_is.module), hlo::CountOps(module));
  EXPECT_EQ(problem->Measure({})->cost,
            static_cast<double>(hlo::CountOps(*as_it_is.module)));

  // Not where the caller forbids what the lowering does to rounding: then the
  // target does it.
  HONE_ASSERT_OK_AND_ASSIGN(
      const auto exact,
      PassOrder().MakeProblem(module, {.numerics = hlo::Numerics::kExact}, {}));
  EXPECT_EQ(exact->Measure({})->cost, problem->Measure({})->cost);
  HONE_ASSERT_OK_AND_ASSIGN(const AppliedDecision exactly,
                            PassOrder().Apply(module, *exact, {}));
  EXPECT_EQ(hlo::Fingerprint(*exactly.module), hlo::Fingerprint(module));
}

TEST(PassOrder, ATargetIsACompiler) {
  const auto resolve = [](const char* target) {
    return PassOrder().ResolveTarget(target, nullptr);
  };
  EXPECT_EQ(resolve("").value(), "xla-cpu");
  EXPECT_EQ(resolve("cpu").value(), "xla-cpu");
  EXPECT_EQ(resolve("cpu:0123").value(), "xla-cpu");
  EXPECT_EQ(resolve("gpu").value(), "xla-gpu");
  EXPECT_EQ(resolve("xla-gpu").value(), "xla-gpu");
  EXPECT_THAT(resolve("bogus"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("'bogus'"), HasSubstr("xla-cpu"))));
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

TEST(PassOrder, TimeOnXlaIsScoredInNanoseconds) {
  const hlo::Module module = ParseOrDie(kSimplifiable);
  HONE_ASSERT_OK_AND_ASSIGN(
      const auto problem,
      PassOrder().MakeProblem(module, {.score = "xla"}, {}));
  EXPECT_EQ(problem->unit(), "ns");
  HONE_ASSERT_OK_AND_ASSIGN(const auto model,
                            costmodels::CreateCostModel("xla-cpu"));
  EXPECT_EQ(problem->Measure({})->cost, model->PredictModuleNs(module));
  EXPECT_GT(problem->Measure({})->cost, 0);

  EXPECT_THAT(PassOrder()
                  .MakeProblem(module, {.score = "xla"}, {.target = "xla-gpu"})
                  .status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("'xla'"), HasSubstr("xla-gpu"))));
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
