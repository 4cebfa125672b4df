#ifndef HONE_TESTS_GRAPHS_MCM_PARTITION_BY_DEFINITION_H_
#define HONE_TESTS_GRAPHS_MCM_PARTITION_BY_DEFINITION_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/types/span.h"

#include "graphs/mcm/partition_graph.h"

namespace hone::testing {

// The rules and the analytical model of partitions, as their definitions say,
// in cubic time.

// Whether a partition keeps the rules of graphs/mcm/partition_rules.h.
bool IsValidByDefinition(const graphs::PartitionGraph& graph,
                         absl::Span<const int32_t> chips);
// The same without the rule of memory.
bool IsStaticallyValidByDefinition(const graphs::PartitionGraph& graph,
                                   absl::Span<const int32_t> chips);
// Whether each chip reads from the chip before it alone.
bool IsChain(const graphs::PartitionGraph& graph,
             absl::Span<const int32_t> chips);

double MaxLoadByDefinition(const graphs::PartitionGraph& graph,
                           absl::Span<const int32_t> chips);

// Calls `use` with each assignment of chips.
void ForEachPartition(
    const graphs::PartitionGraph& graph,
    const std::function<void(const std::vector<int32_t>&)>& use);

}  // namespace hone::testing

#endif  // HONE_TESTS_GRAPHS_MCM_PARTITION_BY_DEFINITION_H_
