#include "bench/placement/steps.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <regex>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "base/clock.h"
#include "base/statistics.h"
#include "base/status_macros.h"
#include "graphs/bundled_clusters.h"
#include "graphs/hlo_import.h"
#include "graphs/step/step_bounds.h"
#include "hlo/read_module.h"
#include "optimizers/registry.h"
#include "optimizers/search.h"
#include "tuning/tasks/step_problem.h"

namespace hone::bench {
namespace {

struct Model {
  std::string name;
  int32_t devices = 0;
};

absl::StatusOr<std::vector<Model>> ReadModels(const StepTableOptions& options) {
  const std::string path = absl::StrCat(options.models, "/manifest.json");
  std::ifstream file(path);
  if (!file.is_open()) {
    return absl::NotFoundError(
        absl::StrCat(path, ": cannot be read, expected the list of models"));
  }
  const auto list = nlohmann::json::parse(file, nullptr, false);
  const auto is_model = [](const nlohmann::json& model) {
    return model.is_object() && model.contains("name") &&
           model["name"].is_string() && model.contains("devices") &&
           model["devices"].is_number_integer();
  };
  if (!list.is_array() || !std::all_of(list.begin(), list.end(), is_model)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": expected a list of {\"name\", \"devices\", …}"));
  }
  std::vector<Model> models;
  try {
    const std::regex only(options.only);
    for (const nlohmann::json& model : list) {
      const auto name = model["name"].get<std::string>();
      if (!std::regex_search(name, only)) continue;
      models.push_back({name, model["devices"].get<int32_t>()});
    }
  } catch (const std::regex_error& error) {
    return absl::InvalidArgumentError(
        absl::StrCat("--only '", options.only, "': ", error.what()));
  }
  if (models.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--only '", options.only, "' matches none of the models"));
  }
  return models;
}

absl::StatusOr<std::unique_ptr<tuning::StepProblem>> MakeProblem(
    const StepTableOptions& options, const Model& model) {
  HONE_ASSIGN_OR_RETURN(const hlo::Module module,
                        hlo::ReadModuleFile(absl::StrCat(
                            options.models, "/", model.name, ".hlo.zst")));
  HONE_ASSIGN_OR_RETURN(graphs::OpGraph graph, graphs::ImportHlo(module));
  HONE_ASSIGN_OR_RETURN(
      const graphs::Cluster cluster,
      graphs::FindCluster(options.cluster.empty()
                              ? absl::StrCat("v100x", model.devices)
                              : options.cluster));
  return tuning::StepProblem::Create(std::move(graph), cluster,
                                     options.decisions);
}

// The best cost after each power of ten of simulations, the last one being all.
using Curve = std::map<int64_t, double>;

struct Run {
  double best = std::numeric_limits<double>::infinity();
  Curve curve;
  double seconds = 0;
};

absl::StatusOr<Run> Search(const StepTableOptions& options,
                           const std::string& search, uint64_t seed,
                           const tuning::StepProblem& problem) {
  optimizers::OptimizerOptions of;
  of.seed = seed;
  of.weights = options.weights;
  of.uniform_prior = search == "uniform";
  // From random weights, as if this were the only graph.
  if (search == "ppo") of.weights = "";
  HONE_ASSIGN_OR_RETURN(
      const std::unique_ptr<optimizers::Optimizer> optimizer,
      optimizers::CreateOptimizer(search == "uniform" ? "policy" : search,
                                  problem, of));
  const auto known = static_cast<int64_t>(problem.Seeds().size());
  // Of its own samples only.
  const bool from_scratch = search == "hdp";
  Run run;
  const int64_t before = problem.evaluations();
  optimizers::SearchOptions searching;
  searching.on_trial = [&](const space::Trial& trial) {
    const int64_t made = problem.evaluations() - before - known;
    const bool counts = !from_scratch || made > 0;
    if (counts && trial.measurement.outcome == space::Outcome::kOk) {
      run.best = std::min(run.best, trial.measurement.cost);
    }
    for (int64_t power = 1; power < options.simulations; power *= 10) {
      if (made <= power) run.curve[power] = run.best;
    }
    return absl::OkStatus();
  };
  HONE_ASSIGN_OR_RETURN(
      const optimizers::SearchResult result,
      optimizers::RunSearch(
          problem, *optimizer,
          {.trials = 1'000'000, .evaluations = known + options.simulations},
          SystemClock(), searching));
  run.curve[options.simulations] = run.best;
  run.seconds = absl::ToDoubleSeconds(result.elapsed);
  return run;
}

double Mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) /
         static_cast<double>(values.size());
}

// Ratios of one column to another, over the rows that have both.
using Columns = std::map<std::string, std::vector<double>>;

double MeanRatio(const Columns& columns, const std::string& a,
                 const std::string& b) {
  std::vector<double> ratios;
  const auto of = columns.find(a);
  const auto to = columns.find(b);
  if (of == columns.end() || to == columns.end()) return NAN;
  for (size_t i = 0; i < of->second.size(); ++i) {
    const double ratio = of->second[i] / to->second[i];
    if (std::isfinite(ratio)) ratios.push_back(ratio);
  }
  return ratios.empty() ? NAN : GeometricMean(ratios);
}

}  // namespace

absl::StatusOr<nlohmann::ordered_json> MeasureSteps(
    const StepTableOptions& options, std::ostream& out) {
  HONE_ASSIGN_OR_RETURN(const std::vector<Model> models, ReadModels(options));
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  Columns columns;
  // Of each search, by number of simulations: shares of the best known method.
  std::map<std::string, std::map<int64_t, std::vector<double>>> curves;
  int64_t worse = 0;
  for (const Model& model : models) {
    HONE_ASSIGN_OR_RETURN(const std::unique_ptr<tuning::StepProblem> problem,
                          MakeProblem(options, model));
    nlohmann::ordered_json row = {
        {"model", model.name},
        {"devices", problem->space().times().device_count()},
        {"units", problem->space().unit_count()},
        {"bound_ms",
         1e3 * graphs::LowerBounds(*problem->space().default_kernels(),
                                   problem->space().times())
                   .greatest()}};
    out << absl::StrFormat("%s on %d devices, %d units: bound %.1f", model.name,
                           problem->space().times().device_count(),
                           problem->space().unit_count(),
                           row["bound_ms"].get<double>());
    columns["bound"].push_back(row["bound_ms"].get<double>());
    double best_known = std::numeric_limits<double>::infinity();
    for (const space::Seed& seed : problem->Seeds()) {
      HONE_ASSIGN_OR_RETURN(const space::Measurement measurement,
                            problem->Measure(seed.candidate));
      const double cost = space::EffectiveCost(measurement);
      best_known = std::min(best_known, cost);
      columns[seed.name].push_back(cost);
      if (std::isfinite(cost)) {
        row["known"][seed.name] = cost;
        out << absl::StrFormat(", %s %.1f", seed.name, cost);
      } else {
        row["known"][seed.name] = nullptr;
        out << ", " << seed.name << " out of memory";
      }
    }
    columns["best known"].push_back(best_known);
    out << "\n";
    for (const std::string& search : options.searches) {
      std::vector<double> costs, seconds;
      for (int32_t seed = 0; seed < options.seeds; ++seed) {
        HONE_ASSIGN_OR_RETURN(
            const Run run,
            Search(options, search, static_cast<uint64_t>(seed), *problem));
        costs.push_back(run.best);
        seconds.push_back(run.seconds);
        for (const auto& [simulations, cost] : run.curve) {
          curves[search][simulations].push_back(std::min(cost, 1e300) /
                                                best_known);
        }
        if (run.best > best_known && search != "hdp") ++worse;
      }
      const double mean = Mean(costs);
      columns[search].push_back(mean);
      row["searches"][search] = {
          {"mean_ms", mean}, {"costs_ms", costs}, {"seconds", Mean(seconds)}};
      out << absl::StrFormat(
          "  %-10s %8.2f ms (%.2f … %.2f), %.2f s\n", search, mean,
          *std::min_element(costs.begin(), costs.end()),
          *std::max_element(costs.begin(), costs.end()), Mean(seconds));
      out.flush();
    }
    rows.push_back(std::move(row));
  }
  nlohmann::ordered_json document = {{"simulations", options.simulations},
                                     {"seeds", options.seeds},
                                     {"rows", rows},
                                     {"worse_than_a_known_method", worse}};
  out << "geometric means of the ratio to each:\n";
  for (const std::string& search : options.searches) {
    out << absl::StrFormat("  %-10s", search);
    for (const std::string other :
         {"bound", "layers", "metis", "heft", "best known", "annealing",
          "genetic", "hdp", "uniform"}) {
      const double ratio = MeanRatio(columns, search, other);
      if (!std::isfinite(ratio)) continue;
      document["ratios"][search][other] = ratio;
      out << absl::StrFormat(" %s %.4f", other, ratio);
    }
    out << "\n";
  }
  out << "over the best known method, by simulations:\n";
  for (const std::string& search : options.searches) {
    out << absl::StrFormat("  %-10s", search);
    for (const auto& [simulations, shares] : curves[search]) {
      const double mean = GeometricMean(shares);
      document["curves"][search][absl::StrCat(simulations)] = mean;
      out << absl::StrFormat(" %d: %.4f", simulations, mean);
    }
    out << "\n";
  }
  return document;
}

}  // namespace hone::bench
