#ifndef HONE_BACKENDS_CPU_ENTRY_EMITTER_H_
#define HONE_BACKENDS_CPU_ENTRY_EMITTER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"

#include "hlo/ir/shape.h"

namespace llvm {
class Function;
}  // namespace llvm

namespace hone::backends {

// An argument and a result that may have one address.
struct EntryAlias {
  int32_t argument = 0;
  int32_t result = 0;

  friend auto operator<=>(const EntryAlias&, const EntryAlias&) = default;
};

// The description of an entry for its callers, as in hone_info (kernel_abi.h).
struct EntryInterface {
  std::string name;
  std::vector<hlo::ShapePtr> arguments = {};
  std::vector<hlo::ShapePtr> results = {};
  std::vector<EntryAlias> aliases = {};
  // LLVM's feature string of the code.
  std::string features;
  // Threads that the code was scheduled for.
  int32_t threads = 1;
};

// Adds the entry `symbol` of kernel_abi.h's signature to the module of `run`,
// which has the code, `void run(ptr arguments, ptr results)`, and a
// hone_kernel_entry (kernel_runtime.h), hone_kernel_descriptor, which is hidden
// in shared objects. A module has one entry, which itself runs on every
// processor. Errors: those of WorkspaceOf.
absl::Status EmitEntry(const std::string& symbol,
                       const EntryInterface& interface, llvm::Function& run);

}  // namespace hone::backends

#endif  // HONE_BACKENDS_CPU_ENTRY_EMITTER_H_
