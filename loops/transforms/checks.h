#ifndef HONE_LOOPS_TRANSFORMS_CHECKS_H_
#define HONE_LOOPS_TRANSFORMS_CHECKS_H_

#include <cstddef>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "loops/program.h"
#include "loops/transforms/transform.h"

namespace hone::loops {

// What transformations ask of their steps; all errors are InvalidArgument.

// The scope that `step` names.
absl::StatusOr<const Scope*> FindScope(const Program& program,
                                       const Step& step);

// Errors: for another number of parameters, with `usage`, which names them.
absl::Status ExpectParameters(const Step& step, size_t count,
                              absl::string_view usage);

// The node that follows the one at `path` in the same body, or null.
const Node* NextSibling(const Program& program, const Path& path);
// `path` with its last number increased by `offset`.
Path Sibling(Path path, int32_t offset);
// The `number`th child of the node at `path`.
Path Child(Path path, int32_t number);
// The scope around the node at `path`, empty for the root.
Path Parent(const Path& path);

// "sequential", as in the text of programs.
absl::string_view ModeName(ScopeMode mode);

}  // namespace hone::loops

#endif  // HONE_LOOPS_TRANSFORMS_CHECKS_H_
