#ifndef HONE_BACKENDS_CPU_SHARED_OBJECT_H_
#define HONE_BACKENDS_CPU_SHARED_OBJECT_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "backends/cpu/exported_names.h"
#include "hlo/ir/shape.h"

namespace hone::backends {

// Links `object` (compiler.h), which defines `names.entry`, with the kernel
// runtime into a shared library at `path` that needs nothing but the C library
// and exports the functions of `names` and their aliases.
// Threads: thread-safe; one link at a time.
// Errors: InvalidArgument with the linker's words for an object it refuses;
// Unavailable where the file cannot be written.
absl::Status WriteSharedObject(const std::string& object,
                               const ExportedNames& names,
                               const std::string& path);

// An array that an entry reads or writes.
struct EntryArray {
  std::string name;
  hlo::ShapePtr shape;
};

// A C header that declares the functions of `names` and says what the entry
// takes; `comment` comes first, as one comment.
std::string CHeader(const ExportedNames& names,
                    absl::Span<const EntryArray> arguments,
                    absl::Span<const EntryArray> results,
                    absl::string_view comment);

}  // namespace hone::backends

#endif  // HONE_BACKENDS_CPU_SHARED_OBJECT_H_
