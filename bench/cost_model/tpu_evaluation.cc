#include "bench/cost_model/tpu_evaluation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/container/flat_hash_set.h"

#include "backends/tpu_sim/simulator.h"
#include "backends/tpu_sim/tpu_module.h"
#include "base/prediction_metrics.h"
#include "base/rng.h"
#include "base/statistics.h"
#include "base/status_macros.h"
#include "costmodels/kernel_graph.h"
#include "costmodels/tile_features.h"
#include "hlo/analysis/fingerprint.h"
#include "hlo/tiles/tile_space.h"
#include "tuning/read_cost_model.h"
#include "tuning/tasks/tile_surrogate.h"
#include "tuning/tasks/tpu_peaks.h"

namespace hone::bench {
namespace {

// The published figures are of kernels that take as long, too.
constexpr double kLongNs = 5000;

// Returns the time of a configuration; NaN if it does not fit.
double NsOf(const backends::KernelSimulator& simulator,
            const hlo::KernelConfig& config) {
  const auto time = simulator.Simulate(config);
  const bool fits = time.ok() && time->overflow_bytes == 0;
  return fits ? time->ns : std::numeric_limits<double>::quiet_NaN();
}

// Returns at most `count` of the numbers 0 … `of`-1, ascending.
std::vector<int64_t> Draw(int64_t of, int64_t count, Rng& rng) {
  std::vector<int64_t> numbers;
  if (of <= count) {
    for (int64_t i = 0; i < of; ++i) numbers.push_back(i);
    return numbers;
  }
  absl::flat_hash_set<int64_t> drawn;
  while (static_cast<int64_t>(drawn.size()) < count) {
    drawn.insert(static_cast<int64_t>(rng.Below(static_cast<uint64_t>(of))));
  }
  numbers.assign(drawn.begin(), drawn.end());
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

// Per cent; NaN of none.
double ShareAtMost(double limit, const std::vector<double>& values) {
  return 100 *
         static_cast<double>(
             std::count_if(values.begin(), values.end(),
                           [limit](double value) { return value <= limit; })) /
         static_cast<double>(values.size());
}

TimedTiles TimeKernel(const backends::TpuKernel& kernel,
                      const backends::Tpu& tpu, int64_t max_tiles, Rng& rng) {
  TimedTiles timed;
  timed.module = kernel.module;
  timed.instances = static_cast<int64_t>(kernel.places.size());
  timed.executions = kernel.executions;
  timed.kernel = std::make_unique<const hlo::TiledKernel>(*timed.module);
  const backends::KernelSimulator simulator(*timed.module, tpu);
  const hlo::KernelConfig& by_default = kernel.config;
  const auto add = [&](const hlo::KernelConfig& config) {
    const double ns = NsOf(simulator, config);
    if (std::isnan(ns)) return;
    timed.configs.push_back(config);
    timed.ns.push_back(ns);
  };
  add(by_default);
  for (const int64_t index :
       Draw(simulator.space().tile_count(), max_tiles, rng)) {
    hlo::KernelConfig config = by_default;
    config.tile = simulator.space().TileAt(index);
    if (config != by_default) add(config);
  }
  return timed;
}

}  // namespace

Doubt& Doubt::operator+=(const Doubt& other) {
  kernels += other.kernels;
  unsure += other.unsure;
  wrong += other.wrong;
  wrong_unsure += other.wrong_unsure;
  return *this;
}

absl::StatusOr<TimedProgram> TimeTiles(
    const TpuProgram& program, const backends::Tpu& tpu, int64_t max_tiles,
    uint64_t seed, const absl::flat_hash_set<Hash128>& known) {
  HONE_ASSIGN_OR_RETURN(const hlo::Module module, ReadTpuProgram(program));
  HONE_ASSIGN_OR_RETURN(const backends::TpuModule prepared,
                        backends::PrepareForTpu(module, tpu));
  TimedProgram timed = {.program = program, .kernels = {}};
  Rng rng(seed);
  for (const backends::TpuKernel& kernel : prepared.kernels) {
    if (known.contains(hlo::FastFingerprint(*kernel.module))) continue;
    timed.kernels.push_back(TimeKernel(kernel, tpu, max_tiles, rng));
  }
  return timed;
}

TpuErrors ErrorsOf(const TimedProgram& program,
                   absl::Span<const TilePrediction> predictions) {
  std::vector<PredictedChoices> sets;
  std::vector<double> times, predicted, long_times, long_predicted, taus;
  double best_of_five = 0;
  double best = 0;
  double program_ns = 0;
  double predicted_program_ns = 0;
  std::vector<double> errors_in_deviations;
  Doubt doubt;
  for (size_t k = 0; k < program.kernels.size(); ++k) {
    const TimedTiles& kernel = program.kernels[k];
    const PredictedChoices choices = {kernel.ns, predictions[k].order};
    const double least = *std::min_element(kernel.ns.begin(), kernel.ns.end());
    constexpr size_t kTries = 5;
    const double slowdown = TopKSlowdown(choices, kTries);
    const double tau = KendallTau(kernel.ns, predictions[k].order);
    program_ns += kernel.executions * kernel.ns[0];
    predicted_program_ns += kernel.executions * predictions[k].ns[0];
    for (int64_t i = 0; i < kernel.instances; ++i) {
      sets.push_back(choices);
      best += least;
      best_of_five += least * (1 + slowdown);
      times.push_back(kernel.ns[0]);
      predicted.push_back(predictions[k].ns[0]);
      if (!predictions[k].deviations.empty()) {
        const double error =
            std::abs(std::log(predictions[k].ns[0] / kernel.ns[0]));
        const double deviation = predictions[k].deviations[0];
        errors_in_deviations.push_back(error / deviation);
        const bool is_unsure = deviation >= tuning::kUnsureDeviation;
        const bool is_wrong = error > tuning::kUnsureDeviation;
        doubt += {1, is_unsure ? 1 : 0, is_wrong ? 1 : 0,
                  is_unsure && is_wrong ? 1 : 0};
      }
      if (kernel.ns[0] >= kLongNs) {
        long_times.push_back(kernel.ns[0]);
        long_predicted.push_back(predictions[k].ns[0]);
      }
      if (!std::isnan(tau)) taus.push_back(tau);
    }
  }
  return {.ape = SelectionApe(sets),
          .top5 = 100 * (best_of_five / best - 1),
          .mape = MeanAbsolutePercentageError(times, predicted),
          .long_mape = MeanAbsolutePercentageError(long_times, long_predicted),
          .program = 100 * std::abs(predicted_program_ns / program_ns - 1),
          .tile_tau = Mean(taus),
          .time_tau = KendallTau(times, predicted),
          .within_one = ShareAtMost(1, errors_in_deviations),
          .within_two = ShareAtMost(2, errors_in_deviations),
          .doubt = doubt};
}

double DefaultApe(const TimedProgram& program) {
  std::vector<PredictedChoices> sets;
  for (const TimedTiles& kernel : program.kernels) {
    // The default is liked best.
    std::vector<double> order(kernel.ns.size(), 1);
    order[0] = 0;
    for (int64_t i = 0; i < kernel.instances; ++i) {
      sets.push_back({kernel.ns, order});
    }
  }
  return SelectionApe(sets);
}

std::vector<TileInputs> TileInputsOf(const TimedProgram& program,
                                     const backends::Tpu& tpu) {
  std::vector<TileInputs> inputs;
  for (const TimedTiles& kernel : program.kernels) {
    TileInputs& input = inputs.emplace_back();
    input.graph = costmodels::ObserveKernelGraph(*kernel.module);
    const costmodels::TileFeatures features(*kernel.kernel,
                                            tuning::PeaksOf(tpu));
    for (const hlo::KernelConfig& config : kernel.configs) {
      input.configs.push_back(features.Of(config));
    }
  }
  return inputs;
}

absl::StatusOr<std::vector<TilePrediction>> PredictTiles(
    absl::Span<const TileInputs> kernels,
    const learning::CostPredictor& model) {
  std::vector<TilePrediction> predictions;
  for (const TileInputs& kernel : kernels) {
    std::vector<learning::CostQuery> queries;
    for (const std::vector<float>& config : kernel.configs) {
      queries.push_back({&kernel.graph, config});
    }
    HONE_ASSIGN_OR_RETURN(predictions.emplace_back(),
                          PredictChoices(model, tuning::kTpuTileHead,
                                         tuning::kTpuTimeHead, queries));
  }
  return predictions;
}

std::vector<TilePrediction> PredictTilesAnalytically(
    const TimedProgram& program, const backends::Tpu& tpu,
    const costmodels::TpuConstants& constants) {
  std::vector<TilePrediction> predictions;
  for (const TimedTiles& kernel : program.kernels) {
    const costmodels::TpuAnalytical model(*kernel.kernel, tuning::PeaksOf(tpu),
                                          constants);
    std::vector<double> ns;
    for (const hlo::KernelConfig& config : kernel.configs) {
      ns.push_back(model.PredictNs(config));
    }
    predictions.push_back(OrderedByTime(std::move(ns)));
  }
  return predictions;
}

}  // namespace hone::bench
