#ifndef HONE_HLO_FUSION_KERNELS_H_
#define HONE_HLO_FUSION_KERNELS_H_

#include <vector>

#include "absl/status/statusor.h"

#include "hlo/ir/module.h"

namespace hone::hlo {

// A kernel: a module whose entry is one fused computation. Its parameters are
// the kernel's operands, its root is the result, an array or a tuple of arrays.
// It has neither control flow nor fusions nor calls, and calls only what is
// applied per element: by reduce, sort, scatter and the like. It has no
// metadata and no attributes that belong to a place in a program, so that equal
// kernels have equal fingerprints (FastFingerprint).
struct Kernel {
  Module module;
  // The instruction that it computes.
  ComputationId computation = kNoComputation;
  InstructionId instruction = kNoInstruction;
  // How often it runs in one execution of the program (ExecutedRegions).
  double executions = 0;
};

// Decomposes a program, fused by Fuse or by XLA, into its kernels: one for each
// fusion and for each other instruction with work of its own (HasKernel), an
// unknown one too. They are in the order of the regions, and there in the order
// of CanonicalOrder.
// Errors: InvalidArgument, "instruction NAME: …" (MakeKernelModule,
// MakeFusionKernel), if the kernel of an instruction has no module.
absl::StatusOr<std::vector<Kernel>> KernelsOf(const Module& module);

}  // namespace hone::hlo

#endif  // HONE_HLO_FUSION_KERNELS_H_
