#ifndef HONE_LOOPS_LOWERING_BUFFER_ASSIGNMENT_H_
#define HONE_LOOPS_LOWERING_BUFFER_ASSIGNMENT_H_

#include <vector>

#include "absl/functional/function_ref.h"

#include "loops/lowering/module_plan.h"

namespace hone::loops {

// Calls visit(slot, whether the step writes it) for every slot of a step; for
// those that it reads and writes once for each.
void ForEachSlot(const PlanStep& step,
                 absl::FunctionRef<void(SlotId, bool)> visit);

// Gives every slot with `in_arena` a place in the function's arena: slots that
// are mentioned by overlapping ranges of steps get different bytes. The largest
// slots choose first, each the lowest place that is free.
void AssignArena(PlanFunction& function, const std::vector<bool>& in_arena);

}  // namespace hone::loops

#endif  // HONE_LOOPS_LOWERING_BUFFER_ASSIGNMENT_H_
