#include "tests/graphs/random_device_graph.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "base/check.h"

namespace hone::testing {

using graphs::DeviceEdge;
using graphs::DeviceGraph;
using graphs::DeviceLimits;
using graphs::DeviceNode;

namespace {

// A latency in quarters, so that sums are exact.
double Quarters(Rng& rng, uint64_t bound) {
  return static_cast<double>(rng.Below(bound)) / 4;
}

}  // namespace

DeviceGraph RandomDeviceGraph(Rng& rng, size_t nodes, int32_t accelerators,
                              int32_t cpus) {
  enum class Backward { kNone, kRandom, kMirror, kSame };
  const auto backward = static_cast<Backward>(rng.Below(4));
  const bool mirrored =
      backward == Backward::kMirror || backward == Backward::kSame;
  const size_t half = nodes / 2;
  const uint64_t density = 1 + rng.Below(4);
  const bool has_unsupported = cpus > 0 && rng.Below(2) == 0;
  const uint64_t colors = rng.Below(3) == 0 ? 2 + rng.Below(4) : 0;
  const bool has_zeros = rng.Below(2) == 0;

  std::vector<DeviceNode> list(nodes);
  for (size_t i = 0; i < nodes; ++i) {
    DeviceNode& node = list[i];
    node.id = 1000 - 7 * static_cast<int64_t>(i);
    node.name = absl::StrCat("n", i);
    const bool is_free = has_zeros && rng.Below(3) == 0;
    node.accelerator_latency = is_free ? 0 : Quarters(rng, 20);
    node.cpu_latency = is_free ? 0 : Quarters(rng, 60);
    node.size_bytes = static_cast<double>(rng.Below(5));
    node.supported_on_accelerator = !has_unsupported || rng.Below(5) != 0;
    if (mirrored) {
      node.is_backward = i >= half;
      node.color_class = static_cast<int64_t>(i >= half ? nodes - 1 - i : i);
    } else {
      node.is_backward = backward == Backward::kRandom && rng.Below(nodes) < i;
      if (colors > 0 && rng.Below(2) == 0) {
        node.color_class = static_cast<int64_t>(rng.Below(colors));
      }
    }
  }
  std::vector<DeviceEdge> edges;
  for (size_t i = 0; i < nodes; ++i) {
    const double cost = Quarters(rng, 6);
    for (size_t j = i + 1; j < nodes; ++j) {
      if (rng.Below(6) >= density) continue;
      if (mirrored && list[i].is_backward) continue;
      edges.push_back({list[i].id, list[j].id, cost});
    }
  }
  if (mirrored) {
    // Edges of the backward part follow those of the forward part.
    std::vector<DeviceEdge> forward = edges;
    std::vector<double> costs(nodes);
    for (double& cost : costs) cost = Quarters(rng, 6);
    for (size_t i = 0; i < half; ++i) {
      for (size_t j = i + 1; j < half; ++j) {
        const bool exists =
            std::any_of(forward.begin(), forward.end(), [&](const auto& edge) {
              return edge.source_id == list[i].id &&
                     edge.target_id == list[j].id;
            });
        if (!exists) continue;
        size_t from = nodes - 1 - j;
        size_t to = nodes - 1 - i;
        if (backward == Backward::kSame) std::swap(from, to);
        edges.push_back({list[from].id, list[to].id, costs[from]});
      }
    }
  }
  const DeviceLimits limits = {.max_accelerator_bytes = static_cast<double>(
                                   4 + rng.Below(rng.Below(2) == 0 ? 6 : 60)),
                               .accelerators = accelerators,
                               .cpus = cpus};
  auto graph = DeviceGraph::Create(limits, list, edges);
  EXPECT_TRUE(graph.ok()) << graph.status();
  HONE_CHECK(graph.ok());
  return *std::move(graph);
}

void ForEachAssignment(
    size_t nodes, int32_t devices,
    const std::function<void(const std::vector<int32_t>&)>& visit) {
  std::vector<int32_t> assignment(nodes);
  while (true) {
    visit(assignment);
    size_t i = 0;
    while (i < nodes && ++assignment[i] == devices) assignment[i++] = 0;
    if (i == nodes) return;
  }
}

std::string ReadGraphFile(const std::string& name) {
  std::ifstream file(std::string(HONE_SOURCE_DIR) + "/tests/testdata/graphs/" +
                     name);
  EXPECT_TRUE(file.is_open()) << name;
  return std::string(std::istreambuf_iterator<char>(file),
                     std::istreambuf_iterator<char>());
}

}  // namespace hone::testing
