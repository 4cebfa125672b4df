#ifndef HONE_HLO_FUSION_FUSE_H_
#define HONE_HLO_FUSION_FUSE_H_

#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "hlo/fusion/fusion_space.h"
#include "hlo/fusion/kernel_rules.h"
#include "hlo/ir/module.h"

namespace hone::hlo {

// Returns the program of `space` with a fusion instruction for each kernel of
// several nodes, and the layouts in the shapes of what kernels write and read.
// Fused nodes are removed once nothing uses them. A fusion has the name and
// what belongs to the place (carried_attributes.h) of its root.
//
// The kind of every fusion is kLoop: the kind says how to emit, and XLA:CPU
// emits no kInput, and of kOutput only a dot to which something is added.
// Errors: InvalidArgument if the rules do not allow the decision
// (KernelRules::Check), or if a layout is none or of a node that may not swap.
absl::StatusOr<Module> Fuse(const FusionSpace& space,
                            absl::Span<const uint8_t> fused,
                            absl::Span<const uint8_t> layouts);

// Returns the kernel of `root`, the same as KernelsOf makes of the fused
// program, without making that. `members` are its nodes (KernelRules).
// Errors: as MakeKernelModule.
absl::StatusOr<Module> MakeKernel(const FusionSpace& space,
                                  absl::Span<const FusionIndex> members,
                                  absl::Span<const uint8_t> layouts);

}  // namespace hone::hlo

#endif  // HONE_HLO_FUSION_FUSE_H_
