#include "bench/placement/placement.h"

#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/temporary_directory.h"
#include "bench/placement/expert_split.h"
#include "bench/placement/peak_memory.h"
#include "bench/placement/public_graphs.h"
#include "graphs/ideals.h"
#include "graphs/max_load.h"
#include "tests/support/status_matchers.h"

namespace hone::bench {
namespace {

using ::hone::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kGraphs = std::string(HONE_SOURCE_DIR) + "/bench/data/graphs";

TEST(PublicGraphs, AreReadInTheManifestsOrder) {
  const auto graphs = ReadPublicGraphs(kGraphs, "");
  ASSERT_TRUE(graphs.ok()) << graphs.status();
  ASSERT_EQ(graphs->size(), 12u);
  EXPECT_EQ(graphs->front().name, "layer_bert24_inference");
  EXPECT_EQ(graphs->back().name, "op_bert_L-12_training");
  EXPECT_EQ(graphs->back().graph.size(), 2012u);
  int published = 0;
  for (const PublicGraph& graph : *graphs) {
    if (graph.published.has_value()) ++published;
  }
  EXPECT_EQ(published, 10);
}

TEST(PublicGraphs, TheExactProgramFindsWhatIsPublished) {
  const auto graphs = ReadPublicGraphs(kGraphs, "bert24|layer_resnet|_l-3_inf");
  ASSERT_TRUE(graphs.ok()) << graphs.status();
  ASSERT_EQ(graphs->size(), 4u);
  for (const PublicGraph& graph : *graphs) {
    const auto pipeline = graphs::FindBestPipeline(graph.graph);
    ASSERT_TRUE(pipeline.ok()) << pipeline.status();
    EXPECT_NEAR(pipeline->max_load, graph.published.value(), 1e-4);
  }
}

TEST(PublicGraphs, BadFoldersAreRefused) {
  EXPECT_THAT(ReadPublicGraphs("/no/such", ""),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("--graphs")));
  EXPECT_THAT(
      ReadPublicGraphs(kGraphs, "no-such"),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("no graph")));
  const TemporaryDirectory folder;
  const auto with = [&](const char* manifest) {
    std::ofstream(folder.path() + "/manifest.json") << manifest;
    return ReadPublicGraphs(folder.path(), "").status();
  };
  EXPECT_THAT(with("{}"), StatusIs(absl::StatusCode::kInvalidArgument,
                                   HasSubstr("not a JSON array")));
  EXPECT_THAT(with(R"([{"name": 3}])"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr(R"(entry {"name":3})")));
  EXPECT_THAT(with(R"([{"name": "a", "published": "b"}])"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("published max load")));
  EXPECT_THAT(
      with(R"([{"name": "absent"}])"),
      StatusIs(absl::StatusCode::kNotFound, HasSubstr("absent.json.zst")));
}

TEST(PublicGraphs, ExpertsPlaceFive) {
  const auto graphs = ReadPublicGraphs(kGraphs, "");
  ASSERT_TRUE(graphs.ok()) << graphs.status();
  int experts = 0;
  for (const PublicGraph& graph : *graphs) {
    if (!graph.expert) continue;
    SCOPED_TRACE(graph.name);
    ++experts;
    HONE_EXPECT_OK(graphs::CheckAssignment(graph.graph, *graph.expert,
                                           graphs::Contiguity::kNone));
    const auto loads = graphs::ComputeLoads(graph.graph, *graph.expert);
    ASSERT_TRUE(loads.ok()) << loads.status();
    if (graph.published) {
      EXPECT_GE(loads->max_load, *graph.published - 1e-4);
    }
  }
  EXPECT_EQ(experts, 5);
}

TEST(ExpertSplit, BadOnesAreRefused) {
  const auto graph = graphs::DeviceGraph::Create(
      {.max_accelerator_bytes = 1, .accelerators = 2, .cpus = 1},
      {{.id = 7}, {.id = 3}, {.id = 5}}, {});
  ASSERT_TRUE(graph.ok()) << graph.status();
  const auto parse = [&](const std::string& text) {
    return ParseExpertSplit(text, "a.json", *graph);
  };
  const auto split = parse(
      R"({"fpgas": [{"nodes": [3]}, {"load": -1, "nodes": [7]}],
          "cpus": [{"nodes": [5]}], "maxLoad": -1})");
  ASSERT_TRUE(split.ok()) << split.status();
  EXPECT_THAT(*split, ElementsAre(1, 0, 2));
  const auto expect = [&](const std::string& text, const char* message) {
    EXPECT_THAT(parse(text), StatusIs(absl::StatusCode::kInvalidArgument,
                                      HasSubstr(message)))
        << text;
  };
  expect("{", "a.json:1:2: not valid JSON");
  expect("[]", "a.json: the document is an array, expected an object");
  expect(R"({"fpgas": []})", R"(no array "cpus")");
  expect(R"({"fpgas": [3], "cpus": []})",
         R"("fpgas" without an array "nodes")");
  expect(R"({"fpgas": [{"nodes": [3, 7]}], "cpus": []})",
         "a.json: node 5 is on no device");
  expect(R"({"fpgas": [{"nodes": [3, 7, 5, 4]}], "cpus": []})",
         "node 4, expected one of the graph");
  expect(R"({"fpgas": [{"nodes": ["3"]}], "cpus": []})",
         R"(node "3", expected one of the graph)");
  expect(R"({"fpgas": [{"nodes": [3, 7]}], "cpus": [{"nodes": [5, 7]}]})",
         "node 7 is placed twice");
  expect(R"({"fpgas": [], "cpus": [{"nodes": [3, 7, 5]}, {"nodes": []}]})",
         "2 cpus, expected at most the graph's 1");
}

TEST(MeasureUsage, SeesMemoryThatIsUsedAndGivenBack) {
  constexpr size_t kBytes = size_t{96} << 20;
  const auto usage = MeasureUsage([] {
    std::vector<char> block(kBytes, 1);
    [[maybe_unused]] volatile char last = block.back();
  });
  ASSERT_TRUE(usage.ok()) << usage.status();
  EXPECT_GT(usage->bytes, static_cast<int64_t>(kBytes / 2));
  EXPECT_GE(usage->peak_bytes, usage->bytes);
  // The peak of one piece of work is not that of the next.
  const auto little = MeasureUsage([] {});
  ASSERT_TRUE(little.ok()) << little.status();
  EXPECT_LT(little->bytes, static_cast<int64_t>(kBytes / 2));
}

PlacementBenchOptions SmallOptions() {
  PlacementBenchOptions options;
  options.graphs = kGraphs;
  options.only = "layer_bert24_inference";
  options.searches = {"annealing", "policy", "random"};
  options.seeds = 2;
  options.evaluations = 60;
  options.nodes = {60, 90};
  return options;
}

TEST(PlacementBench, ComparesSearchesWithTheExactProgram) {
  std::ostringstream out;
  PlacementBenchOptions options = SmallOptions();
  options.tables = {"quality"};
  const auto document = RunPlacementBench(options, out);
  ASSERT_TRUE(document.ok()) << document.status();
  EXPECT_EQ(document->at("worse_than_a_seed"), 0);
  const auto& quality = document->at("quality");
  EXPECT_EQ(quality.at("searches"), 3 * 3 * 2);
  const auto& graph = quality.at("graphs").at(0);
  EXPECT_NEAR(graph.at("exact").at("max_load").get<double>(), 17.7899, 1e-4);
  EXPECT_FALSE(graph.at("seeds").contains("exact"));
  EXPECT_GE(graph.at("expert").at("max_load").get<double>(), 17.7899 - 1e-4);
  ASSERT_EQ(quality.at("tables").size(), 3u);
  for (const auto& table : quality.at("tables")) {
    const auto& row = table.at("graphs").at(0);
    const double exact = row.at("reference").get<double>();
    for (const auto& [search, runs] : row.at("searches").items()) {
      SCOPED_TRACE(table.at("start").get<std::string>() + " " + search);
      ASSERT_EQ(runs.at("max_loads").size(), 2u);
      for (const double load : runs.at("max_loads")) {
        EXPECT_GE(load, exact - 1e-9);
        if (table.at("start") == "all") {
          EXPECT_NEAR(load, exact, 1e-9);
        }
      }
    }
  }
  EXPECT_THAT(out.str(), HasSubstr("from none seeds, 60 evaluations each"));
  EXPECT_THAT(out.str(), HasSubstr("0 of 18 searches ended worse"));
}

// The exact program finds pipelines: other placements may be better.
TEST(PlacementBench, ComparesOtherPlacementsWithABound) {
  std::ostringstream out;
  PlacementBenchOptions options = SmallOptions();
  options.tables = {"quality"};
  options.contiguity = graphs::Contiguity::kNone;
  options.starts = {"inexact"};
  options.searches = {"annealing"};
  const auto document = RunPlacementBench(options, out);
  ASSERT_TRUE(document.ok()) << document.status();
  const auto& quality = document->at("quality");
  const auto& graph = quality.at("graphs").at(0);
  EXPECT_TRUE(graph.at("exact").is_null());
  const auto& row = quality.at("tables").at(0).at("graphs").at(0);
  EXPECT_EQ(row.at("reference"), graph.at("shared_work_bound"));
  for (const double load : row.at("searches").at("annealing").at("max_loads")) {
    EXPECT_GE(load, row.at("reference").get<double>());
    EXPECT_LE(load, graph.at("seeds").at("local_search").get<double>());
  }
  EXPECT_THAT(out.str(), HasSubstr("layer_bert24_inference *"));
}

TEST(PlacementBench, SaysWhichConstraintExpertsBreak) {
  const TemporaryDirectory folder;
  const auto write = [&](const char* name, const char* text) {
    std::ofstream(folder.path() + "/" + name) << text;
  };
  write("manifest.json", R"([{"name": "two", "expert": true}])");
  write("two.json.zst", R"({"maxSizePerFPGA": 3, "maxFPGAs": 2, "maxCPUs": 1,
      "nodes": [{"id": 1, "fpgaLatency": 1, "cpuLatency": 9, "size": 2,
                 "supportedOnFpga": 1, "isBackwardNode": 0},
                {"id": 2, "fpgaLatency": 1, "cpuLatency": 9, "size": 2,
                 "supportedOnFpga": 1, "isBackwardNode": 0}],
      "edges": [{"sourceId": 1, "destId": 2, "cost": 0.5}]})");
  PlacementBenchOptions options = SmallOptions();
  options.tables = {"quality"};
  options.graphs = folder.path();
  options.only = "";
  options.evaluations = 0;
  const auto expert = [&](const char* split, std::ostream& out) {
    write("two.expert.json.zst", split);
    const auto document = RunPlacementBench(options, out);
    EXPECT_TRUE(document.ok()) << document.status();
    return document->at("quality").at("graphs").at(0).at("expert");
  };
  std::ostringstream good;
  EXPECT_EQ(
      expert(R"({"fpgas": [{"nodes": [1]}, {"nodes": [2]}], "cpus": []})", good)
          .at("max_load"),
      1.5);
  std::ostringstream bad;
  EXPECT_FALSE(expert(R"({"fpgas": [{"nodes": [1, 2]}], "cpus": []})", bad)
                   .contains("max_load"));
  EXPECT_THAT(bad.str(), HasSubstr("the experts' split of two is not valid: "));
}

TEST(PlacementBench, MeasuresSyntheticGraphs) {
  std::ostringstream out;
  PlacementBenchOptions options = SmallOptions();
  options.tables = {"scale"};
  const auto document = RunPlacementBench(options, out);
  ASSERT_TRUE(document.ok()) << document.status();
  const auto& rows = document->at("scale");
  ASSERT_EQ(rows.size(), 2u);
  for (const auto& row : rows) {
    EXPECT_GT(row.at("searches").at("moves_per_second"), 0);
    for (const char* id : {"policy", "guided", "ppo"}) {
      const auto& next = row.at("searches").at(id).at("next");
      EXPECT_GT(next.at("cpu_seconds"), 0);
      EXPECT_GT(next.at("placements"), 0);
    }
    const auto& seeds = row.at("seeds");
    EXPECT_LE(seeds.at("exact").at("max_load"),
              seeds.at("segments").at("max_load"));
    EXPECT_GE(seeds.at("exact").at("max_load"), seeds.at("bound"));
  }
}

TEST(PlacementBench, MeasuresHowStepsGrow) {
  std::ostringstream out;
  PlacementBenchOptions options = SmallOptions();
  options.tables = {"step-scale"};
  options.nodes = {500, 200};
  const auto document = RunPlacementBench(options, out);
  ASSERT_TRUE(document.ok()) << document.status();
  const auto& table = document->at("step-scale");
  const auto& large = table.at("sizes").at(0);
  const auto& small = table.at("sizes").at(1);
  const auto n = [](const nlohmann::ordered_json& row) {
    return row.at("nodes").get<double>();
  };
  ASSERT_GT(n(large), n(small));
  const double least =
      n(large) * std::log(n(large)) / (n(small) * std::log(n(small)));
  for (const char* field :
       {"known_methods_seconds", "simulation_ms", "simulation_unfused_ms",
        "change_ms", "policy_seconds"}) {
    const double growth =
        large.at(field).get<double>() / small.at(field).get<double>() / least;
    EXPECT_NEAR(table.at("growth").at(field), growth, 1e-9) << field;
  }
  EXPECT_THAT(out.str(), HasSubstr("known methods: grew by "));
}

TEST(PlacementBench, UnknownOptimizersAreRefused) {
  std::ostringstream out;
  PlacementBenchOptions options = SmallOptions();
  options.searches = {"no_such"};
  EXPECT_THAT(RunPlacementBench(options, out),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("no_such")));
}

}  // namespace
}  // namespace hone::bench
