#ifndef HONE_TESTS_GRAPHS_STEP_FUSION_BY_DEFINITION_H_
#define HONE_TESTS_GRAPHS_STEP_FUSION_BY_DEFINITION_H_

#include <map>
#include <set>
#include <utility>

#include "absl/types/span.h"

#include "graphs/op_graph.h"
#include "graphs/step/fusion_rules.h"

namespace hone::testing {

// The kernels of a fusion, what they cost and whether they are legal, as the
// comments of FusionRules define them: slow, and without its code.
class FusionByDefinition {
 public:
  using Nodes = std::set<graphs::NodeIndex>;

  // Both outlive this.
  FusionByDefinition(const graphs::OpGraph& graph,
                     absl::Span<const uint8_t> fused);

  // The nodes that the kernel of `root` computes.
  const Nodes& members(graphs::NodeIndex root) const {
    return members_.at(root);
  }
  // The most bytes that a node of the kernel of `root` reads of each other
  // kernel's result, by the root of that.
  std::map<graphs::NodeIndex, double> Inputs(graphs::NodeIndex root) const;
  graphs::KernelCost Cost(graphs::NodeIndex root) const;
  bool IsLegal() const;

 private:
  void Collect(graphs::NodeIndex node, Nodes& members) const;
  double edge(graphs::NodeIndex from, graphs::NodeIndex to) const {
    return edges_.at({from, to});
  }
  // Bytes of all edges to a node.
  double OperandBytes(graphs::NodeIndex node) const;
  double Written(graphs::NodeIndex node) const;
  // The share of its operands that a node reads.
  double Share(graphs::NodeIndex node) const;
  bool IsSignificant(graphs::NodeIndex node) const;
  bool CanBeFused(graphs::NodeIndex node) const;
  bool CostsNothingAgain(graphs::NodeIndex node) const;
  // How often each element of `node` is needed in the kernel of `root`; `known`
  // keeps what is known of others in it.
  double Uses(graphs::NodeIndex node, graphs::NodeIndex root,
              std::map<graphs::NodeIndex, double>& known) const;

  const graphs::OpGraph& graph_;
  const absl::Span<const uint8_t> fused_;
  std::map<std::pair<graphs::NodeIndex, graphs::NodeIndex>, double> edges_;
  std::map<graphs::NodeIndex, Nodes> members_;  // by root
};

}  // namespace hone::testing

#endif  // HONE_TESTS_GRAPHS_STEP_FUSION_BY_DEFINITION_H_
