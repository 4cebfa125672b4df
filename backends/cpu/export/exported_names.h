#ifndef HONE_BACKENDS_CPU_EXPORT_EXPORTED_NAMES_H_
#define HONE_BACKENDS_CPU_EXPORT_EXPORTED_NAMES_H_

#include <string>

#include "absl/strings/string_view.h"

namespace hone::backends {

// The names of an exported shared object's functions, after its file, so that
// one program can link several: my-softmax.so defines `my_softmax`,
// `my_softmax_info` and so on. Two files whose names give one identifier cannot
// be linked together.
struct ExportedNames {
  // Returns the names for the shared object at `path`. The entry is the file
  // name without its extension, with underscores for everything but ASCII
  // letters and digits. "kernel_" comes in front of what does not begin with a
  // letter, and of names that are taken: keywords of C and C++, functions of
  // the C library, and names of Hone's own.
  static ExportedNames Of(absl::string_view path);

  // The EntryFunction.
  std::string entry;
  // Returns its hone_info.
  std::string info;
  // Describes the last error on a thread.
  std::string error_message;
  // Sets the number of threads; also defined as kSetThreadsAlias.
  std::string set_threads;
  // A handler of XLA's FFI.
  std::string ffi;
  // The include guard of the header.
  std::string guard;
};

// Names that every exported shared object defines, for dlsym. A program that
// links several gets those of the first.
inline constexpr char kEntryAlias[] = "hone_entry";
inline constexpr char kSetThreadsAlias[] = "hone_kernel_set_threads";

}  // namespace hone::backends

#endif  // HONE_BACKENDS_CPU_EXPORT_EXPORTED_NAMES_H_
