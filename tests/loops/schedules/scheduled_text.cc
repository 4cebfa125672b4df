#include "tests/loops/schedules/scheduled_text.h"

#include "gtest/gtest.h"

#include "loops/schedules/default_schedule.h"
#include "loops/text/text.h"
#include "loops/transforms/script.h"
#include "tests/loops/program_text.h"
#include "tests/loops/transforms/check_transform.h"
#include "tests/support/status_matchers.h"

namespace hone::testing {

loops::Machine SmallVectors(int32_t threads) {
  loops::Machine machine;
  machine.vector_bytes = 16;
  machine.vector_registers = 16;
  machine.threads = threads;
  return machine;
}

absl::StatusOr<loops::Program> Scheduled(const loops::Program& program,
                                         const loops::Machine& machine) {
  return ApplyScript(program, DefaultSchedule(program, machine));
}

std::string ScheduledText(const std::string& text,
                          const loops::Machine& machine) {
  const loops::Program program = ParseText(text);
  const auto after = Scheduled(program, machine);
  EXPECT_THAT(after, IsOk());
  EXPECT_EQ(CheckSame(program, *after, /*exact=*/false, 1), absl::OkStatus())
      << loops::PrintProgramWithPaths(*after);
  return PrintProgram(*after);
}

int Count(absl::string_view text, absl::string_view word) {
  int count = 0;
  for (size_t at = 0; (at = text.find(word, at)) != absl::string_view::npos;
       ++at) {
    ++count;
  }
  return count;
}

}  // namespace hone::testing
