#ifndef HONE_BACKENDS_CPU_LOADED_OBJECT_H_
#define HONE_BACKENDS_CPU_LOADED_OBJECT_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"

#include "backends/cpu/compiler.h"

namespace hone::backends {

// A compiled object in this process, ready to be called; unloaded with the
// last of it.
// Threads: the functions may be called from several threads at once.
class LoadedObject {
 public:
  virtual ~LoadedObject() = default;

  // Links `object` against the kernel runtime of this process.
  // Errors: InvalidArgument for bytes that are no object of this machine;
  // NotFound for symbols that nothing defines.
  static absl::StatusOr<std::unique_ptr<LoadedObject>> Create(
      const std::string& object);

  // Errors: NotFound.
  virtual absl::StatusOr<EntryFunction> Entry(
      const std::string& symbol) const = 0;
};

}  // namespace hone::backends

#endif  // HONE_BACKENDS_CPU_LOADED_OBJECT_H_
