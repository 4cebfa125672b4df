#include "bench/placement_searches.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"

#include "base/clock.h"
#include "base/statistics.h"
#include "base/status_macros.h"
#include "bench/corpus.h"
#include "bench/placement/public_graphs.h"
#include "optimizers/registry.h"
#include "optimizers/search.h"
#include "tuning/tasks/placement_problem.h"

namespace hone::bench {
namespace {

using Json = nlohmann::ordered_json;
using tuning::PlacementProblem;

struct Column {
  std::string optimizer;
  int64_t trials = 0;
  bool uniform = false;
};

Column ParseSearch(const std::string& name, int64_t trials) {
  // Two trials: the default, and what the policy proposes first.
  if (name == "zero-shot") return {"policy", 2, false};
  absl::string_view optimizer = name;
  const bool uniform = absl::ConsumeSuffix(&optimizer, "-uniform");
  return {std::string(optimizer), trials, uniform};
}

// The best cost of each seed of a search.
absl::StatusOr<std::vector<double>> Search(
    const Column& column, const PlacementProblem& problem,
    const PlacementSearchesOptions& options) {
  std::vector<double> costs;
  for (int32_t seed = 0; seed < options.seeds; ++seed) {
    optimizers::OptimizerOptions of;
    of.seed = static_cast<uint64_t>(seed);
    of.uniform_prior = column.uniform;
    if (!column.uniform) of.weights = options.weights;
    HONE_ASSIGN_OR_RETURN(
        const auto optimizer,
        optimizers::CreateOptimizer(column.optimizer, problem, of));
    // The default is no find of the search.
    double best = std::numeric_limits<double>::infinity();
    optimizers::SearchOptions search;
    search.on_trial = [&](const space::Trial& trial) {
      if (trial.id > 0) {
        best = std::min(best, space::EffectiveCost(trial.measurement));
      }
      return absl::OkStatus();
    };
    HONE_RETURN_IF_ERROR(optimizers::RunSearch(problem, *optimizer,
                                               {.trials = column.trials},
                                               SystemClock(), search)
                             .status());
    costs.push_back(best);
  }
  return costs;
}

}  // namespace

absl::StatusOr<Json> RunPlacementSearchesBench(
    const PlacementSearchesOptions& options, std::ostream& out) {
  HONE_ASSIGN_OR_RETURN(const std::vector<PublicGraph> graphs,
                        ReadPublicGraphs(options.graphs, options.only));
  const std::string machine = DescribeMachine();
  out << machine << "\n"
      << absl::StrFormat(
             "max load over the exact one (* best known), %d trials, median "
             "of %d seeds\n%-28s %6s %10s %8s",
             options.trials, options.seeds, "graph", "nodes", "max load",
             "default");
  std::vector<Column> columns;
  for (const std::string& name : options.searches) {
    columns.push_back(ParseSearch(name, options.trials));
    out << absl::StrFormat(" %15s", name);
  }
  out << "\n";
  std::vector<double> default_ratios;
  std::vector<std::vector<double>> ratios(columns.size());
  Json rows = Json::array();
  for (const PublicGraph& of : graphs) {
    HONE_ASSIGN_OR_RETURN(
        const auto problem,
        PlacementProblem::Create(of.graph, graphs::Contiguity::kPipeline));
    double least = std::numeric_limits<double>::infinity();
    bool exact = false;
    for (const space::Seed& seed : problem->Seeds()) {
      HONE_ASSIGN_OR_RETURN(const space::Measurement measurement,
                            problem->Measure(seed.candidate));
      least = std::min(least, space::EffectiveCost(measurement));
      exact = exact || seed.name == "exact";
    }
    default_ratios.push_back(problem->reference_cost() / least);
    out << absl::StrFormat("%-28s %6d %9.5g%s %8.3f", of.name,
                           problem->graph().size(), least, exact ? " " : "*",
                           default_ratios.back());
    Json row = {{"graph", of.name},
                {"nodes", problem->graph().size()},
                {"max_load", least},
                {"exact", exact},
                {"default", default_ratios.back()}};
    HONE_ASSIGN_OR_RETURN(const auto unseeded,
                          PlacementProblem::Create(
                              of.graph, graphs::Contiguity::kPipeline, nullptr,
                              std::nullopt, tuning::PlacementSeeds::kNone));
    for (size_t c = 0; c < columns.size(); ++c) {
      HONE_ASSIGN_OR_RETURN(const std::vector<double> costs,
                            Search(columns[c], *unseeded, options));
      const double ratio = Median(costs) / least;
      out << absl::StrFormat(" %15.3f", ratio) << std::flush;
      ratios[c].push_back(ratio);
      row[options.searches[c]] = ratio;
    }
    out << "\n";
    rows.push_back(std::move(row));
  }
  out << absl::StrFormat("%-28s %6s %10s %8.3f", "geometric mean", "", "",
                         GeometricMean(default_ratios));
  Json means = {{"default", GeometricMean(default_ratios)}};
  for (size_t c = 0; c < columns.size(); ++c) {
    out << absl::StrFormat(" %15.3f", GeometricMean(ratios[c]));
    means[options.searches[c]] = GeometricMean(ratios[c]);
  }
  out << "\n";
  return Json{{"bench", "placement-searches"},
              {"machine", machine},
              {"trials", options.trials},
              {"graphs", std::move(rows)},
              {"geometric_mean", std::move(means)}};
}

}  // namespace hone::bench
