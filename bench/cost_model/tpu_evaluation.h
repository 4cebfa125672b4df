#ifndef HONE_BENCH_COST_MODEL_TPU_EVALUATION_H_
#define HONE_BENCH_COST_MODEL_TPU_EVALUATION_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "backends/tpu_sim/tpu.h"
#include "base/hash.h"
#include "bench/cost_model/choice_prediction.h"
#include "bench/cost_model/tpu_programs.h"
#include "costmodels/tpu_analytical.h"
#include "hlo/tiles/kernel_config.h"
#include "hlo/tiles/tiled_kernel.h"
#include "learning/cost/cost_predictor.h"
#include "space/observation.h"

namespace hone::bench {

// A kernel of a program (backends/tpu_sim/tpu_module.h), and the times of its
// tiles with default flags.
struct TimedTiles {
  std::shared_ptr<const hlo::Module> module;
  std::unique_ptr<const hlo::TiledKernel> kernel;  // of *module
  // How many kernels of the program are equal to it.
  int64_t instances = 1;
  // How often a run of the program runs all of them together.
  double executions = 1;
  // Those that fit; the first is the default configuration. Both [tiles].
  std::vector<hlo::KernelConfig> configs;
  std::vector<double> ns;
};

struct TimedProgram {
  TpuProgram program;
  std::vector<TimedTiles> kernels;
};

// Simulates the tiles of all kernels of a program, or `max_tiles` of a kernel's
// that are drawn by `seed` if there are more. Kernels whose fingerprints are
// `known` are left out. Errors: those of reading the program, and of
// PrepareForTpu.
absl::StatusOr<TimedProgram> TimeTiles(
    const TpuProgram& program, const backends::Tpu& tpu, int64_t max_tiles,
    uint64_t seed, const absl::flat_hash_set<Hash128>& known = {});

// The predictions of a model for a kernel's tiles.
using TilePrediction = ChoicePrediction;

// Counts of kernels, each as often as it occurs: all; those whose predicted
// time with the default configuration is unsure (tuning::kUnsureDeviation);
// those whose prediction is off by a larger factor than that deviation; and
// those that are both.
struct Doubt {
  int64_t kernels = 0;
  int64_t unsure = 0;
  int64_t wrong = 0;
  int64_t wrong_unsure = 0;

  Doubt& operator+=(const Doubt& other);
};

// The errors of a model on one program, per cent, as in Kaufman et al., "A
// Learned Performance Model for Tensor Processing Units", 2021.
struct TpuErrors {
  // Of selecting the tile of each kernel (SelectionApe), and with the five best
  // measured, XTAT's way.
  double ape = 0;
  double top5 = 0;
  // Of the times of kernels with default configurations: all, and those that
  // take 5 microseconds or more (NaN without any).
  double mape = 0;
  double long_mape = 0;
  // The error of the program's time with default configurations: the sum over
  // its kernels, each as often as it runs.
  double program = 0;
  // Kendall's τ of the tiles of a kernel, the mean over kernels; and of the
  // times of the kernels.
  double tile_tau = 0;
  double time_tau = 0;
  // The kernels whose time with the default configuration lies within one and
  // two of the deviations that the model expects; NaN if it does not say.
  double within_one = 0;
  double within_two = 0;
  // All zero if the model gives no deviations.
  Doubt doubt;
};

// `predictions` are of the program's kernels, in order. Each instance of a
// kernel counts.
TpuErrors ErrorsOf(const TimedProgram& program,
                   absl::Span<const TilePrediction> predictions);

// Returns the tile APE of leaving all kernels their default configurations, per
// cent.
double DefaultApe(const TimedProgram& program);

// The inputs of models of tuning::TpuCostSpec for the tiles of a kernel.
struct TileInputs {
  space::Observation graph;
  std::vector<std::vector<float>> configs;  // [tiles], as TimedTiles
};
// Returns those of the program's kernels, in order.
std::vector<TileInputs> TileInputsOf(const TimedProgram& program,
                                     const backends::Tpu& tpu);

// Predicts by a learned model of tuning::TpuCostSpec.
absl::StatusOr<std::vector<TilePrediction>> PredictTiles(
    absl::Span<const TileInputs> kernels, const learning::CostPredictor& model);

// Predicts by the analytical model of the TPU.
std::vector<TilePrediction> PredictTilesAnalytically(
    const TimedProgram& program, const backends::Tpu& tpu,
    const costmodels::TpuConstants& constants);

}  // namespace hone::bench

#endif  // HONE_BENCH_COST_MODEL_TPU_EVALUATION_H_
