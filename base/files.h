#ifndef HONE_BASE_FILES_H_
#define HONE_BASE_FILES_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace hone {

// Writes a file in one step: whoever opens `path` finds either all of `bytes`
// or what was there before. A file of before is replaced, not written to: the
// new one has the permissions that new files get. Nothing is synced, so a
// machine that loses power may lose it.
// Errors: InvalidArgument, naming the path and the system's reason; what was
// there before is still there then, and nothing else.
// A link stays, and the file that it leads to is replaced. What is no file of a
// disk (/dev/null, a pipe) cannot be replaced: it is written to.
absl::Status WriteFileAtomically(const std::string& path,
                                 absl::string_view bytes);

}  // namespace hone

#endif  // HONE_BASE_FILES_H_
