#ifndef HONE_LOOPS_SCHEDULES_DEFAULT_SCHEDULE_H_
#define HONE_LOOPS_SCHEDULES_DEFAULT_SCHEDULE_H_

#include <vector>

#include "loops/machine.h"
#include "loops/program.h"
#include "loops/schedules/choices.h"
#include "loops/transforms/transform.h"

namespace hone::loops {

// A good script for `program` on `machine`, found without measuring anything:
// what a kernel gets that nobody has tuned. Nests over the same rows are fused
// and keep what passes between them in small locals; each kind of nest then has
// a schedule of its own (the files of this folder).
// `choices` replace its own rules.
// Determinism: depends on its arguments only.
std::vector<Step> DefaultSchedule(const Program& program,
                                  const Machine& machine,
                                  const Choices& choices = {});

}  // namespace hone::loops

#endif  // HONE_LOOPS_SCHEDULES_DEFAULT_SCHEDULE_H_
