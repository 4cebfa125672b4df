#ifndef HONE_LOOPS_SCHEDULES_DEFAULT_SCHEDULE_H_
#define HONE_LOOPS_SCHEDULES_DEFAULT_SCHEDULE_H_

#include <vector>

#include "loops/ir/program.h"
#include "loops/schedules/choices.h"
#include "loops/transforms/machine.h"
#include "loops/transforms/transform.h"

namespace hone::loops {

// Returns a good script for `program` on `machine`, found without measurements:
// the schedule of untuned kernels. Fuses nests over the same rows, which keeps
// intermediate values in small locals, then schedules each kind of nest by its
// own heuristic (the files of this folder). `choices` override the rules.
// Deterministic: depends on its arguments only. `use`, if not null, receives
// how it used the choices.
std::vector<Step> DefaultSchedule(const Program& program,
                                  const Machine& machine,
                                  const Choices& choices = {},
                                  ChoiceUse* use = nullptr);

}  // namespace hone::loops

#endif  // HONE_LOOPS_SCHEDULES_DEFAULT_SCHEDULE_H_
