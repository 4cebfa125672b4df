#ifndef HONE_HLO_PASSES_MOVEMENT_ELEMENTWISE_GROUPS_H_
#define HONE_HLO_PASSES_MOVEMENT_ELEMENTWISE_GROUPS_H_

#include <vector>

#include "hlo/passes/movement/group_move.h"

namespace hone::hlo {

// The elementwise instructions that may be rebuilt on arrays of another form,
// as groups that are connected by operands of the same sizes.
std::vector<Group> FindElementwiseGroups(const Rewriter& r);

}  // namespace hone::hlo

#endif  // HONE_HLO_PASSES_MOVEMENT_ELEMENTWISE_GROUPS_H_
