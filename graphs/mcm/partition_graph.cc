#include "graphs/mcm/partition_graph.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/str_format.h"

#include "base/status_macros.h"
#include "graphs/hlo_import.h"

namespace hone::graphs {
namespace {

constexpr double kMillisecondsPerSecond = 1e3;

// The most that a source which is computed takes of a chip's share of all work,
// with all that it is made of, and of its memory.
constexpr double kSourceWork = 0.05;
constexpr double kSourceMemory = 0.01;

bool IsBareSource(const OpNode& node) {
  return node.opcode == kParameterOpcode || node.opcode == "constant" ||
         node.opcode == "iota";
}

std::vector<bool> FindSources(const OpGraph& ops, const Package& package,
                              const std::vector<PartitionNode>& nodes) {
  double share = 0;
  for (const PartitionNode& node : nodes) share += node.time;
  share /= package.chips;
  std::vector<bool> is_source(ops.size());
  // Of a node and all that it is made of, as often as it is read: without the
  // sum, a model of many small nodes would be made of sources.
  std::vector<double> made_in(ops.size());
  for (const NodeIndex index : ops.topological_order()) {
    const OpNode& node = ops.node(index);
    const absl::Span<const NodeIndex> before =
        ops.adjacency().predecessors(index);
    made_in[index] = nodes[index].time;
    for (const NodeIndex read : before) made_in[index] += made_in[read];
    const bool is_cheap =
        made_in[index] <= kSourceWork * share &&
        node.parameter_bytes <= kSourceMemory * package.memory_bytes;
    // What nobody reads is a result, which one chip makes.
    const bool is_copied =
        !ops.adjacency().successors(index).empty() &&
        (node.opcode == "broadcast" || node.opcode == "reshape" || is_cheap);
    is_source[index] =
        std::all_of(before.begin(), before.end(),
                    [&](NodeIndex read) { return is_source[read]; }) &&
        ((IsBareSource(node) && before.empty()) || is_copied);
  }
  return is_source;
}

// Returns the node that each node belongs to: its only reader, or itself.
std::vector<NodeIndex> FindOwners(const Adjacency& adjacency,
                                  absl::Span<const NodeIndex> order,
                                  std::vector<PartitionNode>& nodes,
                                  const std::vector<bool>& is_source,
                                  double memory_bytes) {
  std::vector<NodeIndex> owners(nodes.size());
  // Nodes that read nothing but sources, and nodes that belong to them.
  std::vector<bool> is_root(nodes.size());
  for (const NodeIndex node : order) {
    owners[node] = node;
    const absl::Span<const NodeIndex> before = adjacency.predecessors(node);
    is_root[node] =
        std::all_of(before.begin(), before.end(), [&](NodeIndex read) {
          return is_source[read] || owners[read] == node;
        });
    const absl::Span<const NodeIndex> after = adjacency.successors(node);
    if (is_source[node] || !is_root[node] || after.size() != 1 ||
        nodes[node].time > nodes[node].transfer_time) {
      continue;
    }
    // What has weights may have to be elsewhere for them to fit.
    const double bytes =
        nodes[node].resident_bytes + nodes[after[0]].resident_bytes;
    if (nodes[node].resident_bytes > 0 && bytes > memory_bytes) continue;
    owners[node] = after[0];
    PartitionNode& reader = nodes[after[0]];
    reader.time += nodes[node].time;
    reader.resident_bytes += nodes[node].resident_bytes;
    reader.origins.insert(reader.origins.end(), nodes[node].origins.begin(),
                          nodes[node].origins.end());
  }
  // Those of a node that belongs to another one itself.
  for (size_t i = order.size(); i-- > 0;) {
    owners[order[i]] = owners[owners[order[i]]];
  }
  return owners;
}

}  // namespace

absl::StatusOr<PartitionGraph> PartitionGraph::Gather(
    const Adjacency& adjacency, absl::Span<const NodeIndex> order,
    std::vector<PartitionNode> nodes, const std::vector<bool>& is_source,
    double memory_bytes) {
  for (size_t i = 0; i < nodes.size(); ++i) {
    nodes[i].origins = {static_cast<NodeIndex>(i)};
  }
  const std::vector<NodeIndex> owners =
      FindOwners(adjacency, order, nodes, is_source, memory_bytes);
  PartitionGraph graph;
  std::vector<NodeIndex> index(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (is_source[i]) {
      index[i] = static_cast<NodeIndex>(graph.sources_.size());
      graph.sources_.push_back({.name = std::move(nodes[i].name),
                                .time = nodes[i].time,
                                .resident_bytes = nodes[i].resident_bytes,
                                .origin = static_cast<NodeIndex>(i)});
    } else if (owners[i] == i) {
      index[i] = static_cast<NodeIndex>(graph.nodes_.size());
      graph.nodes_.push_back(std::move(nodes[i]));
    }
  }
  if (graph.nodes_.empty()) {
    return absl::InvalidArgumentError(
        "all nodes are parameters, constants or next to nothing, expected work "
        "to partition");
  }
  std::vector<Arc> arcs;
  for (size_t i = 0; i < owners.size(); ++i) {
    const auto node = static_cast<NodeIndex>(i);
    if (is_source[i] || owners[i] != node) continue;
    for (const NodeIndex target : adjacency.successors(node)) {
      arcs.push_back({index[i], index[owners[target]]});
    }
  }
  // Readers of a source are its own and those of the sources that read it.
  for (size_t i = order.size(); i-- > 0;) {
    if (!is_source[order[i]]) continue;
    std::vector<NodeIndex>& readers = graph.sources_[index[order[i]]].readers;
    for (const NodeIndex target : adjacency.successors(order[i])) {
      if (is_source[target]) {
        const std::vector<NodeIndex>& others =
            graph.sources_[index[target]].readers;
        readers.insert(readers.end(), others.begin(), others.end());
      } else {
        readers.push_back(index[owners[target]]);
      }
    }
    std::sort(readers.begin(), readers.end());
    readers.erase(std::unique(readers.begin(), readers.end()), readers.end());
  }
  std::vector<Arc> reads;
  for (size_t s = 0; s < graph.sources_.size(); ++s) {
    for (const NodeIndex reader : graph.sources_[s].readers) {
      reads.push_back({static_cast<NodeIndex>(s), reader});
    }
  }
  graph.adjacency_ = Adjacency(graph.nodes_.size(), arcs);
  graph.order_ = TopologicalOrder(graph.adjacency_);
  graph.read_ =
      Adjacency(std::max(graph.nodes_.size(), graph.sources_.size()), reads);
  return graph;
}

absl::StatusOr<PartitionGraph> PartitionGraph::Create(const OpGraph& ops,
                                                      const Package& package) {
  absl::flat_hash_map<int64_t, double> most_bytes;  // by source
  for (const OpEdge& edge : ops.edges()) {
    double& most = most_bytes[edge.from_id];
    most = std::max(most, edge.bytes);
  }
  std::vector<PartitionNode> nodes;
  nodes.reserve(ops.size());
  for (const OpNode& node : ops.nodes()) {
    nodes.push_back(
        {.name = node.name,
         .time = kMillisecondsPerSecond *
                 std::max(node.flops / package.flops_per_second,
                          node.bytes / package.bytes_per_second),
         .transfer_time = kMillisecondsPerSecond * most_bytes[node.id] /
                          package.link.bytes_per_second,
         .resident_bytes = node.parameter_bytes,
         .output_bytes = node.output_bytes});
  }
  const std::vector<bool> is_source = FindSources(ops, package, nodes);
  HONE_ASSIGN_OR_RETURN(
      PartitionGraph graph,
      Gather(ops.adjacency(), ops.topological_order(), std::move(nodes),
             is_source, package.memory_bytes));
  graph.chips_ = package.chips;
  graph.memory_bytes_ = package.memory_bytes;
  return graph;
}

absl::StatusOr<PartitionGraph> PartitionGraph::Create(const DeviceGraph& graph,
                                                      const Package& package) {
  std::vector<PartitionNode> nodes;
  nodes.reserve(graph.size());
  std::vector<bool> is_source(graph.size());
  absl::flat_hash_set<int64_t> classes;
  for (size_t i = 0; i < graph.size(); ++i) {
    const DeviceNode& node = graph.nodes()[i];
    if (node.color_class.has_value() &&
        !classes.insert(*node.color_class).second) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "nodes[%d] shares its color class, expected nodes that may be apart: "
          "chips have no rule for classes",
          i));
    }
    if (!node.supported_on_accelerator) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "nodes[%d] is not supported on accelerators, expected nodes that run "
          "on a chip",
          i));
    }
    const auto index = static_cast<NodeIndex>(i);
    nodes.push_back({.name = node.name,
                     .time = node.accelerator_latency,
                     .transfer_time = graph.output_cost(index),
                     .resident_bytes = node.size_bytes});
    is_source[i] = node.accelerator_latency == 0 &&
                   graph.adjacency().predecessors(index).empty();
  }
  HONE_ASSIGN_OR_RETURN(
      PartitionGraph result,
      Gather(graph.adjacency(), graph.topological_order(), std::move(nodes),
             is_source, graph.limits().max_accelerator_bytes));
  result.chips_ = package.chips;
  result.memory_bytes_ = graph.limits().max_accelerator_bytes;
  return result;
}

PartitionGraph PartitionGraph::WithOverheads(double per_operator) const {
  PartitionGraph graph = *this;
  for (PartitionNode& node : graph.nodes_) {
    node.time += per_operator * static_cast<double>(node.origins.size());
  }
  return graph;
}

double PartitionGraph::total_time() const {
  double total = 0;
  for (const PartitionNode& node : nodes_) total += node.time;
  for (const PartitionSource& source : sources_) {
    if (!source.readers.empty()) total += source.time;
  }
  return total;
}

size_t PartitionGraph::origin_count() const {
  size_t count = sources_.size();
  for (const PartitionNode& node : nodes_) count += node.origins.size();
  return count;
}

std::vector<int32_t> PartitionGraph::ChipsOfOrigins(
    absl::Span<const int32_t> chips) const {
  std::vector<int32_t> result(origin_count());
  for (size_t i = 0; i < nodes_.size(); ++i) {
    for (const NodeIndex origin : nodes_[i].origins) result[origin] = chips[i];
  }
  for (const PartitionSource& source : sources_) {
    int32_t first = source.readers.empty() ? 0 : chips_;
    for (const NodeIndex reader : source.readers) {
      first = std::min(first, chips[reader]);
    }
    result[source.origin] = first;
  }
  return result;
}

}  // namespace hone::graphs
