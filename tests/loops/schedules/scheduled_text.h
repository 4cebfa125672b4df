#ifndef HONE_TESTS_LOOPS_SCHEDULES_SCHEDULED_TEXT_H_
#define HONE_TESTS_LOOPS_SCHEDULES_SCHEDULED_TEXT_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "loops/ir/program.h"
#include "loops/transforms/machine.h"

namespace hone::testing {

// A machine with vectors of four f32 and 16 registers.
loops::Machine SmallVectors(int32_t threads);

// Returns the program after its default schedule.
absl::StatusOr<loops::Program> Scheduled(const loops::Program& program,
                                         const loops::Machine& machine);

// The text of `text` after its schedule, which must keep what it computes.
std::string ScheduledText(const std::string& text,
                          const loops::Machine& machine = SmallVectors(1));

// Returns how often `word` is in `text`.
int Count(absl::string_view text, absl::string_view word);

}  // namespace hone::testing

#endif  // HONE_TESTS_LOOPS_SCHEDULES_SCHEDULED_TEXT_H_
