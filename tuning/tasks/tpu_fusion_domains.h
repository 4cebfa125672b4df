#ifndef HONE_TUNING_TASKS_TPU_FUSION_DOMAINS_H_
#define HONE_TUNING_TASKS_TPU_FUSION_DOMAINS_H_

#include <memory>

#include "hlo/fusion/fusion_space.h"
#include "space/domains.h"

namespace hone::tuning {

// Returns the values left to the variables of a TpuFusionProblem: those of
// `fuse` under hlo::KernelRules, those of `layout` free. The complete
// assignments that survive are the legal ones. `space` outlives it.
std::unique_ptr<space::Domains> MakeTpuFusionDomains(
    const hlo::FusionSpace& space);

}  // namespace hone::tuning

#endif  // HONE_TUNING_TASKS_TPU_FUSION_DOMAINS_H_
