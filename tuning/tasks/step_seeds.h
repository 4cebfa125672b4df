#ifndef HONE_TUNING_TASKS_STEP_SEEDS_H_
#define HONE_TUNING_TASKS_STEP_SEEDS_H_

#include <functional>
#include <vector>

#include "space/problem.h"
#include "tuning/tasks/step_space.h"

namespace hone::tuning {

// Constructs the candidates of known methods: "layers" (what experts do), then
// "single_device", "metis", "heft" (the best of 16 list schedulers), "m_etf"
// and "m_sct", as far as devices are decided; "no_fusion" and "producer_fusion"
// if fusion is. The orders in which the methods start kernels, and others that
// fit their placements, become orders of the space; each candidate has the
// order that suits it best.
//
// Where devices are not decided they are those of StepBase, else those of
// "layers", or of the best placement that fits in memory if that does not.
//
// Deterministic unless `stop`, polled between methods, returns true: then those
// that are left are missing.
std::vector<space::Seed> MakeStepSeeds(StepSpace& space,
                                       const std::function<bool()>& stop);

}  // namespace hone::tuning

#endif  // HONE_TUNING_TASKS_STEP_SEEDS_H_
