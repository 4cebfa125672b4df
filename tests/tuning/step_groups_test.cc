#include "tuning/tasks/step_groups.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/rng.h"
#include "graphs/op_graph_json.h"
#include "tests/graphs/step/random_cluster.h"
#include "tests/graphs/step/random_op_graph.h"
#include "tests/tuning/sample_steps.h"

namespace hone::tuning {
namespace {

using ::hone::testing::RandomCluster;
using ::hone::testing::RandomOpGraph;
using ::testing::ElementsAre;

std::unique_ptr<StepSpace> SpaceOf(const graphs::OpGraph& graph,
                                   const graphs::Cluster& cluster,
                                   StepDecisions decisions) {
  auto space = StepSpace::Create(graph, cluster, decisions);
  EXPECT_TRUE(space.ok()) << space.status();
  return *std::move(space);
}

std::set<uint32_t> SetOf(absl::Span<const uint32_t> members) {
  return {members.begin(), members.end()};
}

// Random graphs, in a third of which nodes have scopes.
graphs::OpGraph RandomGraph(Rng& rng, bool has_scopes) {
  const graphs::OpGraph graph = RandomOpGraph(rng, 1 + rng.Below(40));
  std::vector<graphs::OpNode> nodes(graph.nodes().begin(), graph.nodes().end());
  for (graphs::OpNode& node : nodes) {
    if (has_scopes) node.scope = std::string(1 + rng.Below(4), 's');
  }
  return *graphs::OpGraph::Create(nodes,
                                  {graph.edges().begin(), graph.edges().end()});
}

TEST(StepGroups, LevelsArePartitionsEachOfTheOneBelow) {
  Rng rng(1);
  for (int round = 0; round < 150; ++round) {
    const bool has_scopes = round % 3 == 0;
    const graphs::OpGraph graph = RandomGraph(rng, has_scopes);
    const graphs::Cluster cluster = RandomCluster(rng);
    SCOPED_TRACE(graphs::PrintOpGraph(graph));
    for (const NamedDecisions& task : kAllDecisions) {
      const auto space = SpaceOf(graph, cluster, task.decisions);
      const StepGroups groups(*space);
      const size_t units = space->unit_count();
      std::set<std::string> scopes;
      for (size_t u = 0; u < units; ++u) {
        EXPECT_THAT(groups.Members(0, u), ElementsAre(u));
        scopes.insert(graph.node(space->node_of(u)).scope);
      }
      const bool ends_with_scopes = scopes.size() > 1;
      ASSERT_GT(groups.level_count(), ends_with_scopes ? 1u : 0u);
      for (size_t level = 0; level < groups.level_count(); ++level) {
        for (size_t u = 0; u < units; ++u) {
          const std::set<uint32_t> members = SetOf(groups.Members(level, u));
          ASSERT_EQ(members.size(), groups.Members(level, u).size());
          ASSERT_TRUE(members.contains(static_cast<uint32_t>(u)));
          // A partition: the members agree.
          for (const uint32_t member : members) {
            ASSERT_LT(member, units);
            ASSERT_EQ(SetOf(groups.Members(level, member)), members);
          }
          if (ends_with_scopes && level + 1 == groups.level_count()) {
            const auto scope_of = [&](size_t unit) {
              return graph.node(space->node_of(unit)).scope;
            };
            for (size_t v = 0; v < units; ++v) {
              EXPECT_EQ(members.contains(static_cast<uint32_t>(v)),
                        scope_of(u) == scope_of(v));
            }
          } else if (level > 0) {
            const std::set<uint32_t> below =
                SetOf(groups.Members(level - 1, u));
            EXPECT_TRUE(std::includes(members.begin(), members.end(),
                                      below.begin(), below.end()));
          }
        }
      }
    }
  }
}

TEST(StepGroups, HeavyNeighborsAreTogetherFirst) {
  // A chain of products: of its edges the second is by far the heaviest.
  std::vector<graphs::OpNode> nodes;
  for (int64_t i = 0; i < 4; ++i) {
    nodes.push_back({.id = i, .opcode = "dot", .flops = 1e6, .bytes = 1e3});
  }
  const auto graph =
      graphs::OpGraph::Create(nodes, {{0, 1, 10}, {1, 2, 1e6}, {2, 3, 20}});
  ASSERT_TRUE(graph.ok()) << graph.status();
  for (const NamedDecisions& task : kAllDecisions) {
    const auto space = SpaceOf(*graph, Accelerators(2), task.decisions);
    const StepGroups groups(*space);
    // Those left over join them, as they have no other neighbors.
    ASSERT_EQ(groups.level_count(), 2u) << task.task;
    EXPECT_EQ(groups.Members(1, 0).size(), 4u);
  }
  // With a fifth node the ends have partners of their own.
  nodes.push_back({.id = 4, .opcode = "dot", .flops = 1e6, .bytes = 1e3});
  const auto longer = graphs::OpGraph::Create(
      nodes, {{0, 1, 10}, {1, 2, 1e6}, {2, 3, 20}, {3, 4, 30}});
  const auto space =
      SpaceOf(*longer, Accelerators(2), kAllDecisions[0].decisions);
  const StepGroups groups(*space);
  ASSERT_EQ(groups.level_count(), 3u);
  EXPECT_THAT(groups.Members(1, 1), ElementsAre(0, 1, 2));
  EXPECT_THAT(groups.Members(1, 3), ElementsAre(3, 4));
  EXPECT_EQ(groups.Members(2, 0).size(), 5u);
}

TEST(StepGroups, AGraphWithoutEdgesHasSingleUnitsOnly) {
  const auto graph = graphs::OpGraph::Create(
      {{.id = 0, .opcode = "dot"}, {.id = 1, .opcode = "dot"}}, {});
  const auto space =
      SpaceOf(*graph, Accelerators(2), kAllDecisions[3].decisions);
  const StepGroups groups(*space);
  EXPECT_EQ(groups.level_count(), 1u);
  EXPECT_THAT(groups.Members(0, 1), ElementsAre(1));
}

}  // namespace
}  // namespace hone::tuning
