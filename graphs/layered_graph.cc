#include "graphs/layered_graph.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

#include "base/check.h"
#include "base/rng.h"

namespace hone::graphs {
namespace {

constexpr int32_t kAccelerators = 8;
constexpr size_t kKinds = 6;
constexpr size_t kSkip = 16;  // layers that a connection skips at most

// Log-normal with that median.
double Around(double median, double spread, Rng& rng) {
  return median * std::exp(spread * rng.Normal());
}

// Uniform in [low, high].
size_t Between(size_t low, size_t high, Rng& rng) {
  return low + rng.Below(high - low + 1);
}

// What the layers of one kind have in common: the operators of its branches.
struct LayerKind {
  std::vector<std::vector<DeviceNode>> branches;
  DeviceNode join;
  bool is_residual = false;
  double output_cost = 0;
};

DeviceNode DrawOperator(bool is_heavy, Rng& rng) {
  DeviceNode node;
  node.name = is_heavy ? "heavy" : "light";
  node.accelerator_latency = Around(is_heavy ? 0.5 : 0.005, 0.8, rng);
  node.cpu_latency =
      node.accelerator_latency * (is_heavy ? 10 : 2) * (1 + 2 * rng.Uniform());
  if (is_heavy) {
    node.size_bytes =
        std::round(1e6 * Around(node.accelerator_latency, 1, rng));
  }
  return node;
}

LayerKind DrawKind(Rng& rng) {
  LayerKind kind;
  kind.branches.resize(Between(1, 4, rng));
  for (std::vector<DeviceNode>& branch : kind.branches) {
    branch.resize(Between(2, 9, rng));
    for (DeviceNode& node : branch) node = DrawOperator(rng.Below(3) == 0, rng);
  }
  kind.join = DrawOperator(/*is_heavy=*/false, rng);
  kind.is_residual = rng.Below(3) != 0;
  kind.output_cost = Around(0.02, 0.6, rng);
  return kind;
}

class Layers {
 public:
  Layers(size_t nodes, uint64_t seed) : limit_(nodes), rng_(seed) {
    nodes_.reserve(nodes);
    for (LayerKind& kind : kinds_) kind = DrawKind(rng_);
  }

  DeviceGraph Make() && {
    outputs_.push_back(Add(DrawOperator(/*is_heavy=*/false, rng_), 0.01));
    while (nodes_.size() < limit_) {
      const LayerKind& kind = kinds_[rng_.Below(kKinds)];
      for (size_t i = Between(2, 12, rng_); i > 0; --i) AddLayer(kind);
    }
    double bytes = 0;
    for (const DeviceNode& node : nodes_) bytes += node.size_bytes;
    absl::StatusOr<DeviceGraph> graph = DeviceGraph::Create(
        {std::ceil(1.5 * bytes / kAccelerators), kAccelerators, /*cpus=*/1},
        std::move(nodes_), std::move(edges_));
    HONE_CHECK(graph.ok());
    return *std::move(graph);
  }

 private:
  // Adds a node and returns it.
  size_t Add(DeviceNode node, double output_cost) {
    node.id = static_cast<int64_t>(nodes_.size());
    nodes_.push_back(std::move(node));
    output_costs_.push_back(output_cost);
    return nodes_.size() - 1;
  }

  void Connect(size_t from, size_t to) {
    edges_.push_back({static_cast<int64_t>(from), static_cast<int64_t>(to),
                      output_costs_[from]});
  }

  void AddLayer(const LayerKind& kind) {
    if (nodes_.size() == limit_) return;
    const size_t input = outputs_.back();
    std::vector<size_t> ends;
    for (const std::vector<DeviceNode>& branch : kind.branches) {
      size_t before = input;
      for (const DeviceNode& node : branch) {
        if (nodes_.size() == limit_) return;
        const size_t next = Add(node, kind.output_cost);
        Connect(before, next);
        before = next;
      }
      ends.push_back(before);
    }
    if (nodes_.size() == limit_) return;
    const size_t join = Add(kind.join, kind.output_cost);
    if (kind.is_residual) Connect(input, join);
    if (outputs_.size() > 1 && rng_.Below(10) == 0) {
      const size_t skip =
          Between(1, std::min(kSkip, outputs_.size() - 1), rng_);
      Connect(outputs_[outputs_.size() - 1 - skip], join);
    }
    for (const size_t end : ends) Connect(end, join);
    outputs_.push_back(join);
  }

  const size_t limit_;
  Rng rng_;
  std::array<LayerKind, kKinds> kinds_;
  std::vector<DeviceNode> nodes_;
  std::vector<DeviceEdge> edges_;
  std::vector<double> output_costs_;  // [nodes]
  std::vector<size_t> outputs_;       // the last node of each layer
};

}  // namespace

DeviceGraph MakeLayeredGraph(size_t nodes, uint64_t seed) {
  return Layers(nodes, seed).Make();
}

}  // namespace hone::graphs
