#ifndef HONE_LOOPS_TRANSFORMS_SCRIPT_H_
#define HONE_LOOPS_TRANSFORMS_SCRIPT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "loops/ir/program.h"
#include "loops/transforms/machine.h"
#include "loops/transforms/transform.h"

namespace hone::loops {

// Prints a step: "split 0.1 16".
std::string PrintStep(const Step& step);
// Parses a step; returns InvalidArgument if the text is not one.
absl::StatusOr<Step> ParseStep(absl::string_view text);

// Prints a script: one step per line.
std::string PrintScript(absl::Span<const Step> steps);
// Parses a script: one step per line, comments from # to the end of a line.
// Errors: InvalidArgument, "FILE:LINE: …", or "line N: …" for a script that is
// no file.
absl::StatusOr<std::vector<Step>> ParseScript(absl::string_view text,
                                              absl::string_view file = "");

// Applies the steps in order. Errors, "step N (split 0.1 16): why": NotFound
// for an unknown transformation, and InvalidArgument for a step that is not
// legal.
absl::StatusOr<Program> ApplyScript(const Program& program,
                                    absl::Span<const Step> steps);

// Returns the legal steps that every transformation enumerates, in a fixed
// order.
std::vector<Step> LegalSteps(const Program& program, const Machine& machine);

}  // namespace hone::loops

#endif  // HONE_LOOPS_TRANSFORMS_SCRIPT_H_
