#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"

#include "backends/tpu_sim/simulator.h"
#include "base/hash.h"
#include "bench/cost_model/tpu_programs.h"
#include "costmodels/tpu_analytical.h"
#include "hlo/analysis/fingerprint.h"
#include "hlo/fusion/fuse.h"
#include "hlo/fusion/fuse_by_priority.h"
#include "hlo/fusion/kernels.h"
#include "tuning/tasks/tpu_peaks.h"

// Fits the constants of the analytical model of TPUs (costmodels/
// tpu_analytical.h) to the simulated times of kernels of the families that
// learned models are trained on, and prints them with the errors on all bundled
// programs, of which the models are tested on those marked so:
//
//   hone_fit_tpu_analytical [--tpu=v4] [--tiles=200] [--only=EXPRESSION]
//
// A program's kernels are those of its priority fusion with default tiles. Each
// is timed with all its tiles that fit, or so many random ones.

namespace hone {
namespace {

using costmodels::TpuAnalytical;
using costmodels::TpuConstants;
using costmodels::TpuPeaks;

struct Options {
  std::string tpu = "v4";
  int64_t tiles = 200;
  std::string only;  // a regular expression of programs' names
};

struct TimedKernel {
  hlo::Module module;
  std::unique_ptr<hlo::TiledKernel> kernel;
  std::vector<hlo::KernelConfig> configs;
  std::vector<costmodels::TpuTotals> totals;
  std::vector<double> ns;
  double default_ns = 0;
};

struct Program {
  std::string name;
  bool is_training = false;
  bool is_test = false;
  std::vector<std::unique_ptr<TimedKernel>> kernels;
};

// Times the tiles of a kernel; null if fewer than two fit.
std::unique_ptr<TimedKernel> Time(hlo::Module module, const backends::Tpu& tpu,
                                  int64_t tiles, uint64_t seed) {
  auto timed = std::make_unique<TimedKernel>();
  timed->module = std::move(module);
  timed->kernel = std::make_unique<hlo::TiledKernel>(timed->module);
  const backends::KernelSimulator simulator(timed->module, tpu);
  const hlo::TileSpace& space = simulator.space();
  std::vector<hlo::KernelConfig> configs = {simulator.DefaultConfig()};
  Rng rng(seed);
  const bool takes_all = space.tile_count() <= tiles;
  for (int64_t i = 0; i < std::min(tiles, space.tile_count()); ++i) {
    hlo::KernelConfig config;
    config.tile = takes_all ? space.TileAt(i) : space.RandomConfig(rng).tile;
    if (std::find(configs.begin(), configs.end(), config) == configs.end()) {
      configs.push_back(config);
    }
  }
  for (const hlo::KernelConfig& config : configs) {
    const auto time = simulator.Simulate(config);
    if (!time.ok() || time->overflow_bytes > 0) continue;
    if (timed->ns.empty()) timed->default_ns = time->ns;
    timed->configs.push_back(config);
    timed->totals.push_back(TpuAnalytical(*timed->kernel).TotalsOf(config));
    timed->ns.push_back(time->ns);
  }
  return timed->ns.size() < 2 ? nullptr : std::move(timed);
}

struct Errors {
  double ape = 0;          // of the tile that the model picks
  double default_ape = 0;  // of the default tile
  double random_ape = 0;   // of a random tile, expected
  double mape = 0;         // of the default tile's time
};

Errors ErrorsOf(const Program& program, const TpuPeaks& peaks,
                const TpuConstants& constants) {
  double best_sum = 0;
  double picked_sum = 0;
  double default_sum = 0;
  double random_sum = 0;
  Errors errors;
  for (const auto& timed : program.kernels) {
    const TpuAnalytical model(*timed->kernel, peaks, constants);
    size_t picked = 0;
    double least = std::numeric_limits<double>::infinity();
    double sum = 0;
    for (size_t i = 0; i < timed->configs.size(); ++i) {
      const double ns = model.PredictNs(timed->totals[i]);
      sum += timed->ns[i];
      if (i == 0) {
        errors.mape += std::abs(ns - timed->ns[0]) / timed->ns[0];
      }
      if (ns >= least) continue;
      least = ns;
      picked = i;
    }
    best_sum += *std::min_element(timed->ns.begin(), timed->ns.end());
    picked_sum += timed->ns[picked];
    default_sum += timed->default_ns;
    random_sum += sum / static_cast<double>(timed->ns.size());
  }
  errors.ape = 100 * (picked_sum / best_sum - 1);
  errors.default_ape = 100 * (default_sum / best_sum - 1);
  errors.random_ape = 100 * (random_sum / best_sum - 1);
  errors.mape *= 100 / static_cast<double>(program.kernels.size());
  return errors;
}

// What the fit makes small: the mean of |log(predicted / true)| over the tiles
// of the kernels of the training programs.
double Loss(const std::vector<Program>& programs, const TpuPeaks& peaks,
            const TpuConstants& constants) {
  double loss = 0;
  double count = 0;
  for (const Program& program : programs) {
    if (!program.is_training) continue;
    for (const auto& timed : program.kernels) {
      const TpuAnalytical model(*timed->kernel, peaks, constants);
      double sum = 0;
      for (size_t i = 0; i < timed->ns.size(); ++i) {
        sum += std::abs(
            std::log(model.PredictNs(timed->totals[i]) / timed->ns[i]));
      }
      loss += sum / static_cast<double>(timed->ns.size());
      ++count;
    }
  }
  return loss / std::max(count, 1.0);
}

// Coordinate descent in steps that become smaller.
TpuConstants Fit(const std::vector<Program>& programs, const TpuPeaks& peaks) {
  TpuConstants constants = {.bandwidth_share = 0.7,
                            .matrix_share = 0.7,
                            .vector_share = 0.35,
                            .launch_cycles = 1800,
                            .tile_cycles = 120};
  double least = Loss(programs, peaks, constants);
  for (const double step : {1.5, 1.2, 1.08, 1.02, 1.005}) {
    bool improves = true;
    for (int round = 0; improves && round < 6; ++round) {
      improves = false;
      for (double TpuConstants::*const each :
           {&TpuConstants::bandwidth_share, &TpuConstants::matrix_share,
            &TpuConstants::vector_share, &TpuConstants::launch_cycles,
            &TpuConstants::tile_cycles}) {
        for (const double factor : {step, 1 / step}) {
          TpuConstants changed = constants;
          changed.*each *= factor;
          // No peak is exceeded.
          for (double TpuConstants::*const share :
               {&TpuConstants::bandwidth_share, &TpuConstants::matrix_share,
                &TpuConstants::vector_share}) {
            changed.*share = std::min(changed.*share, 1.0);
          }
          const double loss = Loss(programs, peaks, changed);
          if (loss >= least) continue;
          least = loss;
          constants = changed;
          improves = true;
        }
      }
    }
  }
  return constants;
}

absl::StatusOr<Program> ReadProgram(const bench::TpuProgram& source,
                                    const bench::FamilySplit& split,
                                    const backends::Tpu& tpu, int64_t tiles) {
  auto module = bench::ReadTpuProgram(source);
  if (!module.ok()) return module.status();
  const hlo::FusionSpace space(*std::move(module));
  const hlo::FusionBits bits =
      hlo::FuseByPriority(space, [&tpu](const hlo::Module& kernel) {
        const backends::KernelSimulator simulator(kernel, tpu);
        const auto time = simulator.Simulate(simulator.DefaultConfig());
        return time.ok() && time->overflow_bytes == 0
                   ? time->ns
                   : std::numeric_limits<double>::quiet_NaN();
      });
  auto fused = hlo::Fuse(space, bits, space.RowMajor());
  if (!fused.ok()) return fused.status();
  auto kernels = hlo::KernelsOf(*fused);
  if (!kernels.ok()) return kernels.status();
  Program program;
  program.name = source.name;
  program.is_test = split.test.contains(source.family);
  program.is_training =
      !program.is_test && !split.validation.contains(source.family);
  std::map<std::pair<uint64_t, uint64_t>, bool> seen;
  for (hlo::Kernel& kernel : *kernels) {
    const Hash128 key = hlo::FastFingerprint(kernel.module);
    if (!seen.emplace(std::make_pair(key.high, key.low), true).second) continue;
    auto timed = Time(std::move(kernel.module), tpu, tiles, key.low);
    if (timed != nullptr) program.kernels.push_back(std::move(timed));
  }
  return program;
}

void PrintErrors(const Program& program, const Errors& errors) {
  int64_t samples = 0;
  for (const auto& kernel : program.kernels) {
    samples += static_cast<int64_t>(kernel->ns.size());
  }
  std::cout << absl::StrFormat(
                   "%-20s %-8s %5d kernels %6d tiles  APE %6.2f  default "
                   "%6.2f  random %7.2f  MAPE %6.1f",
                   program.name,
                   program.is_training ? "train"
                   : program.is_test   ? "test"
                                       : "other",
                   program.kernels.size(), samples, errors.ape,
                   errors.default_ape, errors.random_ape, errors.mape)
            << std::endl;
}

int Run(const Options& options) {
  const auto tpu = backends::FindTpu(options.tpu);
  if (!tpu.ok()) {
    std::cerr << tpu.status() << "\n";
    return 1;
  }
  const TpuPeaks peaks = tuning::PeaksOf(*tpu);
  const auto split =
      bench::ReadFamilySplit("bench/data/cost_model/tpu_split.json");
  const auto sources = bench::ReadTpuPrograms(
      "bench/data/corpus", "bench/data/partition", options.only);
  for (const absl::Status& status : {split.status(), sources.status()}) {
    if (status.ok()) continue;
    std::cerr << status << "\n";
    return 1;
  }
  std::vector<Program> programs;
  for (const bench::TpuProgram& source : *sources) {
    auto program = ReadProgram(source, *split, *tpu, options.tiles);
    if (!program.ok()) {
      std::cerr << source.name << ": " << program.status() << "\n";
      return 1;
    }
    std::cerr << "read " << source.name << "\n";
    programs.push_back(*std::move(program));
  }
  const TpuConstants constants = Fit(programs, peaks);
  std::cout << absl::StrFormat(
      "bandwidth_share %.3f matrix_share %.3f vector_share %.3f launch_cycles "
      "%.0f tile_cycles %.0f\n",
      constants.bandwidth_share, constants.matrix_share, constants.vector_share,
      constants.launch_cycles, constants.tile_cycles);
  for (const Program& program : programs) {
    PrintErrors(program, ErrorsOf(program, peaks, constants));
  }
  return 0;
}

}  // namespace
}  // namespace hone

int main(int argc, char** argv) {
  hone::Options options;
  for (int i = 1; i < argc; ++i) {
    absl::string_view argument = argv[i];
    if (absl::ConsumePrefix(&argument, "--tpu=")) {
      options.tpu = std::string(argument);
    } else if (absl::ConsumePrefix(&argument, "--only=")) {
      options.only = std::string(argument);
    } else if (!absl::ConsumePrefix(&argument, "--tiles=") ||
               !absl::SimpleAtoi(argument, &options.tiles) ||
               options.tiles < 1) {
      std::cerr << "usage: hone_fit_tpu_analytical [--tpu=v4] [--tiles=200] "
                   "[--only=EXPRESSION], at least one tile\n";
      return 2;
    }
  }
  return hone::Run(options);
}
