#include "tests/loops/random_scripts.h"

#include <utility>

#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "loops/analysis/verifier.h"
#include "loops/interpreter/interpreter.h"
#include "loops/ir/rewrite.h"
#include "loops/text/text.h"
#include "loops/transforms/registry.h"
#include "tests/loops/difference.h"

namespace hone::testing {
namespace {

using loops::Loop;
using loops::Path;
using loops::Program;
using loops::Step;
using loops::Transform;

}  // namespace

std::optional<Step> ProposedStep(const Program& program,
                                 const loops::Machine& machine, Rng& rng) {
  std::vector<std::vector<Step>> choices;
  for (const Transform* transform : loops::AllTransforms()) {
    std::vector<Step> steps;
    transform->Enumerate(program, machine, steps);
    if (!steps.empty()) choices.push_back(std::move(steps));
  }
  if (choices.empty()) return std::nullopt;
  const std::vector<Step>& steps = choices[rng.Below(choices.size())];
  return steps[rng.Below(steps.size())];
}

std::optional<Step> GuessedStep(const Program& program, Rng& rng) {
  std::vector<Path> paths = {Path()};
  VisitLoops(program, Path(),
             [&](const Path& path, const Loop&) { paths.push_back(path); });
  VisitStatements(program, Path(),
                  [&](const Path& path, const loops::Statement&) {
                    paths.push_back(path);
                  });
  constexpr int kGuesses = 100;
  for (int i = 0; i < kGuesses; ++i) {
    const Transform& transform =
        *loops::AllTransforms()[rng.Below(loops::AllTransforms().size())];
    Step step;
    step.transform = std::string(transform.name());
    step.path = paths[rng.Below(paths.size())];
    const uint64_t bound = rng.Below(2) == 0 ? 6 : 20;
    for (uint64_t j = rng.Below(4); j > 0; --j) {
      step.parameters.push_back(static_cast<int64_t>(rng.Below(bound)));
    }
    if (transform.Apply(program, step).ok()) return step;
  }
  return std::nullopt;
}

std::optional<Step> RandomStep(const Program& program, Rng& rng) {
  return rng.Below(3) == 0 ? GuessedStep(program, rng)
                           : ProposedStep(program, kTinyMachine, rng);
}

absl::Status CheckInterpreted(const Program& program,
                              absl::Span<const hlo::Literal> arguments,
                              absl::Span<const hlo::Literal> expected,
                              uint64_t seed) {
  HONE_RETURN_IF_ERROR(loops::VerifyProgram(program));
  HONE_ASSIGN_OR_RETURN(
      const std::vector<hlo::Literal> results,
      loops::Interpret(program, arguments, {.shuffle_parallel = seed + 1}));
  const std::string difference = Difference(expected, results);
  if (difference.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(difference, " of\n", loops::PrintProgram(program)));
}

}  // namespace hone::testing
