#ifndef HONE_GRAPHS_IDEAL_LATTICE_H_
#define HONE_GRAPHS_IDEAL_LATTICE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "graphs/adjacency.h"

namespace hone::graphs {

// All ideals of an acyclic graph, numbered from the empty one (0) to that of
// all nodes (size() - 1) by their number of nodes, and the steps between them.
// Memory is linear in the number of steps.
class IdealLattice {
 public:
  // The addition of one node to an ideal.
  struct Step {
    NodeIndex node = 0;
    uint32_t ideal = 0;  // with the node
  };

  // Errors: ResourceExhausted for more than `max_ideals` ideals, or if the
  // steps between them need more than 256 MiB; Cancelled if `stop` returns
  // true.
  static absl::StatusOr<IdealLattice> Create(const Adjacency& graph,
                                             int64_t max_ideals,
                                             const std::function<bool()>& stop);

  // The prefixes of `order`: the ideals of a chain.
  static IdealLattice Chain(absl::Span<const NodeIndex> order);

  size_t size() const { return first_step_.size() - 1; }
  absl::Span<const Step> steps(uint32_t ideal) const {
    return absl::MakeConstSpan(steps_).subspan(
        first_step_[ideal],
        first_step_[ideal + size_t{1}] - first_step_[ideal]);
  }
  // The nodes of an ideal, in the order in which they can be added.
  std::vector<NodeIndex> Nodes(uint32_t ideal) const;

 private:
  void RecordOrigins();

  std::vector<size_t> first_step_ = {0};  // [ideals + 1]
  std::vector<Step> steps_;
  // One of the steps that lead to each ideal: the node, and the ideal before.
  std::vector<Step> origins_;  // [ideals], the first unused
};

}  // namespace hone::graphs

#endif  // HONE_GRAPHS_IDEAL_LATTICE_H_
