#include "tuning/winner.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "hlo/analysis/fingerprint.h"
#include "tests/support/status_matchers.h"
#include "tests/support/toy_problems.h"
#include "tests/tuning/sample_modules.h"

namespace hone::tuning {
namespace {

using ::hone::testing::IntegerProblem;
using ::hone::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// A task with a compiler bug in it: what contains 1 computes something else.
class Miscompiling final : public Task {
 public:
  absl::string_view name() const override { return "miscompiling"; }
  std::vector<SubjectKind> subject_kinds(const TaskOptions&) const override {
    return {SubjectKind::kModule};
  }
  optimizers::Kinds problem_kind() const override {
    return optimizers::kSequential;
  }
  std::string default_optimizer() const override { return "beam"; }
  std::string space_version() const override { return "1"; }
  absl::StatusOr<std::string> OptionsKey(const TaskOptions&) const override {
    return "score=ops";
  }
  std::string default_target() const override { return "hlo"; }
  absl::StatusOr<std::string> ResolveTarget(
      absl::string_view, backends::KernelMeasurer*) const override {
    return "hlo";
  }
  absl::StatusOr<std::unique_ptr<space::Problem>> CreateProblem(
      const Subject&, const TaskOptions&, const TaskContext&) const override {
    IntegerProblem::Spec spec;
    spec.initial = 10;
    spec.actions = {{"right", [](int64_t x) { return x - 1; }},
                    {"wrong", [](int64_t x) { return x - 5; }}};
    spec.cost = [](int64_t x) { return static_cast<double>(x); };
    return std::make_unique<IntegerProblem>(std::move(spec));
  }
  absl::StatusOr<AppliedDecision> Apply(
      const Subject& subject, const space::Problem&,
      const space::Candidate& candidate) const override {
    AppliedDecision applied{absl::StrCat(candidate.choices.size()),
                            subject.module()};
    if (candidate.choices.empty()) return applied;
    const bool wrong = absl::c_linear_search(candidate.choices, 1);
    applied.module = ParseOrDie(absl::StrReplaceAll(
        kSimplifiable,
        {{"a = f32[4] multiply(sum, sum)", wrong
                                               ? "a = f32[4] multiply(sum, x)"
                                               : "a = f32[4] multiply(x, sum)"},
         {"constant(0)", wrong ? "constant(0.01)" : "constant(0)"}}));
    return applied;
  }
};

absl::StatusOr<Winner> ChooseOf(const std::vector<Finalists>& groups) {
  const Miscompiling task;
  const hlo::Module module = ParseOrDie(kSimplifiable);
  const auto problem = task.MakeProblem(module, {}, {});
  return ChooseWinner(task, module, **problem, groups, {});
}

absl::StatusOr<Winner> Choose(const std::vector<space::Candidate>& candidates) {
  std::vector<Finalists> groups;
  for (const space::Candidate& candidate : candidates) {
    groups.push_back({candidate});
  }
  return ChooseOf(groups);
}

TEST(ChooseWinner, TakesTheFirstWhenItIsEqual) {
  HONE_ASSERT_OK_AND_ASSIGN(const Winner winner, Choose({{{0}}, {}}));
  EXPECT_EQ(winner.cost, 9);
  EXPECT_EQ(winner.applied.decision, "1");
  EXPECT_EQ(winner.verification.method,
            "evaluator: 2 random, 1 adversarial inputs");
}

TEST(ChooseWinner, AMiscompiledWinnerIsRefusedForTheNext) {
  HONE_ASSERT_OK_AND_ASSIGN(const Winner winner, Choose({{{1}}, {{0}}, {}}));
  EXPECT_EQ(winner.cost, 9);
  EXPECT_THAT(winner.verification.method,
              AllOf(HasSubstr("2 random"), HasSubstr("was refused"),
                    HasSubstr("modules differ")));
}

TEST(ChooseWinner, StepsAtFaultAreLeftOut) {
  HONE_ASSERT_OK_AND_ASSIGN(const Winner winner, Choose({{{0, 1, 0}}, {}}));
  EXPECT_EQ(winner.cost, 8);
  EXPECT_EQ(winner.applied.decision, "2");
  EXPECT_THAT(winner.verification.method,
              AllOf(HasSubstr("; left out wrong (step 2 of 3): modules differ"),
                    Not(HasSubstr("refused"))));

  HONE_ASSERT_OK_AND_ASSIGN(const Winner more,
                            Choose({{{0, 1, 0, 0, 1, 1, 0}}, {}}));
  EXPECT_EQ(more.cost, 6);
  EXPECT_THAT(more.verification.method, AllOf(HasSubstr("wrong (step 2 of 7)"),
                                              HasSubstr("every wrong")));
}

TEST(ChooseWinner, WhatIsWrongInEveryStepIsRefused) {
  HONE_ASSERT_OK_AND_ASSIGN(const Winner winner, Choose({{{1}}, {{1, 1}}, {}}));
  EXPECT_EQ(winner.cost, 10);
  EXPECT_EQ(hlo::Fingerprint(*winner.applied.module),
            hlo::Fingerprint(ParseOrDie(kSimplifiable)));
  EXPECT_THAT(winner.verification.method, HasSubstr("identical to the input"));
}

TEST(ChooseWinner, NothingUnverifiedComesOut) {
  EXPECT_THAT(Choose({{{1}}, {{1, 1}}}),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("modules differ")));
}

TEST(ChooseWinner, OfAGroupTheCheapestThatIsEqual) {
  HONE_ASSERT_OK_AND_ASSIGN(
      const Winner winner,
      ChooseOf({{{{1}}, {{1, 1}}}, {{}, {{1}}, {{0}}}, {{{0, 0}}}}));
  EXPECT_EQ(winner.cost, 9);
  EXPECT_EQ(winner.applied.decision, "1");
}

TEST(ChooseWinner, InvalidCandidatesAreRefused) {
  HONE_ASSERT_OK_AND_ASSIGN(const Winner winner, Choose({{{7}}, {{0}}}));
  EXPECT_EQ(winner.cost, 9);
}

}  // namespace
}  // namespace hone::tuning
