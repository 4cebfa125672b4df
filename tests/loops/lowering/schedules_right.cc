#include "tests/loops/lowering/schedules_right.h"

#include "gtest/gtest.h"

#include "loops/schedules/default_schedule.h"
#include "loops/text/text.h"
#include "loops/transforms/script.h"
#include "tests/loops/transforms/check_transform.h"
#include "tests/support/status_matchers.h"

namespace hone::loops {

void ExpectSchedulesRight(const Program& program) {
  Machine machine;
  machine.vector_bytes = 32;
  for (int32_t threads : {1, 2}) {
    machine.threads = threads;
    HONE_ASSERT_OK_AND_ASSIGN(
        const Program after,
        ApplyScript(program, DefaultSchedule(program, machine)));
    EXPECT_EQ(::hone::testing::CheckSame(program, after, /*exact=*/false, 1),
              absl::OkStatus())
        << PrintProgramWithPaths(after);
  }
}

}  // namespace hone::loops
