#include "graphs/step/fusion_rules.h"

#include <algorithm>
#include <array>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

#include "graphs/hlo_import.h"

namespace hone::graphs {
namespace {

// Each list is sorted.
constexpr std::array kElementwise = {
    "abs",
    "add",
    "and",
    "atan2",
    "bitcast-convert",
    "cbrt",
    "ceil",
    "clamp",
    "compare",
    "complex",
    "convert",
    "copy",
    "cosine",
    "count-leading-zeros",
    "divide",
    "erf",
    "exponential",
    "exponential-minus-one",
    "floor",
    "imag",
    "is-finite",
    "log",
    "log-plus-one",
    "logistic",
    "map",
    "maximum",
    "minimum",
    "multiply",
    "negate",
    "not",
    "or",
    "popcnt",
    "power",
    "real",
    "reduce-precision",
    "remainder",
    "round-nearest-afz",
    "round-nearest-even",
    "rsqrt",
    "select",
    "shift-left",
    "shift-right-arithmetic",
    "shift-right-logical",
    "sign",
    "sine",
    "sqrt",
    "subtract",
    "tan",
    "tanh",
    "xor",
};
constexpr std::array kMovement = {
    "broadcast", "concatenate", "dynamic-slice", "gather", "iota",
    "pad",       "reshape",     "reverse",       "slice",  "transpose",
};
// May read fused nodes, but are not fused into others.
constexpr std::array kRootsOnly = {
    "dynamic-update-slice",
    "reduce-window",
};

template <size_t N>
bool IsOneOf(const std::array<const char*, N>& names, absl::string_view name) {
  return std::binary_search(names.begin(), names.end(), name);
}

// Weights that may be copied to any number of kernels: a scalar.
constexpr double kCheapBytes = 16;

// Costs nothing by itself: in row-major layouts it moves no data.
bool IsFree(absl::string_view opcode) {
  return opcode == "reshape" || opcode == kParameterOpcode;
}

}  // namespace

FusionRules::FusionRules(const OpGraph& graph)
    : graph_(graph),
      in_begin_(graph.size() + 1),
      in_bytes_(graph.edges().size()),
      position_(graph.size()),
      use_(graph.size()),
      read_(graph.size()),
      stamp_(graph.size()) {
  const Adjacency& adjacency = graph.adjacency();
  absl::flat_hash_map<int64_t, NodeIndex> index_of;
  for (size_t i = 0; i < graph.size(); ++i) {
    const auto node = static_cast<NodeIndex>(i);
    position_[graph.topological_order()[i]] = i;
    index_of[graph.node(node).id] = node;
    in_begin_[i + 1] = in_begin_[i] + adjacency.predecessors(node).size();
  }
  std::vector<size_t> next(in_begin_.begin(), in_begin_.end() - 1);
  for (const OpEdge& edge : graph.edges()) {
    in_bytes_[next[index_of[edge.to_id]]++] = edge.bytes;
  }
  for (size_t i = 0; i < graph.size(); ++i) {
    const auto index = static_cast<NodeIndex>(i);
    const OpNode& node = graph.node(index);
    const double read =
        absl::c_accumulate(absl::MakeConstSpan(in_bytes_).subspan(
                               in_begin_[i], in_begin_[i + 1] - in_begin_[i]),
                           0.0);
    written_.push_back(std::min(node.output_bytes, node.bytes));
    const double reads = node.bytes - written_.back();
    read_share_.push_back(read > 0 ? std::min(1.0, reads / read) : 1);
    private_reads_.push_back(std::max(0.0, reads - read));
    const bool is_reduction = node.opcode == "reduce";
    is_reduction_.push_back(is_reduction &&
                            read + private_reads_.back() >=
                                kSignificantReduction * node.output_bytes);
    const bool moves =
        IsOneOf(kElementwise, node.opcode) || IsOneOf(kMovement, node.opcode);
    // More operands than any kernel can read: nothing is asked of it again and
    // again.
    const bool reads_too_much =
        adjacency.predecessors(index).size() > size_t{kMaxInputs + kMaxMembers};
    may_consume_.push_back(
        !reads_too_much &&
        (moves || is_reduction || IsOneOf(kRootsOnly, node.opcode)));
    may_fuse_.push_back(!reads_too_much && (moves || is_reduction) &&
                        is_reduction_.back() == 0 && !node.is_output &&
                        !adjacency.successors(index).empty());
    is_cheap_.push_back(may_fuse_.back() != 0 && node.flops == 0 &&
                        adjacency.predecessors(index).empty() &&
                        node.parameter_bytes <= kCheapBytes);
  }
}

KernelCost FusionRules::Cost(NodeIndex root, absl::Span<const uint8_t> fused) {
  const Adjacency& adjacency = graph_.adjacency();
  KernelCost cost;
  ++now_;
  members_ = {root};
  stamp_[root] = now_;
  use_[root] = 1;
  for (size_t i = 0; i < members_.size(); ++i) {
    for (const NodeIndex before : adjacency.predecessors(members_[i])) {
      if (fused[before] == 0 || stamp_[before] == now_) continue;
      stamp_[before] = now_;
      use_[before] = 0;
      members_.push_back(before);
    }
  }
  cost.members = static_cast<int32_t>(members_.size());
  if (members_.size() > 1) {
    std::sort(
        members_.begin() + 1, members_.end(),
        [&](NodeIndex a, NodeIndex b) { return position_[a] > position_[b]; });
  }
  cost.bytes = written_[root];
  for (const NodeIndex member : members_) {
    const OpNode& node = graph_.node(member);
    const double use = use_[member];
    cost.flops += node.flops * use;
    cost.bytes += private_reads_[member] * std::min(1.0, use);
    cost.reductions += is_reduction_[member];
    const absl::Span<const NodeIndex> before = adjacency.predecessors(member);
    for (size_t i = 0; i < before.size(); ++i) {
      const double bytes = in_bytes_[in_begin_[member] + i];
      const NodeIndex source = before[i];
      if (fused[source] != 0) {
        const double repeats = node.opcode == "broadcast" && bytes > 0
                                   ? std::max(1.0, node.output_bytes / bytes)
                                   : read_share_[member];
        use_[source] = std::max(use_[source], std::min(use * repeats, kMaxUse));
        continue;
      }
      const double read = bytes * read_share_[member] * std::min(1.0, use);
      if (stamp_[source] != now_) {
        stamp_[source] = now_;
        read_[source] = 0;
        ++cost.inputs;
      }
      if (read > read_[source]) {
        cost.bytes += read - read_[source];
        read_[source] = read;
      }
    }
  }
  if (members_.size() > 1) return cost;
  const OpNode& node = graph_.node(root);
  // Without the rounding of what came in parts.
  cost.flops = IsFree(node.opcode) ? 0 : node.flops;
  cost.bytes = IsFree(node.opcode) ? 0 : node.bytes;
  return cost;
}

std::vector<NodeIndex> FusionRules::KernelsOf(NodeIndex node,
                                              absl::Span<const uint8_t> fused) {
  std::vector<NodeIndex> roots;
  ++now_;
  stack_ = {node};
  const size_t most = is_cheap(node) ? graph_.size() : kMaxKernels;
  while (!stack_.empty() && roots.size() <= most) {
    const NodeIndex from = stack_.back();
    stack_.pop_back();
    for (const NodeIndex user : graph_.adjacency().successors(from)) {
      if (stamp_[user] == now_) continue;
      stamp_[user] = now_;
      if (fused[user] != 0) {
        stack_.push_back(user);
      } else {
        roots.push_back(user);
        if (roots.size() > most) break;
      }
    }
  }
  std::sort(roots.begin(), roots.end());
  return roots;
}

bool FusionRules::IsWithinLimits(const KernelCost& cost, NodeIndex root) const {
  return cost.members == 1 ||
         (cost.members <= kMaxMembers && cost.inputs <= kMaxInputs &&
          cost.reductions <= is_reduction_[root]);
}

bool FusionRules::Fuse(NodeIndex node, Fusion& fused) {
  if (!may_fuse(node)) return false;
  const std::vector<NodeIndex> kernels = KernelsOf(node, fused);
  if (!MayRepeat(node, kernels)) return false;
  for (const NodeIndex root : kernels) {
    if (may_consume_[root] == 0) return false;
  }
  Cost(node, fused);
  const std::vector<NodeIndex> own(members_.begin(), members_.end());
  fused[node] = 1;
  const auto fits = [&](NodeIndex root) {
    return IsWithinLimits(Cost(root, fused), root);
  };
  const auto repeats = [&](NodeIndex member) {
    return MayRepeat(member, KernelsOf(member, fused));
  };
  if (absl::c_all_of(kernels, fits) && absl::c_all_of(own, repeats)) {
    return true;
  }
  fused[node] = 0;
  return false;
}

bool FusionRules::IsLegal(absl::Span<const uint8_t> fused) {
  for (size_t i = 0; i < graph_.size(); ++i) {
    const auto node = static_cast<NodeIndex>(i);
    if (fused[i] == 0) {
      if (!IsWithinLimits(Cost(node, fused), node)) return false;
      continue;
    }
    if (!may_fuse(node)) return false;
    const std::vector<NodeIndex> kernels = KernelsOf(node, fused);
    if (!MayRepeat(node, kernels)) return false;
    for (const NodeIndex root : kernels) {
      if (may_consume_[root] == 0) return false;
    }
  }
  return true;
}

Fusion FusionRules::Legalize(absl::Span<const uint8_t> wanted) {
  // In the order below a kernel may read too much on the way to what is legal.
  if (IsLegal(wanted)) return Fusion(wanted.begin(), wanted.end());
  Fusion fused(graph_.size());
  for (size_t i = graph_.size(); i-- > 0;) {
    const NodeIndex node = graph_.topological_order()[i];
    if (wanted[node] != 0) Fuse(node, fused);
  }
  return fused;
}

}  // namespace hone::graphs
