#ifndef HONE_TUNING_TASKS_TPU_TILE_PROBLEM_H_
#define HONE_TUNING_TASKS_TPU_TILE_PROBLEM_H_

#include <memory>

#include "backends/tpu_sim/tpu.h"
#include "backends/tpu_sim/tpu_module.h"
#include "tuning/tasks/tile_problem.h"

namespace hone::tuning {

// Returns the problem of choosing the tile, and the flags if asked for, of a
// kernel on a simulated TPU, whose model is the cost model that comes with
// Hone.
std::unique_ptr<TileProblem> MakeTpuTileProblem(
    const backends::TpuKernel& kernel, const backends::Tpu& tpu,
    bool with_flags = true);

}  // namespace hone::tuning

#endif  // HONE_TUNING_TASKS_TPU_TILE_PROBLEM_H_
