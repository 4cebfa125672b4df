#ifndef HONE_BACKENDS_LLVM_EMITTER_H_
#define HONE_BACKENDS_LLVM_EMITTER_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

#include "loops/ir/program.h"

namespace llvm {
class Function;
class Module;
}  // namespace llvm

namespace hone::backends {

// The processor that code is emitted for.
struct EmitTarget {
  // LLVM's names of processor and features.
  std::string cpu;
  std::string features;
  // The width of the widest vector register worth using.
  int64_t vector_bytes = 32;
  // True if gather instructions are as fast as single loads.
  bool has_fast_gather = false;
  // True if there are instructions for sums of products of adjacent elements:
  // of two bf16 into f32; of two 16-bit or four 8-bit integers into s32.
  // The former come with one that rounds f32 to bf16.
  bool has_bf16_dot = false;
  bool has_integer_dot = false;
  // True if instructions multiply vectors of 16 floats by powers of two, and
  // choose among 16 floats in a register (AVX-512).
  bool has_avx512 = false;
  // True if instructions move any lanes of a vector of 32-bit elements to its
  // front: AVX-512 by a mask, AVX2 by their numbers.
  bool has_compress = false;
};

// How a function gets the addresses of the arrays of its program.
enum class Interface : uint8_t {
  // void name(ptr arguments, ptr results): arrays of pointers, by number.
  kPointerArrays,
  // void name(ptr argument0, …, ptr result0, …)
  kPointers,
};

// Adds a function that runs the program to `module`. Loops become
// machine loops, unrolled code, vector instructions or calls of
// hone_kernel_parallel_for, according to their mode; register buffers become
// LLVM values once LLVM has optimized the code.
//
// Vector loops become explicit vector code. Sums of products of adjacent
// elements become the instructions for them, where the target has any; that of
// bf16 takes denormal numbers for zero. A reduction in a vector loop is
// accumulated per lane over the surrounding loops for as long as its target
// stays the same, and combined after them. A loop that only lists what fulfils
// a condition becomes vector code if the target has instructions for it. If the
// bounds of vector and unrolled loops are known before a surrounding loop
// begins, that loop is emitted twice, once for full tiles.
//
// The program must verify. Returns Unimplemented for an unsupported operation
// or element type.
absl::StatusOr<llvm::Function*> EmitProgram(
    const loops::Program& program, const std::string& name,
    const EmitTarget& target, llvm::Module& module,
    Interface interface = Interface::kPointerArrays);

}  // namespace hone::backends

#endif  // HONE_BACKENDS_LLVM_EMITTER_H_
