#ifndef HONE_TUNING_TASKS_PARTITION_DOMAINS_H_
#define HONE_TUNING_TASKS_PARTITION_DOMAINS_H_

#include <cstdint>
#include <memory>

#include "graphs/mcm/partition_graph.h"
#include "space/domains.h"
#include "tuning/tasks/partition_closure.h"

namespace hone::tuning {

// The work of a solver since it was made.
struct SolverStatistics {
  int64_t narrowings = 0;  // calls of Narrow
  int64_t conflicts = 0;   // of which so many failed
  int64_t removals = 0;    // changes of a variable's values by propagation
};

// A constraint solver for partitions: the chips left to each node under the
// rules of graphs/mcm/partition_rules.h. Variable i is node i of the graph.
//
// Rules, to a fixed point after each Narrow:
// - Order: no chip of a node is below the lowest of a predecessor, or above
//   the highest of a successor.
// - Reach: no chip of a node is further above those of a predecessor than other
//   nodes can fill the chips between (PartitionClosure).
// - No gaps: the chips below one that some node must reach are needed. A chip
//   that one node alone can take gets it; a chip that none can take ends the
//   chips. Any range of needed chips has as many nodes that can take one.
// - Triangle, between nodes: if u sends to v, each node on a way from u to v is
//   on the chip of u or of v, as else the chip of u would reach that of v over
//   others (PartitionClosure).
// - Triangle, between chips: the ways between chips that nodes without another
//   chip left make, arc by arc or over nodes that are not decided yet, leave no
//   chip that sends to another one and reaches it over others. No node keeps a
//   chip that would break that with a neighbor, and a node on a way from a node
//   of one chip to one of another, to which the first sends, is on one of them.
// - Memory: what the nodes without another chip left have from the start fits,
//   and so does, in any range of chips, what nodes have that can be nowhere
//   else.
// So a complete assignment that survives has no faults.
//
// Undo restores the values bit for bit, at the cost of the changes.
class PartitionDomains final : public space::Domains {
 public:
  // Both outlive this.
  PartitionDomains(const graphs::PartitionGraph& graph,
                   const PartitionClosure& closure);
  ~PartitionDomains() override;

  int32_t variable_count() const override;
  uint64_t Get(int32_t variable) const override;
  [[nodiscard]] bool Narrow(int32_t variable, uint64_t values) override;
  int32_t Mark() override;
  void Undo(int32_t mark) override;

  const SolverStatistics& statistics() const;

 private:
  class Solver;
  const std::unique_ptr<Solver> solver_;
};

}  // namespace hone::tuning

#endif  // HONE_TUNING_TASKS_PARTITION_DOMAINS_H_
