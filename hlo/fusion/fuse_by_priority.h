#ifndef HONE_HLO_FUSION_FUSE_BY_PRIORITY_H_
#define HONE_HLO_FUSION_FUSE_BY_PRIORITY_H_

#include <functional>
#include <vector>

#include "hlo/fusion/fusion_space.h"
#include "hlo/ir/module.h"

namespace hone::hlo {

// Returns the time of one execution of a kernel (kernels.h), in any unit.
using KernelTime = std::function<double(const Module& kernel)>;
// Returns those of several, in order.
using KernelTimes =
    std::function<std::vector<double>(std::vector<Module> kernels)>;

// Returns the fusion that takes, again and again, the node whose fusion saves
// the most time, until none saves any: the time of the kernels that change,
// before and after. Cheap nodes come first, wherever that costs nothing.
//
// Only times of kernels that a fusion changes are looked at again, and equal
// kernels (FastFingerprint) are asked for once. A kernel without a module, or
// of a time that is not a number, is never fused.
// Source: XLA's priority fusion (reference implementation in openxla/xla,
// xla/service/gpu/transforms/priority_fusion.cc).
FusionBits FuseByPriority(const FusionSpace& space, const KernelTime& time);
// The same, and asks for the times of kernels that one step needs together.
FusionBits FuseByPriority(const FusionSpace& space, const KernelTimes& times);

}  // namespace hone::hlo

#endif  // HONE_HLO_FUSION_FUSE_BY_PRIORITY_H_
