#include "bench/cost_model/synthetic_kernels.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "base/rng.h"

namespace hone::bench {
namespace {

using learning::CostGroup;
using learning::CostSample;

// Kinds of nodes, and what one register of each costs.
constexpr int32_t kParameter = 1;
constexpr double kCosts[] = {0, 0, 1, 2, 6, 14};
constexpr int32_t kKinds = 6;

struct Kernel {
  int32_t log_rows = 0, log_columns = 0;
  std::vector<int32_t> kinds;
  std::vector<std::pair<int32_t, int32_t>> edges;
};

struct Tile {
  int32_t log_rows = 0, log_columns = 0;
};

Kernel RandomKernel(int32_t most_nodes, Rng& rng) {
  const auto below = [&](int32_t bound) {
    return static_cast<int32_t>(rng.Below(static_cast<uint64_t>(bound)));
  };
  Kernel kernel;
  kernel.log_rows = 3 + below(8);
  kernel.log_columns = 5 + below(7);
  const int32_t parameters = 1 + below(3);
  const int32_t nodes =
      parameters + 1 + below(std::max(most_nodes - parameters, 1));
  // Half of the nodes are of one kind.
  const int32_t favorite = 2 + below(kKinds - 2);
  for (int32_t i = 0; i < nodes; ++i) {
    if (i < parameters) {
      kernel.kinds.push_back(kParameter);
      continue;
    }
    kernel.kinds.push_back(below(2) == 0 ? favorite : 2 + below(kKinds - 2));
    kernel.edges.emplace_back(below(i), i);
    if (below(2) == 0) kernel.edges.emplace_back(i - 1, i);
  }
  return kernel;
}

double TimeOf(const Kernel& kernel, const Tile& tile, double overhead) {
  const double rows = std::exp2(tile.log_rows);
  const double columns = std::exp2(tile.log_columns);
  const double steps = std::exp2(kernel.log_rows - tile.log_rows +
                                 kernel.log_columns - tile.log_columns);
  const double registers = std::ceil(rows / 8) * std::ceil(columns / 128);
  double compute = 0, arrays = 1;
  for (const int32_t kind : kernel.kinds) {
    compute += kCosts[kind] * registers;
    if (kind == kParameter) ++arrays;
  }
  // Short rows are transferred less efficiently.
  double transfer = arrays * rows * (columns + 32) / 256;
  if (static_cast<double>(kernel.kinds.size()) * registers > 512) {
    transfer *= 3;
  }
  return steps * (std::max(compute, transfer) +
                  std::min(compute, transfer) / 4 + overhead);
}

std::shared_ptr<const space::Observation> GraphOf(const Kernel& kernel) {
  space::Observation graph;
  graph.node_kinds = kernel.kinds;
  for (size_t i = 0; i < kernel.kinds.size(); ++i) {
    graph.node_features.push_back(static_cast<float>(kernel.log_rows) / 8);
    graph.node_features.push_back(static_cast<float>(kernel.log_columns) / 8);
    graph.node_features.push_back(i + 1 == kernel.kinds.size() ? 1.F : 0.F);
  }
  for (const auto& [from, to] : kernel.edges) {
    graph.edge_sources.push_back(from);
    graph.edge_targets.push_back(to);
  }
  graph.global_features = {
      static_cast<float>(kernel.log_rows + kernel.log_columns) / 16};
  return std::make_shared<const space::Observation>(std::move(graph));
}

std::vector<float> ConfigOf(const Kernel& kernel, const Tile& tile) {
  return {static_cast<float>(tile.log_rows) / 8,
          static_cast<float>(tile.log_columns) / 8,
          static_cast<float>(kernel.log_rows - tile.log_rows +
                             kernel.log_columns - tile.log_columns) /
              8};
}

}  // namespace

learning::CostSpec SyntheticSpec() {
  return {.graph = {.node_kinds = kKinds,
                    .node_features = 3,
                    .global_features = 1,
                    .node_kind_names = {"unknown", "parameter", "add",
                                        "multiply", "divide", "exponential"},
                    .node_feature_names = {"rows", "columns", "is_root"},
                    .global_feature_names = {"elements"}},
          .config_names = {"tile_rows", "tile_columns", "steps"},
          .heads = {{"time", learning::CostTarget::kTime},
                    {"tile", learning::CostTarget::kOrder}},
          .features = "synthetic 1"};
}

std::vector<CostGroup> MakeSyntheticKernels(const SyntheticKernels& options) {
  Rng rng(options.seed);
  std::vector<CostGroup> groups;
  for (int32_t p = 0; p < options.programs; ++p) {
    for (int32_t k = 0; k < options.kernels; ++k) {
      const Kernel kernel = RandomKernel(options.most_nodes, rng);
      const auto graph = GraphOf(kernel);
      const auto sample = [&](const Tile& tile) {
        return CostSample{
            .graph = graph,
            .config = ConfigOf(kernel, tile),
            .log_time = std::log(TimeOf(kernel, tile, options.overhead))};
      };
      const std::string program = absl::StrCat("program", options.seed, ".", p);
      groups.push_back(
          {.program = program,
           .head = 0,
           .samples = {sample({std::min(kernel.log_rows, 3),
                               std::min(kernel.log_columns, 7)})}});
      CostGroup tiles = {.program = program, .head = 1};
      for (int32_t rows = 0; rows <= kernel.log_rows; ++rows) {
        for (int32_t columns = 3; columns <= kernel.log_columns; ++columns) {
          tiles.samples.push_back(sample({rows, columns}));
        }
      }
      groups.push_back(std::move(tiles));
    }
  }
  return groups;
}

}  // namespace hone::bench
