#include "loops/transforms/checks.h"

#include "absl/strings/str_cat.h"

namespace hone::loops {

absl::StatusOr<const Loop*> FindLoop(const Program& program, const Step& step) {
  if (step.path.empty() || !program.Has(step.path)) {
    return absl::InvalidArgumentError(
        "no node at this path, expected that of a loop");
  }
  const Loop* loop = program.At(step.path).loop();
  if (loop == nullptr) {
    return absl::InvalidArgumentError(
        "a statement at this path, expected a loop");
  }
  return loop;
}

absl::Status ExpectParameters(const Step& step, size_t count,
                              absl::string_view usage) {
  if (step.parameters.size() == count) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(step.parameters.size(), " parameters, expected ", usage));
}

const Node* NextSibling(const Program& program, const Path& path) {
  const Path next = Sibling(path, 1);
  return program.Has(next) ? &program.At(next) : nullptr;
}

absl::string_view ModeName(LoopMode mode) {
  switch (mode) {
    case LoopMode::kSequential:
      return "sequential";
    case LoopMode::kUnrolled:
      return "unrolled";
    case LoopMode::kVector:
      return "vector";
    case LoopMode::kParallel:
      return "parallel";
  }
  return "";
}

}  // namespace hone::loops
