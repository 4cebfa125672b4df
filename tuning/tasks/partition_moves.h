#ifndef HONE_TUNING_TASKS_PARTITION_MOVES_H_
#define HONE_TUNING_TASKS_PARTITION_MOVES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"

#include "graphs/mcm/partition_graph.h"
#include "space/local_state.h"

namespace hone::tuning {

// The names of PartitionMoves::Describe's features.
std::vector<std::string> PartitionMoveFeatureNames();
// How good a move with these features looks by what the chips are busy for
// (AssignmentProblem::EstimateMove).
float EstimatePartitionMove(absl::Span<const float> features);

// Describes moves of a partition by the chips whose nodes they change: what
// these compute, take, send, hold and execute by the analytical model, before
// and after, relative to the busiest chip. Nothing is simulated.
class PartitionMoves {
 public:
  // Each operator takes `op_time` milliseconds beside its work. `graph`
  // outlives this.
  PartitionMoves(const graphs::PartitionGraph& graph, double op_time);

  // Sets the partition that moves start from.
  void Start(absl::Span<const int32_t> chips);

  // Replaces `features`. Linear time in the graph.
  void Describe(absl::Span<const space::Change> changes,
                std::vector<float>& features);

 private:
  // The work of a chip for each sample. Times in milliseconds.
  struct Part {
    uint64_t nodes = 0;  // a hash of the set; 0 if it is empty
    double compute = 0;
    double inbound = 0;
    double outbound = 0;
    double operators = 0;
    double resident_bytes = 0;
    double largest_bytes = 0;  // of an output of it

    double load() const { return compute + inbound + outbound; }
  };
  struct Side;

  std::vector<Part> PartsOf(absl::Span<const int32_t> chips) const;
  // Sums up the parts of `parts` that are not among `others`.
  Side Gather(const std::vector<Part>& parts,
              const std::vector<Part>& others) const;
  double Busy(const Part& part) const;
  double Energy(const std::vector<Part>& parts) const;

  const graphs::PartitionGraph& graph_;
  const double op_time_;  // milliseconds
  std::vector<int32_t> chips_;
  std::vector<Part> parts_;  // of chips_, without empty ones
  double energy_ = 0;        // of parts_
  std::vector<int32_t> tried_;
};

}  // namespace hone::tuning

#endif  // HONE_TUNING_TASKS_PARTITION_MOVES_H_
