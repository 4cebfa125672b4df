#ifndef HONE_TESTS_GRAPHS_NAMED_GRAPH_H_
#define HONE_TESTS_GRAPHS_NAMED_GRAPH_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "graphs/op_graph.h"

namespace hone::testing {

// An operator graph whose ids are the places of its nodes, by their names.
struct NamedGraph {
  NamedGraph() = default;
  explicit NamedGraph(const graphs::OpGraph& graph) {
    for (const graphs::OpNode& node : graph.nodes()) {
      EXPECT_EQ(node.id, static_cast<int64_t>(names.size()));
      names.push_back(node.name);
      nodes[node.name] = node;
    }
    for (const graphs::OpEdge& edge : graph.edges()) {
      edges[absl::StrCat(names[static_cast<size_t>(edge.from_id)], " ",
                         names[static_cast<size_t>(edge.to_id)])] = edge.bytes;
    }
  }

  std::vector<std::string> names;
  std::map<std::string, graphs::OpNode> nodes;
  std::map<std::string, double> edges;  // "from to"
};

}  // namespace hone::testing

#endif  // HONE_TESTS_GRAPHS_NAMED_GRAPH_H_
