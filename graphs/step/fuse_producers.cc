#include "graphs/step/fusions.h"

namespace hone::graphs {

Fusion FuseProducers(FusionRules& rules) {
  const OpGraph& graph = rules.graph();
  Fusion fused(graph.size());
  for (size_t i = graph.size(); i-- > 0;) {
    const NodeIndex node = graph.topological_order()[i];
    if (!rules.may_fuse(node)) continue;
    if (graph.node(node).flops > 0 && rules.KernelsOf(node, fused).size() > 1) {
      continue;
    }
    rules.Fuse(node, fused);
  }
  return fused;
}

}  // namespace hone::graphs
