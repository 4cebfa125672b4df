#include "tuning/tasks/placement_problem.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/clock.h"
#include "base/rng.h"
#include "graphs/device_graph_json.h"
#include "graphs/max_load.h"
#include "optimizers/registry.h"
#include "optimizers/search.h"
#include "space/complete.h"
#include "tests/graphs/random_device_graph.h"
#include "tests/support/status_matchers.h"

namespace hone::tuning {
namespace {

using ::hone::graphs::CheckAssignment;
using ::hone::graphs::Contiguity;
using ::hone::graphs::DeviceGraph;
using ::hone::testing::ForEachAssignment;
using ::hone::testing::RandomDeviceGraph;
using ::hone::testing::ReadGraphFile;
using ::hone::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr Contiguity kAll[] = {Contiguity::kPipeline, Contiguity::kConvex,
                               Contiguity::kNone};

// Calls `visit` for problems on random graphs, with each contiguity.
template <typename Visit>
void ForEachProblem(uint64_t seed, int rounds, size_t nodes, Visit visit) {
  Rng rng(seed);
  int problems = 0;
  for (int round = 0; round < rounds; ++round) {
    const auto accelerators = static_cast<int32_t>(rng.Below(4));
    const auto cpus =
        static_cast<int32_t>((accelerators == 0 ? 1 : 0) + rng.Below(3));
    const DeviceGraph graph =
        RandomDeviceGraph(rng, 2 + rng.Below(nodes), accelerators, cpus);
    SCOPED_TRACE(graphs::PrintDeviceGraph(graph));
    for (const Contiguity contiguity : kAll) {
      const auto problem = PlacementProblem::Create(graph, contiguity);
      if (!problem.ok()) continue;
      ++problems;
      visit(**problem, rng);
    }
  }
  EXPECT_GT(problems, rounds);
}

std::vector<int32_t> RandomValues(const PlacementProblem& problem, Rng& rng) {
  std::vector<int32_t> values(problem.graph().size());
  for (int32_t& value : values) {
    value = static_cast<int32_t>(
        rng.Below(static_cast<uint64_t>(problem.graph().device_count())));
  }
  return values;
}

TEST(PlacementProblem, JudgesAsTheIndependentCheck) {
  ForEachProblem(1, 100, 8, [](const PlacementProblem& problem, Rng& rng) {
    for (int i = 0; i < 20; ++i) {
      const std::vector<int32_t> values = RandomValues(problem, rng);
      const auto measured = problem.Measure({values});
      ASSERT_TRUE(measured.ok());
      EXPECT_EQ(measured->cost,
                graphs::ComputeLoads(problem.graph(), values)->max_load);
      const absl::Status valid =
          CheckAssignment(problem.graph(), values, problem.contiguity());
      EXPECT_EQ(measured->violation == 0, valid.ok()) << valid;
      EXPECT_LT(measured->violation, 10);
      EXPECT_EQ(measured->outcome,
                valid.ok() ? space::Outcome::kOk : space::Outcome::kInvalid);
    }
  });
}

TEST(PlacementProblem, CandidatesOutsideTheSpaceAreInvalid) {
  Rng rng(1);
  const DeviceGraph graph = RandomDeviceGraph(rng, 4, 1, 1);
  const auto problem = PlacementProblem::Create(graph, Contiguity::kNone);
  ASSERT_TRUE(problem.ok());
  for (const std::vector<int32_t>& values :
       {std::vector<int32_t>{}, {0, 0, 0}, {0, 0, 0, 2}, {-1, 0, 0, 0}}) {
    const auto measured = (*problem)->Measure({values});
    ASSERT_TRUE(measured.ok());
    EXPECT_EQ(measured->outcome, space::Outcome::kInvalid);
    EXPECT_EQ(measured->violation, 0);
  }
}

TEST(PlacementProblem, FindsADefaultThatIsNoPipelineWhereNoneIsAskedFor) {
  // Of a chain with these sizes no pipeline fits: one device gets 6 and 4.
  const auto graph = graphs::ParseDeviceGraph(R"({
    "maxSizePerFPGA": 10, "maxFPGAs": 2, "maxCPUs": 0, "nodes": [
      {"id": 0, "fpgaLatency": 1, "cpuLatency": 1, "size": 6, "supportedOnFpga": 1, "isBackwardNode": 0},
      {"id": 1, "fpgaLatency": 1, "cpuLatency": 1, "size": 6, "supportedOnFpga": 1, "isBackwardNode": 0},
      {"id": 2, "fpgaLatency": 1, "cpuLatency": 1, "size": 4, "supportedOnFpga": 1, "isBackwardNode": 0},
      {"id": 3, "fpgaLatency": 1, "cpuLatency": 1, "size": 4, "supportedOnFpga": 1, "isBackwardNode": 0}],
    "edges": [{"sourceId": 0, "destId": 1, "cost": 1},
              {"sourceId": 1, "destId": 2, "cost": 1},
              {"sourceId": 2, "destId": 3, "cost": 1}]})",
                                              "chain");
  HONE_ASSERT_OK(graph);
  EXPECT_THAT(PlacementProblem::Create(*graph, Contiguity::kPipeline),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("no valid placement")));
  const auto problem = PlacementProblem::Create(*graph, Contiguity::kNone);
  HONE_ASSERT_OK(problem);
  HONE_EXPECT_OK(CheckAssignment(*graph, (*problem)->DefaultCandidate().choices,
                                 Contiguity::kNone));
  for (const space::Seed& seed : (*problem)->Seeds()) {
    EXPECT_EQ((*problem)->Measure(seed.candidate)->outcome, space::Outcome::kOk)
        << seed.name;
  }
}

TEST(PlacementProblem, RefusesMoreDevicesThanValues) {
  const auto graph = DeviceGraph::Create({1, 60, 5}, {{1, "a", 1, 1, 1}}, {});
  ASSERT_TRUE(graph.ok());
  EXPECT_THAT(
      PlacementProblem::Create(*graph, Contiguity::kPipeline),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("65 devices")));
}

TEST(PlacementProblem, SeedsAreValidAndTheDefaultIsFirst) {
  ForEachProblem(2, 15, 10, [](const PlacementProblem& problem, Rng&) {
    const std::vector<space::Seed> seeds = problem.Seeds();
    ASSERT_FALSE(seeds.empty());
    EXPECT_EQ(seeds[0].candidate, problem.DefaultCandidate());
    double local = 0;
    double least = std::numeric_limits<double>::infinity();
    for (const space::Seed& seed : seeds) {
      SCOPED_TRACE(seed.name);
      HONE_EXPECT_OK(CheckAssignment(problem.graph(), seed.candidate.choices,
                                     problem.contiguity()));
      local = problem.Measure(seed.candidate)->cost;
      least = std::min(least, local);
    }
    EXPECT_EQ(seeds.back().name, "local_search");
    EXPECT_EQ(local, least);
  });
}

TEST(PlacementProblem, OffersTheSeedsThatItIsAskedFor) {
  const auto graph = graphs::ParseDeviceGraph(
      ReadGraphFile("layer_bert24_training.json"), "graph");
  ASSERT_TRUE(graph.ok());
  const auto names = [&](PlacementSeeds seeds) {
    const auto problem = PlacementProblem::Create(*graph, Contiguity::kPipeline,
                                                  nullptr, std::nullopt, seeds);
    EXPECT_TRUE(problem.ok()) << problem.status();
    std::vector<std::string> found;
    for (const space::Seed& seed : (*problem)->Seeds()) {
      found.push_back(seed.name);
    }
    return found;
  };
  EXPECT_THAT(names(PlacementSeeds::kAll),
              ElementsAre("default", "greedy", "single_device", "segments",
                          "metis", "exact", "local_search"));
  EXPECT_THAT(names(PlacementSeeds::kInexact),
              ElementsAre("default", "greedy", "single_device", "segments",
                          "metis", "local_search"));
  EXPECT_THAT(names(PlacementSeeds::kNone), ElementsAre("default"));
}

TEST(PlacementProblem, RandomWalksAgreeWithFreshMeasurements) {
  ForEachProblem(3, 60, 12, [](const PlacementProblem& problem, Rng& rng) {
    auto local = problem.MakeLocal({RandomValues(problem, rng)});
    std::vector<space::Change> changes;
    for (int step = 0; step < 60; ++step) {
      local->Propose(rng, changes);
      if (changes.empty() || rng.Below(3) == 0) {
        const auto v = static_cast<int32_t>(rng.Below(problem.graph().size()));
        changes = {{v, RandomValues(problem, rng)[0]}};
      }
      std::vector<int32_t> after(local->values().begin(),
                                 local->values().end());
      for (const space::Change& change : changes) {
        after[static_cast<size_t>(change.variable)] = change.value;
      }
      const space::LocalScore tried = local->Try(changes);
      const auto fresh = problem.Measure({after});
      EXPECT_NEAR(tried.rank.cost, fresh->cost, 1e-9);
      EXPECT_NEAR(tried.rank.violation, fresh->violation, 1e-9);
      const space::LocalScore other = problem.MakeLocal({after})->score();
      EXPECT_NEAR(tried.energy, other.energy, 1e-9);
      if (rng.Below(2) == 0) {
        local->Commit();
        EXPECT_TRUE(
            std::equal(after.begin(), after.end(), local->values().begin()));
        EXPECT_EQ(local->score().rank, tried.rank);
      }
    }
  });
}

TEST(PlacementProblem, CompletionsSatisfyTheConstraints) {
  int complete = 0;
  int tries = 0;
  ForEachProblem(4, 100, 10, [&](const PlacementProblem& problem, Rng& rng) {
    const auto domains = problem.MakeDomains();
    std::vector<int32_t> order(problem.graph().size());
    std::iota(order.begin(), order.end(), 0);
    for (int i = 0; i < 5; ++i) {
      std::shuffle(order.begin(), order.end(), rng);
      std::vector<uint64_t> before;
      for (const int32_t v : order) before.push_back(domains->Get(v));
      const auto values = space::Complete(
          *domains, order,
          [&](int32_t, uint64_t left) { return space::DrawValue(left, rng); });
      for (size_t k = 0; k < order.size(); ++k) {
        EXPECT_EQ(domains->Get(order[k]), before[k]);
      }
      ++tries;
      if (!values) continue;
      ++complete;
      HONE_EXPECT_OK(
          CheckAssignment(problem.graph(), *values, problem.contiguity()));
      const auto repaired = space::Repair(*domains, order, *values, rng);
      ASSERT_TRUE(repaired.has_value());
      EXPECT_EQ(*repaired, *values);
    }
  });
  EXPECT_GT(complete, tries * 8 / 10);
}

TEST(PlacementProblem, SearchesComeNearTheOptimumByEnumeration) {
  Rng rng(5);
  for (int round = 0; round < 6; ++round) {
    const DeviceGraph graph = RandomDeviceGraph(rng, 7, 2, 1);
    const auto problem = PlacementProblem::Create(graph, Contiguity::kNone);
    if (!problem.ok()) continue;
    double best = std::numeric_limits<double>::infinity();
    ForEachAssignment(7, 3, [&](const std::vector<int32_t>& values) {
      if (!CheckAssignment(graph, values, Contiguity::kNone).ok()) return;
      best = std::min(best, graphs::ComputeLoads(graph, values)->max_load);
    });
    for (const std::string id : {"random", "greedy", "annealing", "genetic"}) {
      SCOPED_TRACE(id);
      const auto optimizer =
          optimizers::CreateOptimizer(id, **problem, {.seed = 1});
      ASSERT_TRUE(optimizer.ok()) << optimizer.status();
      const auto result = optimizers::RunSearch(**problem, **optimizer,
                                                {.trials = 150}, SystemClock());
      ASSERT_TRUE(result.ok()) << result.status();
      ASSERT_TRUE(result->best.has_value());
      // The local search among the seeds finds it already.
      EXPECT_EQ(result->best->measurement.cost, best);
    }
  }
}

TEST(PlacementProblem, ObservationsHaveTheirSizesAndRange) {
  ForEachProblem(6, 40, 20, [](const PlacementProblem& problem, Rng&) {
    const space::ObservationSpec spec = problem.observation_spec();
    const auto seen = problem.Graph();
    const size_t nodes = problem.graph().size();
    const size_t edges = problem.graph().edges().size();
    EXPECT_EQ(seen->node_kinds.size(), nodes);
    EXPECT_EQ(seen->node_features.size(),
              nodes * static_cast<size_t>(spec.node_features));
    EXPECT_EQ(seen->edge_sources.size(), edges);
    EXPECT_EQ(seen->edge_features.size(),
              edges * static_cast<size_t>(spec.edge_features));
    EXPECT_EQ(seen->global_features.size(),
              static_cast<size_t>(spec.global_features));
    for (const int32_t kind : seen->node_kinds) {
      EXPECT_LT(kind, spec.node_kinds);
    }
    const std::vector<float> values = problem.ValueFeatures(0);
    EXPECT_EQ(values.size(),
              static_cast<size_t>(problem.graph().device_count()) *
                  problem.groups()[0].value_feature_names.size());
    for (const auto* features : {&seen->node_features, &seen->edge_features,
                                 &seen->global_features, &values}) {
      for (const float feature : *features) {
        EXPECT_GE(feature, 0);
        EXPECT_LE(feature, 2);
      }
    }
  });
}

TEST(PlacementProblem, FindsThePublishedOptimum) {
  const auto graph = graphs::ParseDeviceGraph(
      ReadGraphFile("op_bert_l-3_inference.json"), "graph");
  ASSERT_TRUE(graph.ok());
  const auto problem = PlacementProblem::Create(*graph, Contiguity::kPipeline);
  ASSERT_TRUE(problem.ok()) << problem.status();
  double best = std::numeric_limits<double>::infinity();
  for (const space::Seed& seed : (*problem)->Seeds()) {
    best = std::min(best, (*problem)->Measure(seed.candidate)->cost);
  }
  EXPECT_LE(best, 27.9187);
}

}  // namespace
}  // namespace hone::tuning
