#ifndef HONE_BACKENDS_CPU_EXPORT_SHARED_OBJECT_H_
#define HONE_BACKENDS_CPU_EXPORT_SHARED_OBJECT_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "backends/cpu/export/exported_names.h"
#include "hlo/ir/shape.h"

namespace hone::backends {

// Links `object` (compiler.h), which defines `names.entry`, with the kernel
// runtime into a shared object at `path` that depends on the C library only
// and exports the functions of `names` and their aliases. Thread-safe; links
// run one at a time. Returns InvalidArgument with the linker's message if it
// rejects the object, and Unavailable if the file cannot be written.
absl::Status WriteSharedObject(const std::string& object,
                               const ExportedNames& names,
                               const std::string& path);

// An array that an entry reads or writes.
struct EntryArray {
  std::string name;
  hlo::ShapePtr shape;
};

// Returns a C header that declares the functions of `names` and describes the
// arguments and results of the entry. It starts with `comment`, as one comment.
std::string CHeader(const ExportedNames& names,
                    absl::Span<const EntryArray> arguments,
                    absl::Span<const EntryArray> results,
                    absl::string_view comment);

}  // namespace hone::backends

#endif  // HONE_BACKENDS_CPU_EXPORT_SHARED_OBJECT_H_
