#include "bench/placement/in_turn.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/rng.h"
#include "graphs/bundled_clusters.h"
#include "graphs/hlo_import.h"
#include "hlo/read_module.h"
#include "tests/support/status_matchers.h"
#include "tuning/tasks/step_problem.h"

namespace hone::bench {
namespace {

constexpr tuning::StepDecisions kJoint = {
    .devices = true, .priorities = true, .fusion = true};

std::unique_ptr<tuning::StepProblem> MakeProblem(
    tuning::StepDecisions decisions) {
  const auto module = hlo::ReadModuleFile(std::string(HONE_SOURCE_DIR) +
                                          "/bench/data/placement/"
                                          "txl_2l.hlo.zst");
  HONE_EXPECT_OK(module);
  auto problem = tuning::StepProblem::Create(
      *graphs::ImportHlo(*module), *graphs::FindCluster("v100x2"), decisions);
  HONE_EXPECT_OK(problem);
  return *std::move(problem);
}

TEST(InTurn, WhatWasDecidedIsTheDefaultOfTheNextProblem) {
  const auto joint = MakeProblem(kJoint);
  const auto state = joint->MakeLocal(joint->DefaultCandidate());
  Rng rng(1);
  std::vector<space::Change> changes;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 30; ++i) {
      state->Propose(rng, changes);
      state->Try(changes);
      state->Commit();
    }
    const std::vector<int32_t> values(state->values().begin(),
                                      state->values().end());
    HONE_ASSERT_OK_AND_ASSIGN(const auto before, joint->Measure({values}));
    ASSERT_EQ(before.outcome, space::Outcome::kOk);
    for (const tuning::StepDecisions decisions :
         {tuning::StepDecisions{.priorities = true},
          tuning::StepDecisions{.fusion = true}}) {
      HONE_ASSERT_OK_AND_ASSIGN(
          const auto next,
          tuning::StepProblem::Create(joint->space().graph(), joint->cluster(),
                                      decisions, nullptr, nullptr,
                                      BaseOf(*joint, values)));
      HONE_ASSERT_OK_AND_ASSIGN(const auto after,
                                next->Measure(next->DefaultCandidate()));
      EXPECT_EQ(after.cost, before.cost);
    }
  }
}

TEST(InTurn, SpendsTheBudgetOfOneSearchAndOnlyImproves) {
  for (const DecisionOrder& order : kDecisionOrders) {
    SCOPED_TRACE(order.name);
    const auto first = MakeProblem(order.decisions[0]);
    const StepSearchOptions options = {.search = "annealing",
                                       .simulations = 100};
    HONE_ASSERT_OK_AND_ASSIGN(const StepRun run,
                              SearchInTurn(options, order, *first));
    EXPECT_EQ(run.simulations, 100);
    HONE_ASSERT_OK_AND_ASSIGN(const auto usual,
                              first->Measure(first->DefaultCandidate()));
    EXPECT_LT(run.best_ms, usual.cost);
    double last = run.curve.begin()->second;
    for (const auto& [simulations, best] : run.curve) {
      EXPECT_LE(best, last) << simulations;
      last = best;
    }
    EXPECT_EQ(last, run.best_ms);
    // The same again.
    HONE_ASSERT_OK_AND_ASSIGN(const StepRun again,
                              SearchInTurn(options, order, *first));
    EXPECT_EQ(again.best, run.best);
    EXPECT_EQ(again.curve, run.curve);
  }
}

TEST(InTurn, UnknownSearchesAreRefused) {
  const auto first = MakeProblem(kDecisionOrders[0].decisions[0]);
  EXPECT_THAT(SearchInTurn({.search = "no_such"}, kDecisionOrders[0], *first),
              hone::testing::StatusIs(absl::StatusCode::kNotFound,
                                      ::testing::HasSubstr("no_such")));
}

}  // namespace
}  // namespace hone::bench
