#ifndef HONE_LOOPS_TRANSFORMS_SCRIPT_H_
#define HONE_LOOPS_TRANSFORMS_SCRIPT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "loops/machine.h"
#include "loops/program.h"
#include "loops/transforms/transform.h"

namespace hone::loops {

// "split 0.1 16"
std::string PrintStep(const Step& step);
// Errors: InvalidArgument for what is not a step.
absl::StatusOr<Step> ParseStep(absl::string_view text);

// A script: one step a line, comments from # to the end of a line.
std::string PrintScript(absl::Span<const Step> steps);
// Errors: InvalidArgument, "line N: …".
absl::StatusOr<std::vector<Step>> ParseScript(absl::string_view text);

// Errors: NotFound for an unknown transformation; InvalidArgument, "step N
// (split 0.1 16): why", for one that is not legal.
absl::StatusOr<Program> ApplyScript(const Program& program,
                                    absl::Span<const Step> steps);

// Every legal step of every transformation, in a fixed order.
std::vector<Step> LegalSteps(const Program& program, const Machine& machine);

}  // namespace hone::loops

#endif  // HONE_LOOPS_TRANSFORMS_SCRIPT_H_
