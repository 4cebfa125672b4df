#include "bench/partition/partition.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/temporary_directory.h"
#include "bench/partition/partition_graphs.h"
#include "graphs/mcm/bundled_packages.h"
#include "tests/support/status_matchers.h"

namespace hone::bench {
namespace {

using ::hone::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

const std::string kGraphs =
    std::string(HONE_SOURCE_DIR) + "/bench/data/partition";

TEST(PartitionGraphs, AreDividedByFamily) {
  HONE_ASSERT_OK_AND_ASSIGN(const std::vector<PartitionEntry> entries,
                            ReadPartitionEntries(kGraphs, "", ""));
  std::map<std::string, int> counts;
  std::map<std::string, std::set<std::string>> splits;
  for (const PartitionEntry& entry : entries) {
    ++counts[entry.split];
    splits[entry.family].insert(entry.split);
  }
  EXPECT_GE(counts["train"], 66);
  EXPECT_EQ(counts["validation"], 5);
  EXPECT_EQ(counts["test"], 16);
  for (const auto& [family, of] : splits) EXPECT_EQ(of.size(), 1u) << family;
}

TEST(PartitionGraphs, AllAreReadForThePackage) {
  HONE_ASSERT_OK_AND_ASSIGN(const graphs::Package package,
                            graphs::FindPackage("hermosa36"));
  HONE_ASSERT_OK_AND_ASSIGN(const std::vector<PartitionEntry> entries,
                            ReadPartitionEntries(kGraphs, "", ""));
  for (const PartitionEntry& entry : entries) {
    HONE_ASSERT_OK_AND_ASSIGN(const graphs::PartitionGraph graph,
                              ReadPartitionGraph(entry, package));
    EXPECT_GT(graph.size(), 10u) << entry.name;
  }
}

TEST(PartitionGraphs, BadFoldersAreRefused) {
  EXPECT_THAT(ReadPartitionEntries("/no/such", "", ""),
              StatusIs(absl::StatusCode::kNotFound,
                       HasSubstr("/no/such/manifest.json: cannot be read, "
                                 "expected a folder of graphs")));
  EXPECT_THAT(ReadPartitionEntries(kGraphs, "test", "gpt2"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("no graph of that name and split 'test'")));
  EXPECT_THAT(ReadPartitionEntries(kGraphs, "tests", ""),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("manifest.json: no graph of split 'tests'")));
  const TemporaryDirectory folder;
  std::ofstream(folder.path() + "/manifest.json") << R"([{"name": "a"}])";
  EXPECT_THAT(ReadPartitionEntries(folder.path(), "", ""),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("expected a string \"family\"")));
}

TEST(PartitionBench, ComparesSearchesAtEqualSamples) {
  PartitionBenchOptions options;
  options.graphs = kGraphs;
  options.only = "^unet_16x3$";
  options.searches = {"random", "genetic", "annealing"};
  options.samples = 30;
  options.seeds = 2;
  options.draws = 20;
  for (const char* const objective : {"max-load", "interval"}) {
    options.objective = objective;
    std::ostringstream out;
    HONE_ASSERT_OK_AND_ASSIGN(const auto document,
                              RunPartitionBench(options, out));
    ASSERT_EQ(document["graphs"].size(), 1u);
    const auto& row = document["graphs"][0];
    const auto bound = row["bound"].get<double>();
    const auto greedy = row["greedy"].get<double>();
    EXPECT_LE(bound, row["segments"].get<double>() * (1 + 1e-9));
    for (const std::string& search : options.searches) {
      ASSERT_EQ(row["searches"][search].size(), 2u);
      for (const auto& cost : row["searches"][search]) {
        // All begin with the greedy fill.
        EXPECT_LE(cost.get<double>(), greedy);
        EXPECT_GE(cost.get<double>(), bound * (1 - 1e-9));
      }
      EXPECT_GE(document["searches"][search]["throughput"].get<double>(), 1);
    }
    ASSERT_EQ(document["fidelity"].size(), 2u);
    EXPECT_EQ(document["fidelity"][0]["partitions"], 20);
    EXPECT_GT(document["fidelity"][0]["linear"].get<double>(), 0.5);
    EXPECT_THAT(out.str(), HasSubstr("unet_16x3"));
  }
}

// The controls of a policy choose at random, by the estimate alone, or by what
// they learn in this search alone.
TEST(PartitionBench, ControlsSearchAsTheyAreTold) {
  PartitionBenchOptions options;
  options.graphs = kGraphs;
  options.only = "^unet_16x3$";
  options.searches = {"uniform", "estimated", "ppo", "scratch"};
  options.samples = 25;
  options.seeds = 1;
  options.draws = 0;
  std::ostringstream out;
  HONE_ASSERT_OK_AND_ASSIGN(const auto document,
                            RunPartitionBench(options, out));
  const auto& row = document["graphs"][0];
  std::map<std::string, double> costs;
  for (const std::string& search : options.searches) {
    ASSERT_EQ(row["searches"][search].size(), 1u);
    costs[search] = row["searches"][search][0].get<double>();
    EXPECT_LE(costs[search], row["greedy"].get<double>());
    EXPECT_GE(costs[search], row["bound"].get<double>() * (1 - 1e-9));
    EXPECT_GT(document["searches"][search]["cost_to_best_method"].get<double>(),
              0);
  }
  EXPECT_LT(costs["estimated"], costs["uniform"]);
  EXPECT_NE(costs["scratch"], costs["ppo"]);
}

// Where they start from costs local searches no sample.
TEST(PartitionBench, TheFirstSampleIsANewPartition) {
  PartitionBenchOptions options;
  options.graphs = kGraphs;
  options.only = "^unet_16x3$";
  options.searches = {"annealing", "uniform", "policy"};
  options.samples = 1;
  std::ostringstream out;
  HONE_ASSERT_OK_AND_ASSIGN(const auto document,
                            RunPartitionBench(options, out));
  const auto& row = document["graphs"][0];
  // Not every new one is better, but of five runs one is.
  for (const std::string& search : options.searches) {
    const auto costs = row["searches"][search].get<std::vector<double>>();
    EXPECT_LT(*std::min_element(costs.begin(), costs.end()),
              row["greedy"].get<double>())
        << search;
  }
}

TEST(PartitionBench, BadOptionsAreRefused) {
  PartitionBenchOptions options;
  options.graphs = kGraphs;
  std::ostringstream out;
  options.objective = "speed";
  EXPECT_THAT(RunPartitionBench(options, out),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("'speed'"), HasSubstr("max-load"))));
  options.objective = "max-load";
  options.searches = {"random", "random"};
  EXPECT_THAT(RunPartitionBench(options, out),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("--search 'random' twice")));
  options.searches = {"random", "magic"};
  EXPECT_THAT(RunPartitionBench(options, out),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("'magic'")));
  EXPECT_EQ(out.str(), "");
  options.searches = {"random"};
  options.package = "abacus";
  EXPECT_THAT(RunPartitionBench(options, out),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("hermosa36")));
}

}  // namespace
}  // namespace hone::bench
