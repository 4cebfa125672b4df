#ifndef HONE_BACKENDS_CPU_EXPORT_EXPORTED_NAMES_H_
#define HONE_BACKENDS_CPU_EXPORT_EXPORTED_NAMES_H_

#include <string>

#include "absl/strings/string_view.h"

namespace hone::backends {

// The names of an exported shared object's functions, after its file, so that
// one program can link several: softmax.so defines `softmax_entry` and
// `softmax_set_threads`. Two files whose names give one identifier cannot be
// linked together.
struct ExportedNames {
  // Returns the names for the shared object at `path`. The identifier is the
  // file name without its extension, with underscores for everything but ASCII
  // letters and digits, and with "kernel_" in front if it does not begin with a
  // letter.
  static ExportedNames Of(absl::string_view path);

  // The EntryFunction; also defined as kEntryAlias.
  std::string entry;
  // Sets the number of threads of this shared object; also defined as
  // kSetThreadsAlias.
  std::string set_threads;
  // The include guard of the header.
  std::string guard;
};

// Names that every exported shared object defines, for dlsym. A program that
// links several gets those of the first.
inline constexpr char kEntryAlias[] = "hone_entry";
inline constexpr char kSetThreadsAlias[] = "hone_kernel_set_threads";

}  // namespace hone::backends

#endif  // HONE_BACKENDS_CPU_EXPORT_EXPORTED_NAMES_H_
