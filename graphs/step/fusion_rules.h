#ifndef HONE_GRAPHS_STEP_FUSION_RULES_H_
#define HONE_GRAPHS_STEP_FUSION_RULES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"

#include "graphs/op_graph.h"

namespace hone::graphs {

// A fusion decision: 1 for each node that is computed within the kernels of all
// its users and by no kernel of its own. [nodes]
//
// Every other node is the root of a kernel, which computes it and, again in
// each kernel, the fused nodes that it reads directly or through others. So a
// fused node with several users may be computed several times, as in XLA, and
// no decision makes a cycle.
using Fusion = std::vector<uint8_t>;

// The cost of one kernel, and what limits its growth.
struct KernelCost {
  double flops = 0;
  double bytes = 0;        // read and written
  int32_t members = 0;     // nodes computed
  int32_t inputs = 0;      // other kernels read
  int32_t reductions = 0;  // significant ones
};

// Which nodes may be fused, and what kernels cost.
//
// Only elementwise and data movement operators and reductions that are not
// significant are fused, unless the program returns their result or nobody
// reads it. These, any reduction, dynamic-update-slice and reduce-window may be
// roots that read fused nodes; anything else, a matrix product or a call of a
// library, is a kernel by itself. A kernel has at most kMaxMembers nodes,
// kMaxInputs inputs and one significant reduction, of at least
// kSignificantReduction bytes to one, which is its root. A node is in at most
// kMaxKernels kernels, unless it costs nothing to compute again: it reads no
// other node, has no flops and at most 16 bytes of weights, as the broadcast of
// a constant. Source: the rules of XLA's priority fusion for GPUs (reference
// implementation in openxla/xla,
// xla/service/gpu/transforms/priority_fusion.cc), without those that need
// indices: coalescing, shared memory, registers.
//
// Bytes of a kernel: the result of its root, what its members read besides the
// results of nodes, and once for each other kernel the most that a member reads
// of it. A member that reads less than its operands, a slice for example, reads
// as large a share of each. Flops: those of the members, times how often each
// of their elements is needed, at most kMaxUse, which a broadcast multiplies
// and a slice divides.
//
// Threads: not thread-safe, as Cost needs room to work.
class FusionRules {
 public:
  static constexpr int32_t kMaxMembers = 48;
  static constexpr int32_t kMaxInputs = 48;
  static constexpr size_t kMaxKernels = 8;
  static constexpr double kSignificantReduction = 16;
  // The most often that an element counts as computed in one kernel.
  static constexpr double kMaxUse = 1e18;

  // `graph` outlives this.
  explicit FusionRules(const OpGraph& graph);

  const OpGraph& graph() const { return graph_; }
  // The bytes that `node` reads of its predecessor number `i`.
  double input_bytes(NodeIndex node, size_t i) const {
    return in_bytes_[in_begin_[node] + i];
  }
  // True for nodes that could be fused into some kernel.
  bool may_fuse(NodeIndex node) const { return may_fuse_[node] != 0; }
  // False for nodes whose kernel is never more than themselves.
  bool may_consume(NodeIndex node) const { return may_consume_[node] != 0; }
  // True for nodes that cost nothing to compute again.
  bool is_cheap(NodeIndex node) const { return is_cheap_[node] != 0; }

  // The kernel of `root`, given which nodes are fused. A kernel of one node has
  // the node's own flops and bytes; a reshape and an argument cost nothing.
  KernelCost Cost(NodeIndex root, absl::Span<const uint8_t> fused);
  // The nodes of the kernel that Cost has computed last, each after the members
  // that read it; the root is the first.
  absl::Span<const NodeIndex> members() const { return members_; }

  // Returns the roots of the kernels that read `node`, ascending; of a node
  // that is not cheap at most kMaxKernels + 1 of them.
  std::vector<NodeIndex> KernelsOf(NodeIndex node,
                                   absl::Span<const uint8_t> fused);
  // Returns false if `kernels`, of `node`, are too many.
  bool MayRepeat(NodeIndex node, absl::Span<const NodeIndex> kernels) const {
    return is_cheap(node) || kernels.size() <= kMaxKernels;
  }

  // Fuses `node`, which is not fused, if the rules allow that, and returns
  // whether they do.
  bool Fuse(NodeIndex node, Fusion& fused);

  // Returns the fusion of the nodes that are 1 in `wanted`, as far as the rules
  // allow it, users before what they read; `wanted` itself if it is legal. Time
  // is linear in the nodes, up to the limits of kernels.
  Fusion Legalize(absl::Span<const uint8_t> wanted);

 private:
  bool IsLegal(absl::Span<const uint8_t> fused);
  bool IsWithinLimits(const KernelCost& cost, NodeIndex root) const;

  const OpGraph& graph_;
  std::vector<uint8_t> may_fuse_;
  std::vector<uint8_t> may_consume_;
  std::vector<uint8_t> is_cheap_;
  std::vector<uint8_t> is_reduction_;  // significant
  std::vector<double> written_;        // bytes of each node's result
  std::vector<double> private_reads_;  // bytes read, but of no node
  std::vector<double> read_share_;     // of the operands
  // The bytes that each node reads, in the order of its predecessors.
  std::vector<size_t> in_begin_;  // [nodes + 1]
  std::vector<double> in_bytes_;  // [edges]
  std::vector<size_t> position_;  // in the topological order

  // Room to work.
  std::vector<NodeIndex> members_;
  std::vector<NodeIndex> stack_;
  std::vector<double> use_;      // of members
  std::vector<double> read_;     // of inputs
  std::vector<uint32_t> stamp_;  // of members and inputs
  uint32_t now_ = 0;
};

}  // namespace hone::graphs

#endif  // HONE_GRAPHS_STEP_FUSION_RULES_H_
