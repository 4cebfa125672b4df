#include "tests/loops/transforms/check_transform.h"

#include <algorithm>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "hlo/ir/literal.h"
#include "loops/analysis/verifier.h"
#include "loops/interpreter/interpreter.h"
#include "loops/text/text.h"
#include "loops/transforms/registry.h"
#include "loops/transforms/script.h"
#include "tests/loops/difference.h"
#include "tests/loops/program_text.h"
#include "tests/loops/random_program.h"

namespace hone::testing {
namespace {

using loops::Program;

// The tolerance for sums in another order, which may be of any type that the
// program has.
double Tolerance(const Program& program) {
  double tolerance = 0;
  for (const loops::BufferPtr& buffer : program.buffers()) {
    tolerance = std::max(tolerance, RoundingOf(buffer->type));
  }
  return tolerance;
}

absl::StatusOr<Program> Transformed(const Program& before,
                                    absl::string_view script) {
  HONE_ASSIGN_OR_RETURN(const std::vector<loops::Step> steps,
                        loops::ParseScript(script));
  return loops::ApplyScript(before, steps);
}

}  // namespace

absl::Status CheckSame(const Program& before, const Program& after, bool exact,
                       uint64_t seed) {
  HONE_RETURN_IF_ERROR(loops::VerifyProgram(after));
  const std::vector<hlo::Literal> arguments = RandomArguments(before, seed);
  HONE_ASSIGN_OR_RETURN(const std::vector<hlo::Literal> want,
                        loops::Interpret(before, arguments));
  HONE_ASSIGN_OR_RETURN(
      const std::vector<hlo::Literal> got,
      loops::Interpret(after, arguments, {/*shuffle_parallel=*/seed + 1}));
  const double rounding = exact ? 0 : Tolerance(before);
  const std::string difference =
      Difference(want, got, [rounding](hlo::ElementType type) {
        return hlo::IsFloat(type) ? rounding : 0;
      });
  if (!difference.empty()) return absl::FailedPreconditionError(difference);
  return absl::OkStatus();
}

std::string AfterChecked(absl::string_view text, absl::string_view script,
                         bool exact) {
  const Program before = ParseText(text);
  const absl::StatusOr<Program> after = Transformed(before, script);
  if (!after.ok()) return after.status().ToString();
  const absl::Status same = CheckSame(before, *after, exact, 7);
  return absl::StrCat(same.ok() ? "" : same.ToString(),
                      loops::PrintProgram(*after));
}

absl::Status CheckSteps(const Program& program, absl::string_view transform,
                        const loops::Machine& machine, uint64_t seed,
                        int* count) {
  HONE_ASSIGN_OR_RETURN(const loops::Transform* t,
                        loops::FindTransform(transform));
  std::vector<loops::Step> steps;
  t->Enumerate(program, machine, steps);
  *count += static_cast<int>(steps.size());
  for (const loops::Step& step : steps) {
    const absl::StatusOr<Program> after = t->Apply(program, step);
    const absl::Status status =
        after.ok() ? CheckSame(program, *after, !t->changes_rounding(), seed)
                   : after.status();
    if (!status.ok()) {
      return absl::FailedPreconditionError(absl::StrCat(
          loops::PrintStep(step), ": ", status.ToString(), "\nin\n",
          loops::PrintProgramWithPaths(program), "\nwhich became\n",
          after.ok() ? loops::PrintProgramWithPaths(*after) : ""));
    }
  }
  return absl::OkStatus();
}

loops::Machine SmallMachine() {
  loops::Machine machine;
  machine.l1_bytes = 256;
  machine.l2_bytes = 4096;
  machine.vector_bytes = 16;
  machine.vector_registers = 16;
  machine.threads = 2;
  return machine;
}

}  // namespace hone::testing
