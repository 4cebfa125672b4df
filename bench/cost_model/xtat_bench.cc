#include "bench/cost_model/xtat_bench.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_format.h"

#include "backends/tpu_sim/simulator.h"
#include "backends/tpu_sim/tpu_module.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/status_macros.h"
#include "bench/corpus.h"
#include "bench/cost_model/tile_level.h"
#include "bench/cost_model/tpu_programs.h"
#include "bench/plot.h"
#include "costmodels/tpu_analytical.h"
#include "hlo/analysis/fingerprint.h"
#include "optimizers/search.h"
#include "space/trial.h"
#include "tuning/tasks/tpu_peaks.h"
#include "tuning/tasks/tpu_tile_problem.h"

namespace hone::bench {
namespace {

using Json = nlohmann::ordered_json;

// The numbers of measurements after which searches are compared: the budgets,
// and for curves those between at distances of 5 %, all of the first 20.
std::vector<int64_t> Counts(const std::vector<int64_t>& budgets) {
  std::vector<int64_t> counts = budgets;
  constexpr int64_t kParts = 20;
  for (int64_t i = 1; i < budgets.back(); i += 1 + i / kParts) {
    counts.push_back(i);
  }
  std::sort(counts.begin(), counts.end());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  return counts;
}

// After each of the counts, the ratio is the share of the best tile's speed.
struct Row : SearchRow {
  // Kernels and seeds that come within 5 % of it.
  std::vector<int64_t> near_best;  // [budgets]
};

// The row of a closed formula in place of a search.
constexpr absl::string_view kAnalytical = "analytical";

// All tiles of a kernel, the one first that the analytical model likes best.
std::vector<space::Candidate> ByAnalyticalTime(
    const tuning::TileProblem& problem, const backends::Tpu& tpu,
    const costmodels::TpuConstants& constants) {
  const costmodels::TpuAnalytical model(problem.tiled(), tuning::PeaksOf(tpu),
                                        constants);
  const hlo::TileSpace space(problem.tiled());
  std::vector<std::pair<double, space::Candidate>> judged;
  for (int64_t i = 0; i < space.tile_count(); ++i) {
    hlo::KernelConfig config;
    config.tile = space.TileAt(i);
    judged.emplace_back(model.PredictNs(config), problem.CandidateOf(config));
  }
  std::stable_sort(
      judged.begin(), judged.end(),
      [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<space::Candidate> order;
  for (auto& [ns, candidate] : judged) order.push_back(std::move(candidate));
  return order;
}

// Measures the default tile, and then the others in this order.
absl::StatusOr<Found> MeasureInOrder(const tuning::TileProblem& problem,
                                     const std::vector<space::Candidate>& order,
                                     int64_t budget) {
  Found found;
  const auto measure = [&](const space::Candidate& candidate) -> absl::Status {
    HONE_ASSIGN_OR_RETURN(const space::Measurement measured,
                          problem.Measure(candidate));
    found.Add(candidate, space::EffectiveCost(measured));
    return absl::OkStatus();
  };
  HONE_RETURN_IF_ERROR(measure(problem.DefaultCandidate()));
  for (const space::Candidate& candidate : order) {
    if (static_cast<int64_t>(found.least_ns.size()) >= budget) break;
    HONE_RETURN_IF_ERROR(measure(candidate));
  }
  return found;
}

class XtatBench {
 public:
  explicit XtatBench(const XtatBenchOptions& options)
      : options_(options), counts_(Counts(options.budgets)) {
    for (const std::string& optimizer : options.optimizers) {
      rows_.push_back({MakeSearchRow(optimizer, counts_.size(),
                                     static_cast<size_t>(options.seeds)),
                       std::vector<int64_t>(options.budgets.size())});
    }
  }

  int64_t kernels() const { return kernels_; }
  double default_speed() const { return SpreadOf({default_}, kernels_).mean; }

  // Tunes the kernels of a program.
  absl::Status Add(const TpuProgram& program, const backends::Tpu& tpu) {
    HONE_ASSIGN_OR_RETURN(const hlo::Module module, ReadTpuProgram(program));
    HONE_ASSIGN_OR_RETURN(backends::TpuModule prepared,
                          backends::PrepareForTpu(module, tpu));
    std::vector<std::pair<double, const backends::TpuKernel*>> kernels;
    for (const backends::TpuKernel& kernel : prepared.kernels) {
      kernels.emplace_back(
          -kernel.executions * backends::DefaultNs(*kernel.module, tpu),
          &kernel);
    }
    std::stable_sort(
        kernels.begin(), kernels.end(),
        [](const auto& a, const auto& b) { return a.first < b.first; });
    int64_t taken = 0;
    for (const auto& [weight, kernel] : kernels) {
      if (taken == options_.kernels) break;
      // Programs of a family share kernels.
      if (!seen_.insert(hlo::FastFingerprint(*kernel->module)).second) continue;
      const hlo::TiledKernel tiled(*kernel->module);
      const int64_t tiles = hlo::TileSpace(tiled).tile_count();
      if (tiles < 2 || tiles > options_.tiles) continue;
      HONE_RETURN_IF_ERROR(Tune(*kernel, tpu));
      ++taken;
    }
    return absl::OkStatus();
  }

  Json Finish(std::ostream& out) const {
    PrintSearchHead("optimizer", options_.budgets, {"within 5 % with the last"},
                    out);
    out << "| the default tile |";
    for (size_t b = 0; b < options_.budgets.size(); ++b) {
      out << absl::StrFormat(" %.4f | |", default_speed());
    }
    out << " |\n";
    Json table = Json::array();
    for (const Row& row : rows_) {
      out << "| " << row.optimizer << " |";
      Json budgets = Json::array();
      for (size_t b = 0; b < options_.budgets.size(); ++b) {
        const Spread speed = SpeedOf(row, CountIndex(options_.budgets[b]));
        out << SpreadCells(speed);
        budgets.push_back({{"measurements", options_.budgets[b]},
                           {"speed", speed.mean},
                           {"least", speed.least},
                           {"most", speed.most},
                           {"within_5_percent", row.near_best[b]}});
      }
      const int64_t runs = kernels_ * options_.seeds;
      out << absl::StrFormat(" %.1f %% |\n",
                             100.0 * static_cast<double>(row.near_best.back()) /
                                 static_cast<double>(runs));
      table.push_back(
          {{"optimizer", row.optimizer}, {"budgets", std::move(budgets)}});
    }
    return table;
  }

  absl::Status WritePlot() const {
    Plot plot = {.title = absl::StrFormat(
                     "Searches for tiles of %d kernels on a simulated TPU %s",
                     kernels_, options_.tpu),
                 .x = {"measurements", AxisScale::kLogarithmic},
                 .y = {"speed over that of the best tile, geometric mean"}};
    for (const Row& row : rows_) {
      PlotSeries& series = plot.series.emplace_back();
      series.name = row.optimizer;
      for (size_t i = 0; i < counts_.size(); ++i) {
        series.points.push_back(
            {static_cast<double>(counts_[i]), SpeedOf(row, i).mean});
      }
    }
    return bench::WritePlot(plot, options_.plots, "xtat");
  }

 private:
  Spread SpeedOf(const Row& row, size_t count) const {
    return SpreadOf(row.sums[count], kernels_);
  }

  size_t CountIndex(int64_t budget) const {
    return static_cast<size_t>(
        std::lower_bound(counts_.begin(), counts_.end(), budget) -
        counts_.begin());
  }

  absl::Status Tune(const backends::TpuKernel& kernel,
                    const backends::Tpu& tpu) {
    const std::unique_ptr<tuning::TileProblem> problem =
        tuning::MakeTpuTileProblem(kernel, tpu, /*with_flags=*/false);
    HONE_ASSIGN_OR_RETURN(const double best, BestTileNs(*problem));
    for (Row& row : rows_) {
      Found found;
      for (size_t seed = 0; seed < static_cast<size_t>(options_.seeds);
           ++seed) {
        // The formula has no seed.
        if (seed == 0 || row.optimizer != kAnalytical) {
          HONE_ASSIGN_OR_RETURN(found, Run(*problem, tpu, row.optimizer, seed));
        }
        Add(found, best, seed, row);
      }
      if (&row == &rows_.front()) {
        default_ += std::log(best / found.least_ns[0]);
      }
    }
    ++kernels_;
    return absl::OkStatus();
  }

  // The search of a row, or what stands for one.
  absl::StatusOr<Found> Run(const tuning::TileProblem& problem,
                            const backends::Tpu& tpu,
                            const std::string& optimizer, size_t seed) const {
    const int64_t budget = options_.budgets.back();
    if (optimizer == kAnalytical) {
      return MeasureInOrder(
          problem,
          ByAnalyticalTime(problem, tpu,
                           costmodels::FittedConstants(options_.tpu)),
          budget);
    }
    HONE_ASSIGN_OR_RETURN(const auto search,
                          MakeSearch(optimizer, problem, seed));
    return FindWithin(problem, *search, budget);
  }

  void Add(const Found& found, double best, size_t seed, Row& row) const {
    const auto speed_after = [&](int64_t measurements) {
      // A search may come to its end before.
      const size_t made =
          std::min(static_cast<size_t>(measurements), found.least_ns.size());
      return best / found.least_ns[made - 1];
    };
    for (size_t i = 0; i < counts_.size(); ++i) {
      row.sums[i][seed] += std::log(speed_after(counts_[i]));
    }
    for (size_t b = 0; b < options_.budgets.size(); ++b) {
      constexpr double kNear = 0.95;
      if (speed_after(options_.budgets[b]) >= kNear) ++row.near_best[b];
    }
  }

  const XtatBenchOptions& options_;
  const std::vector<int64_t> counts_;
  std::vector<Row> rows_;
  // The sum over kernels of the logarithm of the default tile's speed.
  double default_ = 0;
  absl::flat_hash_set<Hash128> seen_;
  int64_t kernels_ = 0;
};

}  // namespace

absl::StatusOr<Json> RunXtatBench(const XtatBenchOptions& options,
                                  std::ostream& out) {
  HONE_ASSIGN_OR_RETURN(const TunedPrograms tuned, ReadTunedPrograms(options));
  if (!options.plots.empty()) {
    HONE_RETURN_IF_ERROR(MakePlotFolder(options.plots));
  }
  const std::string machine = DescribeMachine();
  XtatBench bench(options);
  for (const TpuProgram& program : tuned.programs) {
    HONE_RETURN_IF_ERROR(bench.Add(program, tuned.tpu));
    // Each takes up to a minute.
    out << absl::StrFormat("%s: %d kernels so far\n", program.name,
                           bench.kernels())
        << std::flush;
  }
  if (bench.kernels() == 0) {
    return absl::InvalidArgumentError(
        "no kernels of programs that are held out, expected some");
  }
  out << "\n"
      << machine << "\nTPU " << options.tpu << ", " << bench.kernels()
      << " kernels, " << options.seeds
      << " seeds: speed over that of the best tile, geometric mean, after so "
         "many measurements\n\n";
  Json table = bench.Finish(out);
  if (!options.plots.empty()) HONE_RETURN_IF_ERROR(bench.WritePlot());
  return Json{{"bench", "xtat"},
              {"machine", machine},
              {"tpu", options.tpu},
              {"split", options.split},
              {"kernels", bench.kernels()},
              {"seeds", options.seeds},
              {"default", bench.default_speed()},
              {"optimizers", std::move(table)}};
}

}  // namespace hone::bench
