#ifndef HONE_COSTMODELS_XLA_CPU_KERNELS_H_
#define HONE_COSTMODELS_XLA_CPU_KERNELS_H_

#include <cstdint>
#include <vector>

#include "hlo/ir/module.h"

namespace hone::costmodels {

// The kind of code that executes a group of instructions on XLA:CPU.
enum class XlaCpuKernelKind : uint8_t {
  kNone,     // nothing runs: parameters, tuples, bitcasts and the like
  kLoop,     // generated code: a loop over the elements of the root
  kLibrary,  // a call of YNNPACK
  kSingle,   // an instruction with code, a library call or a runtime of its own
};

// Instructions of one computation that XLA:CPU executes as one kernel.
struct XlaCpuKernel {
  XlaCpuKernelKind kind = XlaCpuKernelKind::kNone;
  hlo::InstructionId root = hlo::kNoInstruction;
  // The root first, users before their operands. An instruction that is
  // recomputed is a member of several kernels.
  std::vector<hlo::InstructionId> members;
};

// Returns the kernels into which XLA:CPU groups a computation whose
// instructions run one after the other (the entry, a body of a loop, a branch),
// without those that do nothing. Instructions of `module` are not moved.
//
// Library calls come first: each dot, and each reduction with the elementwise
// neighbors that YNNPACK can take in. Then loop fusion goes from the root up
// and takes in every operand that the rules allow, duplicating cheap ones. A
// fusion in the module is one kernel. We leave out the limits on the size of
// library calls, multi-output fusion, which XLA has off, and what depends on
// layouts: no array is expected to have one.
// Source: OpenXLA, xla/service/cpu/cpu_instruction_fusion.cc,
// xla/service/instruction_fusion.cc, xla/backends/cpu/transforms
// (library_rewriter.cc, ynn_matcher.h), xla/backends/cpu/ynn_support.cc.
std::vector<XlaCpuKernel> GroupXlaCpuKernels(
    const hlo::Module& module, const hlo::Computation& computation);

}  // namespace hone::costmodels

#endif  // HONE_COSTMODELS_XLA_CPU_KERNELS_H_
