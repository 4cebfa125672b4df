#ifndef HONE_TUNING_TASKS_PARTITION_LOCAL_H_
#define HONE_TUNING_TASKS_PARTITION_LOCAL_H_

#include <cstdint>
#include <memory>

#include "absl/types/span.h"

#include "space/local_state.h"
#include "tuning/tasks/partition_problem.h"

namespace hone::tuning {

// A partition under local changes. `problem` outlives it. Each try evaluates
// the partition anew, as the rules on chips are about all nodes at once.
//
// PartitionProposals are the moves, PartitionMoves describe them.
std::unique_ptr<space::LocalState> MakePartitionLocal(
    const PartitionProblem& problem, absl::Span<const int32_t> chips);

}  // namespace hone::tuning

#endif  // HONE_TUNING_TASKS_PARTITION_LOCAL_H_
