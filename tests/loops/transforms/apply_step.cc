#include "tests/loops/transforms/apply_step.h"

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

#include "base/check.h"
#include "loops/analysis/verifier.h"
#include "loops/text/text.h"
#include "loops/transforms/registry.h"
#include "loops/transforms/script.h"
#include "tests/loops/program_text.h"

namespace hone::testing {
std::string After(absl::string_view text, absl::string_view step) {
  const absl::StatusOr<loops::Step> parsed = loops::ParseStep(step);
  HONE_CHECK(parsed.ok());
  const absl::StatusOr<const loops::Transform*> transform =
      loops::FindTransform(parsed->transform);
  HONE_CHECK(transform.ok());
  const absl::StatusOr<loops::Program> after =
      (*transform)->Apply(ParseText(text), *parsed);
  if (!after.ok()) return absl::StrCat("refused: ", after.status().message());
  const absl::Status valid = loops::VerifyProgram(*after);
  if (!valid.ok()) return absl::StrCat("malformed: ", valid.message());
  return loops::PrintProgram(*after);
}

std::vector<std::string> Moves(absl::string_view text, absl::string_view name,
                               const loops::Machine& machine) {
  const absl::StatusOr<const loops::Transform*> transform =
      loops::FindTransform(name);
  HONE_CHECK(transform.ok());
  std::vector<loops::Step> steps;
  (*transform)->Enumerate(ParseText(text), machine, steps);
  std::vector<std::string> moves;
  for (const loops::Step& step : steps) {
    moves.push_back(loops::PrintStep(step));
  }
  return moves;
}

}  // namespace hone::testing
