#ifndef HONE_BASE_FILES_H_
#define HONE_BASE_FILES_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace hone {

// Writes a file in one step: a reader of `path` finds either all of `bytes` or
// the old content. An existing file is replaced, not written to: the new one
// has the permissions that new files get. A link stays, and the file that it
// leads to is replaced. Devices and pipes cannot be replaced and are written
// to. Nothing is synced, so a power failure may lose the file.
// Errors: ResourceExhausted where the bytes do not fit or the device fails,
// else InvalidArgument; both name the path and the system's reason. The old
// content is unchanged.
absl::Status WriteFileAtomically(const std::string& path,
                                 absl::string_view bytes);

}  // namespace hone

#endif  // HONE_BASE_FILES_H_
