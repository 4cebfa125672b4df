#include "loops/transforms/checks.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace hone::loops {

absl::StatusOr<const Scope*> FindScope(const Program& program,
                                       const Step& step) {
  if (step.path.empty() || !program.Has(step.path)) {
    return absl::InvalidArgumentError("no node at this path");
  }
  const Scope* scope = program.At(step.path).scope();
  if (scope == nullptr) {
    return absl::InvalidArgumentError("a statement at this path, not a scope");
  }
  return scope;
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

Path Sibling(Path path, int32_t offset) {
  path.back() += offset;
  return path;
}

Path Child(Path path, int32_t number) {
  path.push_back(number);
  return path;
}

Path Parent(const Path& path) { return Path(path.begin(), path.end() - 1); }

absl::string_view ModeName(ScopeMode mode) {
  switch (mode) {
    case ScopeMode::kSequential:
      return "sequential";
    case ScopeMode::kUnrolled:
      return "unrolled";
    case ScopeMode::kVector:
      return "vector";
    case ScopeMode::kParallel:
      return "parallel";
  }
  return "";
}

}  // namespace hone::loops
