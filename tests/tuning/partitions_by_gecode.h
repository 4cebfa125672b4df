#ifndef HONE_TESTS_TUNING_PARTITIONS_BY_GECODE_H_
#define HONE_TESTS_TUNING_PARTITIONS_BY_GECODE_H_

#include <cstdint>
#include <set>
#include <vector>

#include "graphs/mcm/partition_graph.h"

namespace hone::testing {

// All partitions of a graph that break no rule but that of memory, as the
// constraint solver Gecode finds them: the rules of
// graphs/mcm/partition_rules.h as a model of integers and Booleans.
std::set<std::vector<int32_t>> PartitionsByGecode(
    const graphs::PartitionGraph& graph);

}  // namespace hone::testing

#endif  // HONE_TESTS_TUNING_PARTITIONS_BY_GECODE_H_
