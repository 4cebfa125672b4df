#ifndef HONE_BACKENDS_CPU_LOADED_OBJECT_H_
#define HONE_BACKENDS_CPU_LOADED_OBJECT_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"

#include "backends/cpu/compiler.h"

namespace hone::backends {

// A compiled object loaded into this process; the destructor unloads it. Its
// functions may be called from several threads at once.
class LoadedObject {
 public:
  virtual ~LoadedObject() = default;

  // Links `object` against the kernel runtime of this process. Returns
  // InvalidArgument if it is not an object file of this machine, and NotFound
  // if a symbol is undefined.
  static absl::StatusOr<std::unique_ptr<LoadedObject>> Create(
      const std::string& object);

  // Returns the entry `symbol`, or NotFound.
  virtual absl::StatusOr<EntryFunction> Entry(
      const std::string& symbol) const = 0;
};

}  // namespace hone::backends

#endif  // HONE_BACKENDS_CPU_LOADED_OBJECT_H_
