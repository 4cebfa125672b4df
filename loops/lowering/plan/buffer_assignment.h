#ifndef HONE_LOOPS_LOWERING_PLAN_BUFFER_ASSIGNMENT_H_
#define HONE_LOOPS_LOWERING_PLAN_BUFFER_ASSIGNMENT_H_

#include <vector>

#include "absl/functional/function_ref.h"

#include "loops/lowering/plan/module_plan.h"

namespace hone::loops {

// Calls visit(slot, is_written) for every slot that a step reads or writes;
// twice for a slot that it both reads and writes.
void ForEachSlot(const PlanStep& step,
                 absl::FunctionRef<void(SlotId, bool is_written)> visit);

// Assigns an arena offset to every slot with `in_arena`. Slots with overlapping
// live ranges get disjoint bytes. Greedy: the largest 1024 slots first, each at
// the lowest free offset; the others behind them in the order of their first
// use, each in the smallest free block.
void AssignArena(PlanFunction& function, const std::vector<bool>& in_arena);

}  // namespace hone::loops

#endif  // HONE_LOOPS_LOWERING_PLAN_BUFFER_ASSIGNMENT_H_
