#include "tests/graphs/mcm/random_partition_graph.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "base/check.h"

namespace hone::testing {

using graphs::OpEdge;
using graphs::OpGraph;
using graphs::OpNode;

graphs::Package SmallPackage(int32_t chips, double memory_bytes) {
  return {.chips = chips,
          .flops_per_second = 1e9,
          .bytes_per_second = 1e9,
          .memory_bytes = memory_bytes,
          .op_seconds = 1e-6,
          .spill_bytes_per_second = 1e8,
          .link = {.bytes_per_second = 1e9, .latency_seconds = 1e-6}};
}

OpGraph RandomLayers(Rng& rng, size_t nodes) {
  const uint64_t shape = rng.Below(3);
  std::vector<OpNode> list(nodes);
  std::vector<OpEdge> edges;
  for (size_t i = 0; i < nodes; ++i) {
    OpNode& node = list[i];
    node.id = 300 - 2 * static_cast<int64_t>(i);
    node.name = absl::StrCat("n", i);
    node.opcode = "dot";
    node.flops = static_cast<double>(rng.Below(5)) * 1000;
    node.output_bytes = static_cast<double>(rng.Below(4)) * 500;
    node.parameter_bytes =
        rng.Below(3) == 0 ? static_cast<double>(rng.Below(4)) * 100 : 0;
    std::vector<size_t> read;
    if (i > 0) {
      switch (shape) {
        case 0:  // a chain with residual connections
          read.push_back(i - 1);
          if (rng.Below(4) == 0) read.push_back(rng.Below(i));
          break;
        case 1:  // near ones
          for (uint64_t r = rng.Below(3); r > 0; --r) {
            read.push_back(i - 1 - rng.Below(std::min<size_t>(i, 4)));
          }
          break;
        default:
          for (uint64_t r = rng.Below(4); r > 0; --r) {
            read.push_back(rng.Below(i));
          }
      }
    }
    std::sort(read.begin(), read.end());
    read.erase(std::unique(read.begin(), read.end()), read.end());
    if (read.empty() && rng.Below(2) == 0) {
      node.opcode = "parameter";
      node.flops = 0;
      node.parameter_bytes = node.output_bytes;
    } else if (rng.Below(8) == 0) {
      node.opcode = "broadcast";
    }
    for (const size_t source : read) {
      edges.push_back({list[source].id, node.id, list[source].output_bytes});
    }
  }
  // So that some node is no source.
  list.back().opcode = "dot";
  list.back().flops = 4000;
  if (rng.Below(2) == 0) {
    for (size_t i = list.size(); i-- > 1;) {
      std::swap(list[i], list[rng.Below(i + 1)]);
    }
  }
  auto graph = OpGraph::Create(std::move(list), std::move(edges));
  HONE_CHECK(graph.ok());
  return *std::move(graph);
}

graphs::PartitionGraph RandomPartitionGraph(Rng& rng, size_t nodes,
                                            int32_t chips, bool is_tight) {
  const double memory =
      is_tight ? 200.0 + static_cast<double>(rng.Below(10)) * 100 : 1e9;
  auto graph = graphs::PartitionGraph::Create(RandomLayers(rng, nodes),
                                              SmallPackage(chips, memory));
  HONE_CHECK(graph.ok());
  return *std::move(graph);
}

}  // namespace hone::testing
