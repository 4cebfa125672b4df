#include "tuning/tasks/partition_problem.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
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

// A chip, or a node, leaves nothing to decide.
TEST(PartitionProblem, WhatCannotFitInOneChipIsSaid) {
  for (const int32_t chips : {1, 4}) {
    const size_t count = chips == 1 ? 3 : 1;
    std::vector<graphs::OpNode> nodes;
    for (size_t i = 0; i < count; ++i) {
      nodes.push_back({.id = static_cast<int64_t>(i),
                       .opcode = "dot",
                       .flops = 1e6,
                       .parameter_bytes = 60});
    }
    const auto create = [&](double memory) {
      const graphs::Package package = SmallPackage(chips, memory);
      return PartitionProblem::Create(
                 *PartitionGraph::Create(*graphs::OpGraph::Create(nodes, {}),
                                         package),
                 package, PartitionObjective::kModelled)
          .status();
    };
    const double bytes = 60 * static_cast<double>(count);
    HONE_EXPECT_OK(create(bytes));
    EXPECT_THAT(create(bytes - 1),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("1 more than the memory")));
  }
}

TEST(PartitionProblem, WhatALocalSearchTriedIsNotEvaluatedAgain) {
  Rng rng(26);
  for (const PartitionObjective objective :
       {PartitionObjective::kModelled, PartitionObjective::kSimulated}) {
    HONE_ASSERT_OK_AND_ASSIGN(const auto problem,
                              MakeProblem(rng, 30, 6, 1e9, objective));
    const space::Candidate start = problem->DefaultCandidate();
    EXPECT_EQ(problem->evaluations(), 0);
    auto state = problem->MakeLocal(start);
    EXPECT_EQ(problem->evaluations(), 1);
    // Another search from there.
    EXPECT_EQ(problem->MakeLocal(start)->score().rank, state->score().rank);
    EXPECT_EQ(problem->evaluations(), 1);
    std::vector<space::Change> changes;
    do {
      state->Propose(rng, changes);
    } while (changes.empty());
    const space::LocalScore tried = state->Try(changes);
    EXPECT_EQ(problem->evaluations(), 2);
    // Each try is one.
    EXPECT_EQ(state->Try(changes).rank, tried.rank);
    EXPECT_EQ(problem->evaluations(), 3);
    state->Commit();
    const space::Candidate found = {
        {state->values().begin(), state->values().end()}};
    // It becomes a trial, and a search starts from it.
    HONE_ASSERT_OK_AND_ASSIGN(const auto measured, problem->Measure(found));
    EXPECT_EQ(space::RankOf(measured), tried.rank);
    EXPECT_EQ(problem->MakeLocal(found)->score().rank, tried.rank);
    EXPECT_EQ(problem->evaluations(), 3);
    EXPECT_EQ(space::RankOf(problem->MeasureOne(found.choices)), tried.rank);
    EXPECT_EQ(problem->evaluations(), 4);
    // What no local search tried is evaluated each time.
    const std::vector<int32_t> other(problem->graph().size());
    ASSERT_NE(other, start.choices);
    if (other == found.choices) continue;
    HONE_ASSERT_OK(problem->Measure({other}));
    HONE_ASSERT_OK(problem->Measure({other}));
    EXPECT_EQ(problem->evaluations(), 6);
  }
}

// Partitions that were tried are told apart.
TEST(PartitionProblem, TriesHaveTheirOwnMeasurements) {
  Rng rng(27);
  const auto make = [](PartitionObjective objective) {
    Rng same(28);
    return *MakeProblem(same, 5, 3, 1e9, objective);
  };
  for (const PartitionObjective objective :
       {PartitionObjective::kModelled, PartitionObjective::kSimulated}) {
    const auto problem = make(objective);
    const auto other = make(objective);
    std::vector<std::vector<int32_t>> all;
    ForEachPartition(problem->graph(), [&](const std::vector<int32_t>& chips) {
      all.push_back(chips);
    });
    for (const std::vector<int32_t>& chips : all) problem->MeasureTry(chips);
    const auto count = static_cast<int64_t>(all.size());
    EXPECT_EQ(problem->evaluations(), count);
    for (const std::vector<int32_t>& chips : all) {
      HONE_ASSERT_OK_AND_ASSIGN(const auto known, problem->Measure({chips}));
      const space::Measurement fresh = other->MeasureOne(chips);
      EXPECT_EQ(known.outcome, fresh.outcome);
      EXPECT_EQ(known.cost, fresh.cost);
      EXPECT_EQ(known.violation, fresh.violation);
      EXPECT_EQ(known.message, fresh.message);
      EXPECT_EQ(problem->MeasureStart(chips).cost, fresh.cost);
    }
    EXPECT_EQ(problem->evaluations(), count);
  }
}

TEST(PartitionProblem, WatchSeesEachEvaluationAndForgetsTries) {
  Rng rng(29);
  HONE_ASSERT_OK_AND_ASSIGN(const auto problem, MakeProblem(rng, 20, 5));
  const std::vector<int32_t> first = problem->DefaultCandidate().choices;
  const std::vector<int32_t> second(problem->graph().size());
  const double first_cost = problem->MeasureTry(first).cost;
  const double second_cost = problem->MeasureOne(second).cost;
  ASSERT_NE(first_cost, second_cost);
  std::vector<double> seen;
  problem->Watch([&](const space::Measurement& measurement) {
    seen.push_back(measurement.cost);
  });
  const int64_t before = problem->evaluations();
  // Forgotten as a try; then known as a start.
  HONE_ASSERT_OK(problem->Measure({first}));
  problem->MeasureStart(first);
  problem->MeasureOne(second);
  problem->MeasureTry(second);
  EXPECT_EQ(seen, std::vector<double>({first_cost, second_cost, second_cost}));
  EXPECT_EQ(problem->evaluations(), before + 3);
  // A candidate counts each time, a try does not count again.
  HONE_ASSERT_OK(problem->Measure({first}));
  EXPECT_EQ(seen.size(), 4u);
  HONE_ASSERT_OK(problem->Measure({second}));
  problem->MeasureStart(second);
  EXPECT_EQ(seen.size(), 4u);
  EXPECT_EQ(problem->evaluations(), before + 4);
  problem->Watch(nullptr);
  HONE_ASSERT_OK(problem->Measure({second}));
  EXPECT_EQ(seen.size(), 4u);
  EXPECT_EQ(problem->evaluations(), before + 5);
}

// Every evaluation of a search is seen, and counts.
TEST(PartitionProblem, SearchesEvaluateNothingUnseen) {
  Rng rng(30);
  for (const char* const name : {"annealing", "random", "genetic"}) {
    HONE_ASSERT_OK_AND_ASSIGN(const auto problem, MakeProblem(rng, 30, 6));
    double best = std::numeric_limits<double>::infinity();
    int64_t seen = 0;
    problem->Watch([&](const space::Measurement& measurement) {
      best = std::min(best, space::EffectiveCost(measurement));
      ++seen;
    });
    HONE_ASSERT_OK_AND_ASSIGN(
        const auto optimizer,
        optimizers::CreateOptimizer(name, *problem, {.seed = 1}));
    HONE_ASSERT_OK_AND_ASSIGN(
        const auto result,
        optimizers::RunSearch(*problem, *optimizer,
                              {.trials = 1'000'000, .evaluations = 200},
                              SystemClock()));
    EXPECT_EQ(seen, problem->evaluations());
    EXPECT_EQ(result.best->measurement.cost, best) << name;
  }
}

TEST(PartitionProblem, OffersConstructionsAsSeedsIfItIsToldTo) {
  Rng rng(31);
  for (int i = 0; i < 10; ++i) {
    for (const PartitionObjective objective :
         {PartitionObjective::kModelled, PartitionObjective::kSimulated}) {
      const graphs::Package package = SmallPackage(5, 1e9);
      const PartitionGraph graph =
          *PartitionGraph::Create(RandomLayers(rng, 20), package);
      HONE_ASSERT_OK_AND_ASSIGN(
          const auto all, PartitionProblem::Create(graph, package, objective));
      HONE_ASSERT_OK_AND_ASSIGN(
          const auto none,
          PartitionProblem::Create(graph, package, objective, nullptr, nullptr,
                                   PartitionSeeds::kNone));
      const std::vector<space::Seed> known = none->Constructions();
      EXPECT_EQ(none->Seeds().size(), 1u);
      EXPECT_EQ(none->Seeds()[0].candidate, none->DefaultCandidate());
      EXPECT_EQ(none->evaluations(), 0);
      std::vector<std::string> names;
      const std::vector<space::Seed> seeds = all->Seeds();
      ASSERT_EQ(seeds.size(), known.size() + 1);
      for (size_t s = 0; s < known.size(); ++s) {
        names.push_back(known[s].name);
        EXPECT_EQ(seeds[s + 1].name, known[s].name);
        EXPECT_EQ(seeds[s + 1].candidate, known[s].candidate);
        EXPECT_TRUE(IsValidByDefinition(graph, known[s].candidate.choices));
        // The bound is one.
        EXPECT_GE(MaxLoadByDefinition(graph, known[s].candidate.choices),
                  none->bound() * (1 - 1e-9));
      }
      EXPECT_THAT(names, ::testing::IsSupersetOf({"greedy", "segments"}));
      EXPECT_EQ(std::count(names.begin(), names.end(), "overheads"),
                objective == PartitionObjective::kSimulated ? 1 : 0);
    }
  }
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
      budget.trials = 200;
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
