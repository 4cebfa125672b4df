#ifndef HONE_TUNING_TASKS_TILE_SURROGATE_H_
#define HONE_TUNING_TASKS_TILE_SURROGATE_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"

#include "learning/cost/cost_predictor.h"
#include "tuning/tasks/tile_problem.h"

namespace hone::tuning {

// Returns the spec of models of kernels on TPUs: the heads `time` (of the
// kernel with its configuration), `tile` and `flags` (orders of what differs in
// the tile, and in the flags, alone), over the features of costmodels/.
const learning::CostSpec& TpuCostSpec();

inline constexpr int32_t kTpuTimeHead = 0;
inline constexpr int32_t kTpuTileHead = 1;
inline constexpr int32_t kTpuFlagsHead = 2;

// Returns the model of `problem` by a copy of `model`, which has TpuCostSpec's
// heads; `problem` outlives it. A configuration is as slow as its tile with the
// default flags by the head `tile`, and as much slower as the head `flags` says
// of its flags.
std::unique_ptr<space::Surrogate> MakeTileSurrogateOf(
    const TileProblem& problem, const learning::CostPredictor& model);

}  // namespace hone::tuning

#endif  // HONE_TUNING_TASKS_TILE_SURROGATE_H_
