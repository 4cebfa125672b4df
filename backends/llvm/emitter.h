#ifndef HONE_BACKENDS_LLVM_EMITTER_H_
#define HONE_BACKENDS_LLVM_EMITTER_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

#include "loops/program.h"

namespace llvm {
class Function;
class Module;
}  // namespace llvm

namespace hone::backends {

// The processor that code is emitted for.
struct EmitTarget {
  // LLVM's names.
  std::string cpu;
  std::string features;
  // Of the widest vector register worth using.
  int64_t vector_bytes = 32;
  // Whether loads of scattered elements have instructions that are as fast as
  // single loads.
  bool has_fast_gather = false;
};

// Adds `void name(ptr arguments, ptr results)` to `module`: pointers to arrays
// of pointers to what the program reads and writes. Scopes become loops, code
// written out, vector instructions or calls of hone_kernel_parallel_for; values
// in register memory become LLVM values once LLVM has optimised it.
//
// Vector scopes run as explicit vectors. A reduction in one is kept lane-wise
// over the loops around it for as long as its target stays the same, and summed
// up after them. Where bounds of vector and unrolled scopes are known before a
// scope begins, it is emitted twice, once for full tiles.
//
// The program must verify.
// Errors: Unimplemented for an operation or element type that has no code.
absl::StatusOr<llvm::Function*> EmitProgram(const loops::Program& program,
                                            const std::string& name,
                                            const EmitTarget& target,
                                            llvm::Module& module);

}  // namespace hone::backends

#endif  // HONE_BACKENDS_LLVM_EMITTER_H_
