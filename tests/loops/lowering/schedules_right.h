#ifndef HONE_TESTS_LOOPS_LOWERING_SCHEDULES_RIGHT_H_
#define HONE_TESTS_LOOPS_LOWERING_SCHEDULES_RIGHT_H_

#include "loops/ir/program.h"

namespace hone::loops {

// A test failure unless the program computes the same by its default schedules,
// for one and for several threads.
void ExpectSchedulesRight(const Program& program);

}  // namespace hone::loops

#endif  // HONE_TESTS_LOOPS_LOWERING_SCHEDULES_RIGHT_H_
