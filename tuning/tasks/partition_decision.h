#ifndef HONE_TUNING_TASKS_PARTITION_DECISION_H_
#define HONE_TUNING_TASKS_PARTITION_DECISION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "graphs/mcm/package.h"
#include "graphs/mcm/partition_graph.h"
#include "tuning/subject.h"

namespace hone::tuning {

// Returns the graph of a subject that task partition puts on the chips of
// `package`. Errors: those of ImportHlo and PartitionGraph::Create.
absl::StatusOr<graphs::PartitionGraph> PartitionGraphOf(
    const Subject& subject, const graphs::Package& package);

// Returns the chip of each node of `graph` that a decision of task partition,
// in JSON, gives it; nothing if the decision is about another number of nodes
// or has chips that the package lacks.
std::optional<std::vector<int32_t>> ChipsOfDecision(
    const graphs::PartitionGraph& graph, absl::string_view json);

// A decision of task partition, without what can be computed from it at once.
struct PartitionDecision {
  std::string objective;
  std::vector<int32_t> chips;  // [nodes of the graph]
  double lower_bound = 0;  // of the max load, in milliseconds; 0: none known
};

// Reads a decision. Errors: InvalidArgument, also for a partition that breaks
// rules (graphs/mcm/partition_rules.h).
absl::StatusOr<PartitionDecision> ParsePartitionDecision(
    const graphs::PartitionGraph& graph, absl::string_view json);

}  // namespace hone::tuning

#endif  // HONE_TUNING_TASKS_PARTITION_DECISION_H_
