#include "graphs/generated_graph.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "base/check.h"
#include "base/rng.h"

namespace hone::graphs {
namespace {

// Uniform in [low, high].
int32_t Between(Rng& rng, int32_t low, int32_t high) {
  return low +
         static_cast<int32_t>(rng.Below(static_cast<uint64_t>(high - low) + 1));
}

// Log-uniform in [low, high].
double Scale(Rng& rng, double low, double high) {
  return low * std::pow(high / low, rng.Uniform());
}

// Log-normal with a median of 1.
double Spread(Rng& rng, double deviation) {
  return std::exp(deviation * rng.Normal());
}

// A node as it is in each repetition of a block.
struct Operator {
  double latency = 0;
  double bytes = 0;
  double transfer = 0;
  bool has_parameters = false;
};

// A chain of operators between a block's first and last node.
using Branch = std::vector<Operator>;

struct Block {
  Operator first;
  std::vector<Branch> branches;
  Operator last;
  bool has_shortcut = false;

  int32_t size() const {
    int32_t nodes = 2;
    for (const Branch& branch : branches) {
      nodes += static_cast<int32_t>(branch.size());
    }
    return nodes;
  }
};

class Generator {
 public:
  Generator(uint64_t seed, int32_t most_nodes)
      : rng_(seed),
        has_backward_(rng_.Below(3) == 0),
        most_nodes_(has_backward_ ? most_nodes / 2 : most_nodes),
        transfer_scale_(Scale(rng_, 0.002, 20)),
        parameter_share_(rng_.Below(2) == 0 ? 0 : rng_.Uniform()) {}

  DeviceGraph Make() {
    const int32_t goal = Between(rng_, most_nodes_ / 4, most_nodes_);
    std::vector<Block> kinds;
    for (int32_t i = Between(rng_, 1, 3); i > 0; --i) {
      kinds.push_back(DrawBlock());
    }
    int32_t from = Add(DrawOperator(), {});
    while (std::ssize(nodes_) < goal) {
      // Later layers have wider operators, and fewer of them.
      const double growth = Scale(rng_, 0.5, 2);
      const Block& kind = kinds[rng_.Below(kinds.size())];
      for (int32_t i = Between(rng_, 1, 6); i > 0 && std::ssize(nodes_) < goal;
           --i) {
        from = AddBlock(kind, growth, from);
      }
    }
    if (has_backward_) AddBackward();
    return Finish();
  }

 private:
  Operator DrawOperator() {
    Operator op;
    op.latency = rng_.Below(6) == 0 ? 0 : Spread(rng_, 1);
    if (rng_.Below(6) == 0) op.latency *= 8;
    op.bytes = Spread(rng_, 1);
    op.transfer = transfer_scale_ * Spread(rng_, 0.7);
    op.has_parameters = rng_.Uniform() < parameter_share_;
    return op;
  }

  Block DrawBlock() {
    Block block{DrawOperator(), {}, DrawOperator(), rng_.Below(3) == 0};
    for (int32_t i = Between(rng_, 1, 4); i > 0; --i) {
      Branch& branch = block.branches.emplace_back();
      for (int32_t j = Between(rng_, 1, 4); j > 0; --j) {
        branch.push_back(DrawOperator());
      }
    }
    return block;
  }

  // Adds a node after `sources`.
  int32_t Add(const Operator& op, const std::vector<int32_t>& sources,
              double growth = 1) {
    std::vector<int32_t> all = sources;
    if (op.has_parameters) {
      all.push_back(AddNode(0, op.bytes * growth, op.transfer));
    }
    const int32_t node =
        AddNode(op.latency * growth, op.bytes * growth, op.transfer);
    for (const int32_t source : all) edges_.emplace_back(source, node);
    return node;
  }

  int32_t AddNode(double latency, double bytes, double transfer) {
    const auto index = static_cast<int32_t>(nodes_.size());
    DeviceNode node;
    node.id = index;
    node.name = absl::StrCat("n", index);
    node.accelerator_latency = latency;
    node.size_bytes = bytes;
    nodes_.push_back(std::move(node));
    transfers_.push_back(transfer);
    return index;
  }

  // Returns its last node.
  int32_t AddBlock(const Block& block, double growth, int32_t from) {
    const int32_t first = Add(block.first, {from}, growth);
    std::vector<int32_t> ends;
    for (const Branch& branch : block.branches) {
      int32_t node = first;
      for (const Operator& op : branch) node = Add(op, {node}, growth);
      ends.push_back(node);
    }
    if (block.has_shortcut) ends.push_back(from);
    return Add(block.last, ends, growth);
  }

  // Mirrors the forward pass; each node needs the output of its own.
  void AddBackward() {
    const auto count = static_cast<int32_t>(nodes_.size());
    const double slower = 1 + rng_.Uniform();
    const auto forward = edges_;
    for (int32_t i = 0; i < count; ++i) {
      const auto at = static_cast<size_t>(i);
      nodes_[at].color_class = i;
      const int32_t mirrored = AddNode(nodes_[at].accelerator_latency * slower,
                                       nodes_[at].size_bytes, transfers_[at]);
      nodes_[static_cast<size_t>(mirrored)].is_backward = true;
      nodes_[static_cast<size_t>(mirrored)].color_class = i;
      edges_.emplace_back(i, mirrored);
    }
    for (const auto& [source, target] : forward) {
      edges_.emplace_back(count + target, count + source);
    }
  }

  DeviceGraph Finish() {
    DeviceLimits limits;
    limits.accelerators = Between(rng_, 2, 8);
    limits.cpus = 1;
    const double slower_on_cpu = Scale(rng_, 8, 25);
    double bytes = 0;
    double largest = 0;
    for (DeviceNode& node : nodes_) {
      node.cpu_latency = node.accelerator_latency * slower_on_cpu;
      bytes += node.size_bytes;
      largest = std::max(largest, node.size_bytes);
    }
    // Memory is short in one of four.
    const double share = rng_.Below(4) == 0 ? 2.0 / limits.accelerators : 1;
    limits.max_accelerator_bytes = std::max(bytes * share, 4 * largest);
    std::vector<DeviceEdge> edges;
    edges.reserve(edges_.size());
    for (const auto& [source, target] : edges_) {
      edges.push_back(
          {source, target, transfers_[static_cast<size_t>(source)]});
    }
    absl::StatusOr<DeviceGraph> graph =
        DeviceGraph::Create(limits, std::move(nodes_), std::move(edges));
    HONE_CHECK(graph.ok());
    return *std::move(graph);
  }

  Rng rng_;
  const bool has_backward_;
  const int32_t most_nodes_;  // of the forward pass
  const double transfer_scale_;
  const double parameter_share_;
  std::vector<DeviceNode> nodes_;
  std::vector<double> transfers_;  // [nodes]
  std::vector<std::pair<int32_t, int32_t>> edges_;
};

}  // namespace

DeviceGraph GenerateDeviceGraph(uint64_t seed, int32_t most_nodes) {
  HONE_CHECK(most_nodes >= 20);
  return Generator(seed, most_nodes).Make();
}

}  // namespace hone::graphs
