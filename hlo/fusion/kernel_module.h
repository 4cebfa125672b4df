#ifndef HONE_HLO_FUSION_KERNEL_MODULE_H_
#define HONE_HLO_FUSION_KERNEL_MODULE_H_

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "hlo/ir/module.h"

namespace hone::hlo {

// The most instructions that a kernel may have once everything is inlined.
inline constexpr int64_t kMaxKernelInstructions = 100'000;

// Returns true if executing `instruction` is work of a kernel. False for what
// names, groups or orders values (parameters, constants, tuples, bitcasts, …),
// for control flow, whose computations have kernels, and for communication and
// transfers.
bool HasKernel(const Instruction& instruction);

// Returns true for a constant that kernels contain instead of reading it: a
// scalar.
bool IsEmbeddedConstant(const Instruction& instruction);

// A computation made of some instructions of another one.
struct ExtractedComputation {
  Computation computation;
  // The instructions of the other one that its parameters stand for.
  std::vector<InstructionId> operands;
};

// Returns copies of the instructions `members` of `source`, operands before
// users, the root last. Parameters come first, in the order in which members
// first read them, with the shapes that `shape_in_memory` tells, as has the
// root; scalar constants are copied. Called computations keep their ids.
// Attributes that belong to a place in a program (carried_attributes.h) and
// metadata are kept if `annotations`.
ExtractedComputation ExtractInstructions(
    const Computation& source, absl::Span<const InstructionId> members,
    absl::FunctionRef<ShapePtr(InstructionId)> shape_in_memory,
    bool annotations);

// Returns the kernel that computes `extracted`, whose callees are in `source`:
// a module with copies of them. Its name is that of the root.
// Errors: InvalidArgument, "instruction NAME: …", if an operand is no array of
// static size, or the result is neither one nor a tuple of them.
absl::StatusOr<Module> MakeKernelModule(const Module& source,
                                        Computation computation);

// Returns the kernel of the fusion `instruction` of `computation`: everything
// inside, nested fusions and calls inlined.
// Errors: as MakeKernelModule; InvalidArgument for control flow inside, and for
// more than kMaxKernelInstructions.
absl::StatusOr<Module> MakeFusionKernel(const Module& module,
                                        const Computation& computation,
                                        InstructionId instruction);

}  // namespace hone::hlo

#endif  // HONE_HLO_FUSION_KERNEL_MODULE_H_
