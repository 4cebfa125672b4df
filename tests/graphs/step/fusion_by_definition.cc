#include "tests/graphs/step/fusion_by_definition.h"

#include <algorithm>
#include <cstdint>
#include <string>

namespace hone::testing {

using graphs::FusionRules;
using graphs::KernelCost;
using graphs::NodeIndex;
using graphs::OpGraph;
using graphs::OpNode;

namespace {

// Of the opcodes in tests.
bool IsFusible(const std::string& opcode) {
  static const std::set<std::string> opcodes = {
      "add",  "exponential", "negate",     "select", "sine",
      "copy", "broadcast",   "reduce",     "slice",  "reshape",
      "iota", "transpose",   "concatenate"};
  return opcodes.contains(opcode);
}
bool ReadsFused(const std::string& opcode) {
  return IsFusible(opcode) || opcode == "dynamic-update-slice" ||
         opcode == "reduce-window";
}

}  // namespace

FusionByDefinition::FusionByDefinition(const OpGraph& graph,
                                       absl::Span<const uint8_t> fused)
    : graph_(graph), fused_(fused) {
  std::map<int64_t, NodeIndex> index;
  for (NodeIndex i = 0; i < graph.size(); ++i) index[graph.node(i).id] = i;
  for (const graphs::OpEdge& edge : graph.edges()) {
    edges_[{index[edge.from_id], index[edge.to_id]}] = edge.bytes;
  }
  for (NodeIndex i = 0; i < graph.size(); ++i) {
    if (fused[i] == 0) Collect(i, members_[i]);
  }
}

void FusionByDefinition::Collect(NodeIndex node, Nodes& members) const {
  if (!members.insert(node).second) return;
  for (const NodeIndex read : graph_.adjacency().predecessors(node)) {
    if (fused_[read] != 0) Collect(read, members);
  }
}

double FusionByDefinition::OperandBytes(NodeIndex node) const {
  double bytes = 0;
  for (const NodeIndex read : graph_.adjacency().predecessors(node)) {
    bytes += edge(read, node);
  }
  return bytes;
}

double FusionByDefinition::Written(NodeIndex node) const {
  return std::min(graph_.node(node).bytes, graph_.node(node).output_bytes);
}

double FusionByDefinition::Share(NodeIndex node) const {
  const double all = OperandBytes(node);
  const double reads = graph_.node(node).bytes - Written(node);
  return reads < all ? reads / all : 1;
}

bool FusionByDefinition::IsSignificant(NodeIndex node) const {
  const OpNode& of = graph_.node(node);
  const double reads = std::max(of.bytes - Written(node), OperandBytes(node));
  return of.opcode == "reduce" && reads >= 16 * of.output_bytes;
}

bool FusionByDefinition::CanBeFused(NodeIndex node) const {
  return IsFusible(graph_.node(node).opcode) && !IsSignificant(node) &&
         !graph_.node(node).is_output &&
         !graph_.adjacency().successors(node).empty();
}

bool FusionByDefinition::CostsNothingAgain(NodeIndex node) const {
  return graph_.node(node).flops == 0 &&
         graph_.adjacency().predecessors(node).empty() &&
         graph_.node(node).parameter_bytes <= 16;
}

double FusionByDefinition::Uses(NodeIndex node, NodeIndex root,
                                std::map<NodeIndex, double>& known) const {
  if (node == root) return 1;
  if (known.contains(node)) return known[node];
  double most = 0;
  for (const NodeIndex reader : graph_.adjacency().successors(node)) {
    if (!members(root).contains(reader)) continue;
    const OpNode& of = graph_.node(reader);
    const double bytes = edge(node, reader);
    const double times = of.opcode == "broadcast" && bytes > 0
                             ? std::max(1.0, of.output_bytes / bytes)
                             : Share(reader);
    most = std::max(most, Uses(reader, root, known) * times);
  }
  known[node] = most;
  return most;
}

std::map<NodeIndex, double> FusionByDefinition::Inputs(NodeIndex root) const {
  std::map<NodeIndex, double> inputs;
  for (const NodeIndex member : members(root)) {
    for (const NodeIndex read : graph_.adjacency().predecessors(member)) {
      if (fused_[read] != 0) continue;
      inputs[read] = std::max(inputs[read], edge(read, member));
    }
  }
  return inputs;
}

KernelCost FusionByDefinition::Cost(NodeIndex root) const {
  const Nodes& nodes = members(root);
  KernelCost cost = {.members = static_cast<int32_t>(nodes.size())};
  std::map<NodeIndex, double> read;
  std::map<NodeIndex, double> known;
  for (const NodeIndex node : nodes) {
    const OpNode& of = graph_.node(node);
    const double uses = Uses(node, root, known);
    cost.flops += uses * of.flops;
    cost.reductions += IsSignificant(node) ? 1 : 0;
    const double others = of.bytes - Written(node) - OperandBytes(node);
    if (others > 0) cost.bytes += others * std::min(uses, 1.0);
    for (const NodeIndex from : graph_.adjacency().predecessors(node)) {
      if (nodes.contains(from)) continue;
      const double bytes = edge(from, node) * Share(node) * std::min(uses, 1.0);
      read[from] = std::max(read[from], bytes);
    }
  }
  for (const auto& [from, bytes] : read) cost.bytes += bytes;
  cost.bytes += Written(root);
  cost.inputs = static_cast<int32_t>(read.size());
  if (nodes.size() > 1) return cost;
  const OpNode& node = graph_.node(root);
  const bool is_free = node.opcode == "reshape" || node.opcode == "parameter";
  cost.flops = is_free ? 0 : node.flops;
  cost.bytes = is_free ? 0 : node.bytes;
  return cost;
}

bool FusionByDefinition::IsLegal() const {
  for (NodeIndex node = 0; node < graph_.size(); ++node) {
    if (fused_[node] == 0) {
      const Nodes& nodes = members(node);
      if (nodes.size() == 1) continue;
      if (!ReadsFused(graph_.node(node).opcode) ||
          nodes.size() > FusionRules::kMaxMembers ||
          Inputs(node).size() > FusionRules::kMaxInputs) {
        return false;
      }
      const bool others_reduce = std::ranges::any_of(
          nodes, [&](NodeIndex i) { return i != node && IsSignificant(i); });
      if (others_reduce) return false;
      continue;
    }
    if (!CanBeFused(node)) return false;
    const auto kernels = std::ranges::count_if(
        members_, [&](const auto& of) { return of.second.contains(node); });
    if (kernels > static_cast<int64_t>(FusionRules::kMaxKernels) &&
        !CostsNothingAgain(node)) {
      return false;
    }
  }
  return true;
}

}  // namespace hone::testing
