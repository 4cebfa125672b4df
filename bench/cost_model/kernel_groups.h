#ifndef HONE_BENCH_COST_MODEL_KERNEL_GROUPS_H_
#define HONE_BENCH_COST_MODEL_KERNEL_GROUPS_H_

#include <vector>

#include "bench/cost_model/kernel_data.h"
#include "learning/cost/cost_samples.h"

namespace hone::bench {

// Returns what the schedules of a kernel, which have graphs, say to the heads
// of tuning::KernelCostSpec: all of them to `time`, and to `schedule` if there
// are several. The program of a group is the family of the kernel.
std::vector<learning::CostGroup> KernelGroups(const KernelGroup& kernel);

}  // namespace hone::bench

#endif  // HONE_BENCH_COST_MODEL_KERNEL_GROUPS_H_
