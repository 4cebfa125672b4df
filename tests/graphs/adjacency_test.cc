#include "graphs/adjacency.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/rng.h"

namespace hone::graphs {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(AdjacencyTest, HasNeighborsInTheOrderOfArcs) {
  const std::vector<Arc> arcs = {{2, 0}, {2, 1}, {0, 1}};
  const Adjacency graph(4, arcs);
  EXPECT_EQ(graph.size(), 4u);
  EXPECT_THAT(graph.successors(2), ElementsAre(0, 1));
  EXPECT_THAT(graph.predecessors(1), ElementsAre(2, 0));
  EXPECT_THAT(graph.successors(3), IsEmpty());
}

TEST(AdjacencyTest, EmptyGraph) {
  EXPECT_EQ(Adjacency().size(), 0u);
  EXPECT_THAT(TopologicalOrder(Adjacency()), IsEmpty());
  EXPECT_THAT(StrongComponents(Adjacency(0, {})), IsEmpty());
}

TEST(AdjacencyTest, FindsACycleInTheOrderOfItsArcs) {
  const std::vector<Arc> arcs = {{0, 1}, {3, 2}, {2, 1}, {1, 3}, {3, 4}};
  EXPECT_THAT(FindCycle(Adjacency(5, arcs)), ElementsAre(1, 3, 2));
}

// Against reachability by Warshall's algorithm.
TEST(AdjacencyTest, AgreesWithReachabilityOnRandomGraphs) {
  Rng rng(1);
  for (int round = 0; round < 500; ++round) {
    const size_t nodes = 1 + rng.Below(9);
    std::vector<std::vector<bool>> reaches(nodes, std::vector<bool>(nodes));
    std::vector<Arc> arcs;
    const uint64_t arc_count = rng.Below(14);
    for (uint64_t i = 0; i < arc_count; ++i) {
      const auto source = static_cast<NodeIndex>(rng.Below(nodes));
      const auto target = static_cast<NodeIndex>(rng.Below(nodes));
      arcs.push_back({source, target});
      reaches[source][target] = true;
    }
    for (size_t k = 0; k < nodes; ++k) {
      for (size_t i = 0; i < nodes; ++i) {
        for (size_t j = 0; j < nodes; ++j) {
          if (reaches[i][k] && reaches[k][j]) reaches[i][j] = true;
        }
      }
    }
    const Adjacency graph(nodes, arcs);
    const std::vector<uint32_t> component = StrongComponents(graph);
    bool is_cyclic = false;
    for (size_t i = 0; i < nodes; ++i) {
      is_cyclic |= reaches[i][i];
      for (size_t j = 0; j < nodes; ++j) {
        const bool same = i == j || (reaches[i][j] && reaches[j][i]);
        EXPECT_EQ(component[i] == component[j], same);
      }
    }
    const std::vector<NodeIndex> cycle = FindCycle(graph);
    EXPECT_EQ(cycle.empty(), !is_cyclic);
    for (size_t i = 0; i < cycle.size(); ++i) {
      EXPECT_THAT(graph.successors(cycle[i]),
                  ::testing::Contains(cycle[(i + 1) % cycle.size()]));
    }
    const std::vector<NodeIndex> order = TopologicalOrder(graph);
    EXPECT_EQ(order.size() == nodes, !is_cyclic);
    for (size_t i = 0; i < order.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        EXPECT_FALSE(reaches[order[i]][order[j]]);
      }
    }
  }
}

}  // namespace
}  // namespace hone::graphs
