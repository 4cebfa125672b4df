#ifndef HONE_LOOPS_TRANSFORMS_CHECKS_H_
#define HONE_LOOPS_TRANSFORMS_CHECKS_H_

#include <cstddef>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "loops/ir/program.h"
#include "loops/transforms/transform.h"

namespace hone::loops {

// Checks of steps, shared by transformations. All errors are InvalidArgument.

// Returns the loop at the path of `step`.
absl::StatusOr<const Loop*> FindLoop(const Program& program, const Step& step);

// Returns an error unless `step` has `count` parameters; `usage` names them.
absl::Status ExpectParameters(const Step& step, size_t count,
                              absl::string_view usage);

// Returns the node after the one at `path` in the same body, or null.
const Node* NextSibling(const Program& program, const Path& path);

// Returns the name of a mode in the text of programs, such as "vector".
absl::string_view ModeName(LoopMode mode);

}  // namespace hone::loops

#endif  // HONE_LOOPS_TRANSFORMS_CHECKS_H_
