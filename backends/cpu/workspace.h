#ifndef HONE_BACKENDS_CPU_WORKSPACE_H_
#define HONE_BACKENDS_CPU_WORKSPACE_H_

#include <cstdint>

#include "absl/status/statusor.h"

namespace llvm {
class Function;
}  // namespace llvm

namespace hone::backends {

// The memory that a compiled function allocates, in multiples of 64 bytes.
struct Workspace {
  // The most at a time, of the function and what it calls, outside of parallel
  // loops.
  int64_t shared_bytes = 0;
  // The most that one call of the body of a parallel loop has at a time.
  int64_t thread_bytes = 0;
};

// Returns the workspace of `function`, from the calls of hone_kernel_allocate
// and hone_kernel_free in it and in what it calls, on the path that has the
// most. Returns Internal if it has no limit: if sizes are no constants or a
// loop frees less than it allocates.
absl::StatusOr<Workspace> WorkspaceOf(const llvm::Function& function);

}  // namespace hone::backends

#endif  // HONE_BACKENDS_CPU_WORKSPACE_H_
