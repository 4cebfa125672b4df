// Every optimizer of assignments on placements of random graphs: what holds
// whatever the graph, the contiguity and the seeds that a problem offers.

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "base/rng.h"
#include "graphs/device_graph_json.h"
#include "graphs/ideals.h"
#include "graphs/layered_graph.h"
#include "graphs/lower_bounds.h"
#include "graphs/max_load.h"
#include "optimizers/registry.h"
#include "optimizers/search.h"
#include "tests/graphs/random_device_graph.h"
#include "tests/support/fake_clock.h"
#include "tests/support/status_matchers.h"
#include "tuning/tasks/placement_problem.h"

namespace hone::optimizers {

// For the names of the test cases.
static void PrintTo(const OptimizerInfo& info, std::ostream* out) {
  *out << info.id;
}

}  // namespace hone::optimizers

namespace hone::tuning {
namespace {

using ::hone::graphs::Contiguity;
using ::hone::graphs::DeviceGraph;
using ::hone::testing::FakeClock;
using ::hone::testing::RandomDeviceGraph;
using ::testing::TestWithParam;

std::vector<optimizers::OptimizerInfo> AssignmentOptimizers() {
  std::vector<optimizers::OptimizerInfo> found;
  for (const optimizers::OptimizerInfo& info : optimizers::Optimizers()) {
    // "default" measures the default and no other seed.
    if (info.id == "default") continue;
    // No cost model predicts placements.
    if (info.id == "xtat") continue;
    if ((info.kinds & optimizers::kAssignment) != 0) found.push_back(info);
  }
  return found;
}

class PlacementSearches : public TestWithParam<optimizers::OptimizerInfo> {};

TEST_P(PlacementSearches, EndNoWorseThanAnySeedAndNoBetterThanTheBounds) {
  Rng rng(7);
  int searches = 0;
  for (int round = 0; round < 8; ++round) {
    const auto accelerators = static_cast<int32_t>(rng.Below(4));
    const auto cpus =
        static_cast<int32_t>((accelerators == 0 ? 1 : 0) + rng.Below(3));
    const DeviceGraph graph =
        RandomDeviceGraph(rng, 2 + rng.Below(14), accelerators, cpus);
    SCOPED_TRACE(graphs::PrintDeviceGraph(graph));
    for (const Contiguity contiguity :
         {Contiguity::kPipeline, Contiguity::kConvex, Contiguity::kNone}) {
      for (const PlacementSeeds seeds :
           {PlacementSeeds::kAll, PlacementSeeds::kInexact,
            PlacementSeeds::kNone}) {
        const auto problem = PlacementProblem::Create(
            graph, contiguity, nullptr, std::nullopt, seeds);
        if (!problem.ok()) continue;
        ++searches;
        const std::vector<space::Seed> offered = (*problem)->Seeds();
        double least = std::numeric_limits<double>::infinity();
        for (const space::Seed& seed : offered) {
          least = std::min(least, (*problem)->Measure(seed.candidate)->cost);
        }
        const auto optimizer =
            optimizers::CreateOptimizer(GetParam(), **problem, {.seed = 3});
        ASSERT_TRUE(optimizer.ok()) << optimizer.status();
        const auto result = optimizers::RunSearch(
            **problem, **optimizer,
            {.trials = static_cast<int64_t>(offered.size()) + 10}, FakeClock());
        ASSERT_TRUE(result.ok()) << result.status();
        ASSERT_TRUE(result->best.has_value());
        EXPECT_LE(result->best->measurement.cost, least);
        const std::vector<int32_t>& best = result->best->candidate.choices;
        HONE_EXPECT_OK(graphs::CheckAssignment(graph, best, contiguity));
        const double load = graphs::ComputeLoads(graph, best)->max_load;
        EXPECT_EQ(load, result->best->measurement.cost);
        EXPECT_GE(load * (1 + 1e-12), graphs::LowerBounds(graph).greatest());
        if (contiguity == Contiguity::kPipeline) {
          const auto exact = graphs::FindBestPipeline(graph);
          ASSERT_TRUE(exact.ok()) << exact.status();
          EXPECT_GE(load, exact->max_load);
        }
      }
    }
  }
  EXPECT_GT(searches, 40);
}

// In a pipeline the devices of most nodes follow from those of a few. Samples
// that change one node in thousands would nearly all be the same.
TEST(LearnedPlacementSearches, ProposeNewPlacementsOfLargeGraphs) {
  const auto problem = PlacementProblem::Create(
      graphs::MakeLayeredGraph(3000, 1), Contiguity::kPipeline, nullptr,
      std::nullopt, PlacementSeeds::kNone);
  ASSERT_TRUE(problem.ok()) << problem.status();
  for (const char* id : {"policy", "ppo"}) {
    SCOPED_TRACE(id);
    const auto optimizer =
        optimizers::CreateOptimizer(id, **problem, {.seed = 1});
    ASSERT_TRUE(optimizer.ok()) << optimizer.status();
    int64_t trials = 0;
    for (int round = 0; round < 3; ++round) {
      const std::vector<space::Candidate> batch = (*optimizer)->Suggest(100);
      EXPECT_GE(batch.size(), round == 0 ? 1u : 5u);
      for (const space::Candidate& candidate : batch) {
        (*optimizer)
            ->Observe({trials++, candidate, *(*problem)->Measure(candidate)});
      }
    }
  }
}

// Nearly every assignment of a long chain needs too much memory somewhere, so
// that random keys cannot be decoded as they are.
TEST(GeneticPlacementSearch, GoesOnWhereMemoryIsTight) {
  std::string nodes;
  std::string edges;
  for (int i = 0; i < 300; ++i) {
    absl::StrAppend(&nodes, i == 0 ? "" : ",", "{\"id\":", i,
                    ",\"fpgaLatency\":1,\"cpuLatency\":1,\"size\":", 1 + i % 5,
                    ",\"supportedOnFpga\":1,\"isBackwardNode\":0}");
    if (i == 0) continue;
    absl::StrAppend(&edges, i == 1 ? "" : ",", "{\"sourceId\":", i - 1,
                    ",\"destId\":", i, ",\"cost\":0.1}");
  }
  // A tenth more than all nodes need on eight devices.
  const auto graph = graphs::ParseDeviceGraph(
      absl::StrCat("{\"maxSizePerFPGA\":124,\"maxFPGAs\":8,\"maxCPUs\":0,"
                   "\"nodes\":[",
                   nodes, "],\"edges\":[", edges, "]}"),
      "chain");
  ASSERT_TRUE(graph.ok()) << graph.status();
  const auto problem =
      PlacementProblem::Create(*graph, Contiguity::kPipeline, nullptr,
                               std::nullopt, PlacementSeeds::kNone);
  ASSERT_TRUE(problem.ok()) << problem.status();
  const auto optimizer =
      optimizers::CreateOptimizer("genetic", **problem, {.seed = 1});
  ASSERT_TRUE(optimizer.ok()) << optimizer.status();
  const auto result = optimizers::RunSearch(**problem, **optimizer,
                                            {.trials = 200}, FakeClock());
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->trials, 200);
}

TEST_P(PlacementSearches, StopPlanningWhenTheyAreTold) {
  const auto problem = PlacementProblem::Create(
      graphs::MakeLayeredGraph(200, 1), Contiguity::kConvex, nullptr,
      std::nullopt, PlacementSeeds::kNone);
  ASSERT_TRUE(problem.ok()) << problem.status();
  optimizers::OptimizerOptions options;
  int64_t polls = 0;
  options.stop = [&] { return ++polls > 3; };
  const auto optimizer =
      optimizers::CreateOptimizer(GetParam(), **problem, options);
  ASSERT_TRUE(optimizer.ok()) << optimizer.status();
  optimizers::SearchOptions search;
  search.stop = [&] { return polls > 3; };
  const auto result = optimizers::RunSearch(
      **problem, **optimizer, {.trials = 60}, FakeClock(), search);
  ASSERT_TRUE(result.ok()) << result.status();
  if (polls > 3) {
    EXPECT_LT(result->trials, 60);
    EXPECT_EQ(result->end, optimizers::SearchEnd::kStopped);
  }
  // These plan a whole generation or round at once.
  for (const char* id :
       {"genetic", "guided", "hdp", "policy", "ppo", "finetune"}) {
    if (GetParam().id == id) {
      EXPECT_GT(polls, 0);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, PlacementSearches,
                         ::testing::ValuesIn(AssignmentOptimizers()),
                         [](const auto& param) {
                           return std::string(param.param.id);
                         });

}  // namespace
}  // namespace hone::tuning
