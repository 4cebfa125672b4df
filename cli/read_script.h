#ifndef HONE_CLI_READ_SCRIPT_H_
#define HONE_CLI_READ_SCRIPT_H_

#include <string>

#include "absl/status/statusor.h"

#include "loops/ir/program.h"

namespace hone::cli {

// Returns the text of the script of transformations (loops/transforms/script.h)
// in the file at `path`, which may be empty. Errors: NotFound.
absl::StatusOr<std::string> ReadScript(const std::string& path);

// Applies the script `text` to `program`. Errors: InvalidArgument, which name
// `file`.
absl::StatusOr<loops::Program> Replay(const loops::Program& program,
                                      const std::string& text,
                                      const std::string& file);

}  // namespace hone::cli

#endif  // HONE_CLI_READ_SCRIPT_H_
