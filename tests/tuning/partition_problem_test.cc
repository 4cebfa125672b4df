#include "tuning/tasks/partition_problem.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/clock.h"
#include "base/rng.h"
#include "graphs/mcm/chip_loads.h"
#include "graphs/mcm/partition_rules.h"
#include "optimizers/registry.h"
#include "optimizers/search.h"
#include "tests/graphs/mcm/partition_by_definition.h"
#include "tests/graphs/mcm/random_partition_graph.h"
#include "tests/support/status_matchers.h"

namespace hone::tuning {
namespace {

using graphs::PartitionGraph;
using ::hone::testing::ForEachPartition;
using ::hone::testing::IsChain;
using ::hone::testing::IsValidByDefinition;
using ::hone::testing::MaxLoadByDefinition;
using ::hone::testing::RandomLayers;
using ::hone::testing::SmallPackage;
using ::hone::testing::StatusIs;
using ::testing::HasSubstr;

absl::StatusOr<std::unique_ptr<PartitionProblem>> MakeProblem(
    Rng& rng, size_t nodes, int32_t chips, double memory = 1e9,
    PartitionObjective objective = PartitionObjective::kModelled) {
  const graphs::Package package = SmallPackage(chips, memory);
  return PartitionProblem::Create(
      *PartitionGraph::Create(RandomLayers(rng, nodes), package), package,
      objective);
}

TEST(PartitionProblem, SeedsAreValidAndTheDefaultIsTheFirst) {
  Rng rng(20);
  for (int i = 0; i < 60; ++i) {
    HONE_ASSERT_OK_AND_ASSIGN(
        const auto problem,
        MakeProblem(rng, 3 + rng.Below(40),
                    1 + static_cast<int32_t>(rng.Below(36))));
    EXPECT_EQ(problem->evaluations(), 0);
    const std::vector<space::Seed> seeds = problem->Seeds();
    ASSERT_GE(seeds.size(), 2u);
    EXPECT_EQ(seeds[0].name, "default");
    EXPECT_EQ(seeds[0].candidate, problem->DefaultCandidate());
    for (const space::Seed& seed : seeds) {
      HONE_ASSERT_OK(
          graphs::CheckPartition(problem->graph(), seed.candidate.choices));
      HONE_ASSERT_OK_AND_ASSIGN(const space::Measurement measurement,
                                problem->Measure(seed.candidate));
      EXPECT_EQ(measurement.outcome, space::Outcome::kOk);
      EXPECT_DOUBLE_EQ(
          measurement.cost,
          MaxLoadByDefinition(problem->graph(), seed.candidate.choices));
    }
  }
}

TEST(PartitionProblem, ViolationsAreThoseOfTheRules) {
  Rng rng(21);
  for (int i = 0; i < 20; ++i) {
    const auto problem = MakeProblem(rng, 2 + rng.Below(4), 3, 700);
    if (!problem.ok()) continue;
    const PartitionGraph& graph = (*problem)->graph();
    ForEachPartition(graph, [&](const std::vector<int32_t>& chips) {
      const space::Measurement measurement = (*problem)->MeasureOne(chips);
      ASSERT_EQ(measurement.outcome == space::Outcome::kOk,
                IsValidByDefinition(graph, chips));
      ASSERT_EQ(measurement.outcome == space::Outcome::kInvalid,
                measurement.violation > 0);
    });
  }
}

TEST(PartitionProblem, MemoryThatRunsOutInSimulationIsAViolation) {
  // Two outputs of 1e6 bytes, of which a chip has 1.5e6.
  std::vector<graphs::OpNode> nodes;
  for (int64_t i = 0; i < 3; ++i) {
    nodes.push_back(
        {.id = i, .opcode = "dot", .flops = 1e7, .output_bytes = 1e6});
  }
  const graphs::Package package = SmallPackage(2, 1.5e6);
  HONE_ASSERT_OK_AND_ASSIGN(
      const auto problem,
      PartitionProblem::Create(
          *PartitionGraph::Create(
              *graphs::OpGraph::Create(nodes, {{0, 1, 1e6}, {1, 2, 1e6}}),
              package),
          package, PartitionObjective::kSimulated));
  const space::Measurement measurement = problem->MeasureOne({0, 0, 0});
  EXPECT_EQ(measurement.outcome, space::Outcome::kInvalid);
  EXPECT_NEAR(measurement.violation, 0.5e6 / 1.5e6, 1e-12);
  EXPECT_THAT(measurement.message,
              HasSubstr("out of memory: chip 0 needs 500000 bytes"));
}

TEST(PartitionProblem, ConstructsTheBestCutOfAPartitionsOrder) {
  Rng rng(22);
  for (int i = 0; i < 40; ++i) {
    HONE_ASSERT_OK_AND_ASSIGN(
        const auto problem,
        MakeProblem(rng, 5 + rng.Below(30),
                    2 + static_cast<int32_t>(rng.Below(8))));
    for (const space::Seed& seed : problem->Seeds()) {
      // The program cuts in chains of chips only.
      if (!IsChain(problem->graph(), seed.candidate.choices)) continue;
      std::vector<float> keys;
      for (const int32_t chip : seed.candidate.choices) {
        keys.push_back((static_cast<float>(chip) + 0.5F) /
                       static_cast<float>(problem->graph().chips()));
      }
      const auto found = problem->Construct(keys);
      ASSERT_TRUE(found.has_value());
      EXPECT_LE(problem->MeasureOne(*found).cost,
                problem->MeasureOne(seed.candidate.choices).cost * 1.001001);
    }
  }
}

TEST(PartitionProblem, LocalChangesCostWhatPartitionsDo) {
  Rng rng(23);
  int moves = 0;
  for (const PartitionObjective objective :
       {PartitionObjective::kModelled, PartitionObjective::kSimulated}) {
    for (int i = 0; i < 20; ++i) {
      HONE_ASSERT_OK_AND_ASSIGN(
          const auto problem,
          MakeProblem(rng, 5 + rng.Below(40),
                      2 + static_cast<int32_t>(rng.Below(10)), 1e9, objective));
      const auto state = problem->MakeLocal(problem->DefaultCandidate());
      std::vector<space::Change> changes;
      for (int step = 0; step < 40; ++step) {
        state->Propose(rng, changes);
        std::vector<int32_t> values(state->values().begin(),
                                    state->values().end());
        for (const space::Change& change : changes) {
          ASSERT_GE(change.value, 0);
          ASSERT_LT(change.value, problem->graph().chips());
          values[static_cast<size_t>(change.variable)] = change.value;
        }
        const int64_t before = problem->evaluations();
        const space::LocalScore score = state->Try(changes);
        EXPECT_EQ(problem->evaluations(), before + 1);
        ASSERT_EQ(score.rank, space::RankOf(problem->MeasureOne(values)));
        if (changes.empty() || rng.Below(2) == 0) continue;
        state->Commit();
        ++moves;
        ASSERT_TRUE(
            std::equal(values.begin(), values.end(), state->values().begin()));
        ASSERT_EQ(state->score().rank, score.rank);
      }
    }
  }
  EXPECT_GT(moves, 200);
}

TEST(PartitionProblem, WhatCannotFitIsSaid) {
  Rng rng(24);
  const auto create = [](std::vector<double> weights, double memory) {
    std::vector<graphs::OpNode> nodes;
    std::vector<graphs::OpEdge> edges;
    for (size_t i = 0; i < weights.size(); ++i) {
      const auto id = static_cast<int64_t>(i);
      nodes.push_back({.id = id,
                       .name = absl::StrCat("n", i),
                       .opcode = "dot",
                       .flops = 1e6,
                       .output_bytes = 8,
                       .parameter_bytes = weights[i]});
      if (i > 0) edges.push_back({id - 1, id, 8});
    }
    const graphs::Package package = SmallPackage(2, memory);
    return PartitionProblem::Create(
               *PartitionGraph::Create(*graphs::OpGraph::Create(nodes, edges),
                                       package),
               package, PartitionObjective::kModelled)
        .status();
  };
  HONE_EXPECT_OK(create({60, 60, 30}, 100));
  EXPECT_THAT(create({60, 130, 30}, 100),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("'n1' has 130 bytes from the start, 30 more "
                                 "than the memory of a chip")));
  EXPECT_THAT(create({90, 90, 90}, 100),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("70 more than the memory of all 2 chips")));
  EXPECT_THAT(create({60, 60, 60}, 100),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("its memory of 100 bytes")));
}

// Searches find the best of small problems.
TEST(PartitionProblem, SearchesFindTheBest) {
  Rng rng(25);
  for (int i = 0; i < 6; ++i) {
    HONE_ASSERT_OK_AND_ASSIGN(const auto problem, MakeProblem(rng, 7, 3));
    double best = problem->MeasureOne(problem->DefaultCandidate().choices).cost;
    ForEachPartition(problem->graph(), [&](const std::vector<int32_t>& chips) {
      const space::Measurement measurement = problem->MeasureOne(chips);
      if (measurement.outcome == space::Outcome::kOk) {
        best = std::min(best, measurement.cost);
      }
    });
    for (const char* const name : {"annealing", "random"}) {
      HONE_ASSERT_OK_AND_ASSIGN(
          const auto optimizer,
          optimizers::CreateOptimizer(name, *problem, {.seed = 1}));
      space::Budget budget;
      budget.trials = 400;
      HONE_ASSERT_OK_AND_ASSIGN(
          const auto result,
          optimizers::RunSearch(*problem, *optimizer, budget, SystemClock()));
      EXPECT_NEAR(result.best->measurement.cost, best, 1e-9 * best)
          << name << " " << i;
    }
  }
}

}  // namespace
}  // namespace hone::tuning
