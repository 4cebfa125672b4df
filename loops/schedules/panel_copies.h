#ifndef HONE_LOOPS_SCHEDULES_PANEL_COPIES_H_
#define HONE_LOOPS_SCHEDULES_PANEL_COPIES_H_

#include "loops/schedules/scheduler.h"

namespace hone::loops {

// Copies what the loop at `path` reads of a matrix by one of two accesses, that
// which moves with the loop of `row` or the other one, before its body or, if
// `is_whole`, before the loop itself.
bool PackOneAccess(Scheduler& scheduler, const Path& path, BufferId matrix,
                   VarId row, bool moves_with_row, bool is_whole);

// Returns true if a statement at or below `path` is a kWhere.
bool HasConditions(const Program& program, const Path& path);

// Vectorizes the loops at or below `path` that copy panels of operands to
// locals and are still sequential. Of panels that are transposed, the steps
// past the end of the sum become loops of their own.
void VectorizePanelCopies(Scheduler& scheduler, const Path& path);

}  // namespace hone::loops

#endif  // HONE_LOOPS_SCHEDULES_PANEL_COPIES_H_
