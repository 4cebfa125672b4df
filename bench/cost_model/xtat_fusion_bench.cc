#include "bench/cost_model/xtat_fusion_bench.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_format.h"

#include "backends/tpu_sim/tpu.h"
#include "base/clock.h"
#include "base/status_macros.h"
#include "bench/corpus.h"
#include "bench/cost_model/measured_fusion.h"
#include "bench/cost_model/tile_level.h"
#include "bench/cost_model/tpu_programs.h"
#include "hlo/fusion/fuse.h"
#include "tuning/tasks/simulated_fusion.h"

namespace hone::bench {
namespace {

using Json = nlohmann::ordered_json;

Json ToJson(const Spread& spread) {
  return {
      {"left", spread.mean}, {"least", spread.least}, {"most", spread.most}};
}

class XtatFusionBench {
 public:
  XtatFusionBench(const XtatFusionBenchOptions& options,
                  const backends::Tpu& tpu)
      : options_(options),
        tpu_(tpu),
        tile_level_(tpu, options.tile_budget, options.tiles),
        tuned_tiles_(seeds()),
        tuned_fusion_best_tiles_(seeds()),
        tuned_fusion_(seeds()) {
    for (const std::string& optimizer : options.optimizers) {
      rows_.push_back(
          MakeSearchRow(optimizer, options.budgets.size(), seeds()));
    }
  }

  int64_t programs() const { return programs_; }

  absl::Status Add(const TpuProgram& program) {
    HONE_ASSIGN_OR_RETURN(const hlo::Module module, ReadTpuProgram(program));
    const hlo::FusionSpace space(module);
    const size_t decisions = space.fusible().size() + space.swappable().size();
    if (decisions == 0 || decisions > static_cast<size_t>(options_.decisions)) {
      return absl::OkStatus();
    }
    HONE_ASSIGN_OR_RETURN(const auto problem,
                          tuning::TpuFusionProblem::Create(
                              module, tuning::SimulatedFusion(tpu_)));
    HONE_ASSIGN_OR_RETURN(
        const auto moves,
        tuning::TpuFusionProblem::Create(
            module, {.timer = tuning::TimeOneByOne(
                         [](const hlo::Module&) { return 1.0; })}));
    ++programs_;
    const double by_default = problem->reference_cost();
    Json json = {{"program", program.name},
                 {"decisions", decisions},
                 {"default_ns", by_default}};
    for (const space::Seed& seed : problem->Seeds()) {
      if (seed.name != "greedy") continue;
      HONE_ASSIGN_OR_RETURN(const space::Measurement measured,
                            problem->Measure(seed.candidate));
      // A greedy fusion may not fit; what then runs is the default.
      const double left = measured.outcome == space::Outcome::kOk
                              ? measured.cost / by_default
                              : 1;
      greedy_ += std::log(left);
      json["greedy_fusion"] = left;
    }
    HONE_RETURN_IF_ERROR(AddTiles(*problem, problem->DefaultCandidate(),
                                  by_default, default_tiles_,
                                  default_best_tiles_, nullptr));
    for (SearchRow& row : rows_) {
      double at_last = 0;
      for (size_t seed = 0; seed < seeds(); ++seed) {
        HONE_ASSIGN_OR_RETURN(const Found found,
                              Search(*problem, *moves, row.optimizer, seed));
        for (size_t b = 0; b < options_.budgets.size(); ++b) {
          // A search may come to its end before.
          const size_t measured = std::min(
              static_cast<size_t>(options_.budgets[b]), found.least_ns.size());
          const double left = found.least_ns[measured - 1] / by_default;
          row.sums[b][seed] += std::log(left);
          if (b + 1 == options_.budgets.size()) at_last += std::log(left);
        }
        if (&row != &rows_.back()) continue;
        HONE_RETURN_IF_ERROR(
            AddTiles(*problem, found.best, by_default, tuned_tiles_[seed],
                     tuned_fusion_best_tiles_[seed], &tuned_fusion_[seed]));
      }
      json[row.optimizer] = std::exp(at_last / static_cast<double>(seeds()));
    }
    per_program_.push_back(std::move(json));
    return absl::OkStatus();
  }

  Json Finish(std::ostream& out) const {
    PrintSearchHead("search", options_.budgets, {}, out);
    const double greedy = SpreadOf({greedy_}, programs_).mean;
    out << "| greedy fusion, one decision |";
    for (size_t b = 0; b < options_.budgets.size(); ++b) {
      out << absl::StrFormat(" %.4f | |", greedy);
    }
    out << "\n";
    Json searches = Json::array();
    for (const SearchRow& row : rows_) {
      out << "| " << row.optimizer << " |";
      Json budgets = Json::array();
      for (size_t b = 0; b < options_.budgets.size(); ++b) {
        const Spread spread = SpreadOf(row.sums[b], programs_);
        out << SpreadCells(spread);
        Json budget = ToJson(spread);
        budget["measurements"] = options_.budgets[b];
        budgets.push_back(std::move(budget));
      }
      out << "\n";
      searches.push_back(
          {{"optimizer", row.optimizer}, {"budgets", std::move(budgets)}});
    }
    PrintPrograms(out);
    Json document = {{"greedy_fusion", greedy},
                     {"searches", std::move(searches)},
                     {"programs", per_program_}};
    if (options_.tile_budget > 0) document["tiles"] = PrintTiles(out);
    return document;
  }

 private:
  size_t seeds() const { return static_cast<size_t>(options_.seeds); }

  // Adds what a decision leaves of the default's time with tiles that xtat
  // finds, with the best ones, and with the default ones.
  absl::Status AddTiles(const tuning::TpuFusionProblem& problem,
                        const space::Candidate& candidate, double by_default,
                        double& by_xtat, double& best, double* default_tiles) {
    if (options_.tile_budget == 0) return absl::OkStatus();
    const tuning::TpuFusionPlan plan = problem.Plan(candidate.choices);
    HONE_ASSIGN_OR_RETURN(const hlo::Module fused,
                          hlo::Fuse(problem.space(), plan.fused, plan.layouts));
    HONE_ASSIGN_OR_RETURN(const TileTimes times, tile_level_.TimesOf(fused));
    by_xtat += std::log(times.by_xtat / by_default);
    best += std::log(times.best / by_default);
    if (default_tiles != nullptr) {
      *default_tiles += std::log(times.by_default / by_default);
    }
    return absl::OkStatus();
  }

  absl::StatusOr<Found> Search(const tuning::TpuFusionProblem& problem,
                               const tuning::TpuFusionProblem& moves,
                               const std::string& optimizer,
                               uint64_t seed) const {
    const MeasuredFusion measured(problem,
                                  optimizer == "genetic" ? &moves : nullptr);
    HONE_ASSIGN_OR_RETURN(const auto search,
                          MakeSearch(optimizer, measured, seed));
    return FindWithin(measured, *search, options_.budgets.back());
  }

  void PrintPrograms(std::ostream& out) const {
    out << "\n| program | decisions | default, us | greedy fusion |";
    for (const SearchRow& row : rows_) out << " " << row.optimizer << " |";
    out << "\n|---|---|---|---|";
    for (size_t i = 0; i < rows_.size(); ++i) out << "---|";
    out << "\n";
    for (const Json& program : per_program_) {
      out << absl::StrFormat("| %s | %d | %.1f | %.4f |",
                             program["program"].get<std::string>(),
                             program["decisions"].get<int64_t>(),
                             program["default_ns"].get<double>() / 1e3,
                             program["greedy_fusion"].get<double>());
      for (const SearchRow& row : rows_) {
        out << absl::StrFormat(" %.4f |", program[row.optimizer].get<double>());
      }
      out << "\n";
    }
  }

  Json PrintTiles(std::ostream& out) const {
    out << "\n| fusion | tiles | left | spread |\n|---|---|---|---|\n";
    Json lines = Json::array();
    const auto line = [&](const char* fusion, const char* tiles,
                          const LogSums& sums) {
      const Spread spread = SpreadOf(sums, programs_);
      out << "| " << fusion << " | " << tiles << " |" << SpreadCells(spread)
          << "\n";
      Json json = {{"fusion", fusion}, {"tiles", tiles}};
      json.update(ToJson(spread));
      lines.push_back(std::move(json));
    };
    line("default", "default", {0});
    line("default", "xtat", {default_tiles_});
    line("default", "all tried", {default_best_tiles_});
    const char* const last = rows_.back().optimizer.c_str();
    line(last, "default", tuned_fusion_);
    line(last, "xtat", tuned_tiles_);
    line(last, "all tried", tuned_fusion_best_tiles_);
    return lines;
  }

  const XtatFusionBenchOptions& options_;
  const backends::Tpu& tpu_;
  TileLevel tile_level_;
  // What is left of the default's time.
  std::vector<SearchRow> rows_;
  int64_t programs_ = 0;
  Json per_program_ = Json::array();
  // Sums of logarithms, as LogSums.
  double greedy_ = 0;
  double default_tiles_ = 0;
  double default_best_tiles_ = 0;
  LogSums tuned_tiles_;
  LogSums tuned_fusion_best_tiles_;
  LogSums tuned_fusion_;
};

}  // namespace

absl::StatusOr<Json> RunXtatFusionBench(const XtatFusionBenchOptions& options,
                                        std::ostream& out) {
  HONE_ASSIGN_OR_RETURN(const TunedPrograms tuned, ReadTunedPrograms(options));
  const std::string machine = DescribeMachine();
  XtatFusionBench bench(options, tuned.tpu);
  for (const TpuProgram& program : tuned.programs) {
    HONE_RETURN_IF_ERROR(bench.Add(program));
    // Each takes minutes.
    out << absl::StrFormat("%s: %d programs so far\n", program.name,
                           bench.programs())
        << std::flush;
  }
  if (bench.programs() == 0) {
    return absl::InvalidArgumentError(
        "no programs with so few decisions that are held out, expected some");
  }
  out << "\n"
      << machine << "\nTPU " << options.tpu << ", " << bench.programs()
      << " programs, " << options.seeds
      << " seeds: time over that of the default fusion, geometric mean, after "
         "so many measured programs\n\n";
  Json document = {{"bench", "xtat-fusion"},
                   {"machine", machine},
                   {"tpu", options.tpu},
                   {"split", options.split},
                   {"seeds", options.seeds}};
  document.update(bench.Finish(out));
  return document;
}

}  // namespace hone::bench
