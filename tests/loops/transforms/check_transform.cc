#include "tests/loops/transforms/check_transform.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "hlo/literal.h"
#include "loops/interpreter.h"
#include "loops/text.h"
#include "loops/transforms/registry.h"
#include "loops/transforms/script.h"
#include "loops/verifier.h"
#include "tests/loops/random_program.h"

namespace hone::testing {
namespace {

using loops::Program;

double RoundingOf(hlo::ElementType type) {
  if (!hlo::IsFloat(type)) return 0;
  switch (hlo::BitWidth(type)) {
    case 64:
      return 1e-10;
    case 32:
      return 2e-4;
    default:
      return 0.1;
  }
}

// What sums in another order may differ by: they may be of any type that the
// program has.
double Tolerance(const Program& program) {
  double tolerance = 0;
  for (const loops::BufferPtr& buffer : program.buffers()) {
    tolerance = std::max(tolerance, RoundingOf(buffer->type));
  }
  return tolerance;
}

absl::Status Compare(const hlo::Literal& want, const hlo::Literal& got,
                     double tolerance) {
  for (int64_t i = 0; i < want.num_elements(); ++i) {
    const double a = want.AsDouble(i);
    const double b = got.AsDouble(i);
    if (a == b || (std::isnan(a) && std::isnan(b)) ||
        std::abs(a - b) <=
            tolerance * (1 + std::max(std::abs(a), std::abs(b)))) {
      continue;
    }
    return absl::FailedPreconditionError(
        absl::StrCat("element ", i, " is ", b, ", expected ", a));
  }
  return absl::OkStatus();
}

absl::StatusOr<Program> Transformed(absl::string_view text,
                                    absl::string_view script, Program* before) {
  HONE_ASSIGN_OR_RETURN(*before, loops::ParseProgram(text));
  HONE_ASSIGN_OR_RETURN(const std::vector<loops::Step> steps,
                        loops::ParseScript(script));
  return loops::ApplyScript(*before, steps);
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
  for (size_t r = 0; r < want.size(); ++r) {
    const bool is_rounded =
        !exact && hlo::IsFloat(want[r].shape().element_type());
    const double tolerance = is_rounded ? Tolerance(before) : 0;
    if (absl::Status status = Compare(want[r], got[r], tolerance);
        !status.ok()) {
      return absl::FailedPreconditionError(
          absl::StrCat("result ", r, ": ", status.message()));
    }
  }
  return absl::OkStatus();
}

std::string AfterChecked(absl::string_view text, absl::string_view script,
                         bool exact) {
  Program before;
  const absl::StatusOr<Program> after = Transformed(text, script, &before);
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
