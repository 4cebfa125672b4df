#ifndef HONE_TUNING_TASKS_TPU_TILE_PROBLEM_H_
#define HONE_TUNING_TASKS_TPU_TILE_PROBLEM_H_

#include <memory>

#include "backends/tpu_sim/tpu.h"
#include "backends/tpu_sim/tpu_module.h"
#include "tuning/tasks/tile_problem.h"
#include "tuning/tasks/tpu_worker.h"

namespace hone::tuning {

// Returns the problem of choosing the tile, and the flags if asked for, of a
// kernel on a simulated TPU, whose model is the cost model that comes with
// Hone. It measures on `worker`. Where that is null, or fails, it
// simulates in this process, which gives the same times: a worker's fingerprint
// is that of the description and of the simulator.
std::unique_ptr<TileProblem> MakeTpuTileProblem(
    const backends::TpuKernel& kernel, const backends::Tpu& tpu,
    bool with_flags = true, std::shared_ptr<TpuWorker> worker = nullptr);

}  // namespace hone::tuning

#endif  // HONE_TUNING_TASKS_TPU_TILE_PROBLEM_H_
