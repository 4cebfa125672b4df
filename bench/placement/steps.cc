#include "bench/placement/steps.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <regex>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "base/statistics.h"
#include "base/status_macros.h"
#include "bench/placement/in_turn.h"
#include "bench/placement/step_search.h"
#include "graphs/bundled_clusters.h"
#include "graphs/hlo_import.h"
#include "graphs/step/step_bounds.h"
#include "hlo/read_module.h"
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
        absl::StrCat("--models-only '", options.only,
                     "': not a regular expression: ", error.what()));
  }
  if (models.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--models-only '", options.only, "' matches none of the models"));
  }
  return models;
}

absl::StatusOr<std::unique_ptr<tuning::StepProblem>> MakeProblem(
    const StepTableOptions& options, const Model& model,
    tuning::StepDecisions decisions) {
  HONE_ASSIGN_OR_RETURN(const hlo::Module module,
                        hlo::ReadModuleFile(absl::StrCat(
                            options.models, "/", model.name, ".hlo.zst")));
  HONE_ASSIGN_OR_RETURN(graphs::OpGraph graph, graphs::ImportHlo(module));
  HONE_ASSIGN_OR_RETURN(
      const graphs::Cluster cluster,
      graphs::FindCluster(options.cluster.empty()
                              ? absl::StrCat("v100x", model.devices)
                              : options.cluster));
  return tuning::StepProblem::Create(std::move(graph), cluster, decisions);
}

// A column: a search of all decisions at once, or in an order.
struct Method {
  std::string name;
  std::string search;
  const DecisionOrder* order = nullptr;
};

std::vector<Method> MethodsOf(const StepTableOptions& options) {
  std::vector<Method> methods;
  for (const std::string& search : options.searches) {
    methods.push_back({search, search});
    if (!options.in_turn) continue;
    for (const DecisionOrder& order : kDecisionOrders) {
      methods.push_back(
          {absl::StrCat(search, ", ", order.name), search, &order});
    }
  }
  return methods;
}

// The columns that those of a search are compared with.
std::vector<std::string> ComparedWith(const Method& method) {
  std::vector<std::string> columns = {"bound", "default", "layers",
                                      "metis", "heft",    "best known"};
  for (const DecisionOrder& order : kDecisionOrders) {
    columns.push_back(absl::StrCat(method.search, ", ", order.name));
  }
  for (const char* const search :
       {"annealing", "genetic", "hdp", "uniform", "estimate"}) {
    columns.push_back(search);
  }
  return columns;
}

// The times of each column by model, of those that have one.
using Columns = std::map<std::string, std::map<std::string, double>>;

// The geometric mean of the ratio of one column to another, over the models
// that have both; NaN without any.
double MeanRatio(const Columns& columns, const std::string& a,
                 const std::string& b) {
  std::vector<double> ratios;
  const auto of = columns.find(a);
  const auto to = columns.find(b);
  if (of == columns.end() || to == columns.end()) return NAN;
  for (const auto& [model, time] : of->second) {
    const auto other = to->second.find(model);
    if (other == to->second.end()) continue;
    const double ratio = time / other->second;
    if (std::isfinite(ratio)) ratios.push_back(ratio);
  }
  return ratios.empty() ? NAN : GeometricMean(ratios);
}

// The times of searches by number of simulations, as shares of those of the
// best known methods: [method][simulations][models and seeds].
using Curves = std::map<std::string, std::map<int64_t, std::vector<double>>>;

int WidthOf(const std::vector<Method>& methods) {
  size_t longest = 10;
  for (const Method& method : methods) {
    longest = std::max(longest, method.name.size());
  }
  return static_cast<int>(longest);
}

// Adds the means over all models to `document`, and prints them.
void Summarize(const std::vector<Method>& methods, const Columns& columns,
               const Curves& curves, nlohmann::ordered_json& document,
               std::ostream& out) {
  const int width = WidthOf(methods);
  out << "geometric means of the ratio to each:\n";
  for (const Method& method : methods) {
    out << absl::StrFormat("  %-*s", width, method.name);
    for (const std::string& other : ComparedWith(method)) {
      const double ratio = MeanRatio(columns, method.name, other);
      if (!std::isfinite(ratio)) continue;
      document["ratios"][method.name][other] = ratio;
      out << absl::StrFormat(" %s %.4f", other, ratio);
    }
    // How much faster the step is than by the defaults.
    const double gain = 1 / MeanRatio(columns, method.name, "default") - 1;
    document["gain_over_default"][method.name] = gain;
    out << absl::StrFormat("; gain over default %.1f %%\n", 1e2 * gain);
  }
  out << "over the best known method, by simulations:\n";
  for (const Method& method : methods) {
    out << absl::StrFormat("  %-*s", width, method.name);
    for (const auto& [simulations, shares] : curves.at(method.name)) {
      const double mean = GeometricMean(shares);
      document["curves"][method.name][absl::StrCat(simulations)] = mean;
      out << absl::StrFormat(" %d: %.4f", simulations, mean);
    }
    out << "\n";
  }
}

}  // namespace

absl::StatusOr<nlohmann::ordered_json> MeasureSteps(
    const StepTableOptions& options, std::ostream& out) {
  HONE_ASSIGN_OR_RETURN(const std::vector<Model> models, ReadModels(options));
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  Columns columns;
  Curves curves;
  int64_t worse = 0;
  const std::vector<Method> methods = MethodsOf(options);
  const int width = WidthOf(methods);
  for (const Model& model : models) {
    HONE_ASSIGN_OR_RETURN(const std::unique_ptr<tuning::StepProblem> problem,
                          MakeProblem(options, model, options.decisions));
    nlohmann::ordered_json row = {
        {"model", model.name},
        {"devices", problem->space().times().device_count()},
        {"units", problem->space().unit_count()}};
    out << absl::StrFormat("%s on %d devices, %d units", model.name,
                           problem->space().times().device_count(),
                           problem->space().unit_count());
    // It holds for the kernels of the default fusion.
    if (!options.decisions.fusion) {
      const double bound =
          1e3 * graphs::LowerBounds(*problem->space().default_kernels(),
                                    problem->space().times())
                    .greatest();
      row["bound_ms"] = bound;
      columns["bound"][model.name] = bound;
      out << absl::StrFormat(", bound %.1f", bound);
    }
    double best_known = std::numeric_limits<double>::infinity();
    for (const space::Seed& seed : problem->Seeds()) {
      HONE_ASSIGN_OR_RETURN(const space::Measurement measurement,
                            problem->Measure(seed.candidate));
      const double cost = space::EffectiveCost(measurement);
      best_known = std::min(best_known, cost);
      columns[seed.name][model.name] = cost;
      if (std::isfinite(cost)) {
        row["known"][seed.name] = cost;
        out << absl::StrFormat(", %s %.1f", seed.name, cost);
      } else {
        row["known"][seed.name] = nullptr;
        out << ", " << seed.name << " out of memory";
      }
    }
    columns["best known"][model.name] = best_known;
    out << "\n";
    // Problems of the first decisions of each order.
    std::map<const DecisionOrder*, std::unique_ptr<tuning::StepProblem>> firsts;
    if (options.in_turn) {
      for (const DecisionOrder& order : kDecisionOrders) {
        HONE_ASSIGN_OR_RETURN(firsts[&order],
                              MakeProblem(options, model, order.decisions[0]));
      }
    }
    for (const Method& method : methods) {
      std::vector<double> costs, seconds;
      for (int32_t seed = 0; seed < options.seeds; ++seed) {
        const StepSearchOptions searching = {
            .search = method.search,
            .seed = static_cast<uint64_t>(seed),
            .weights = options.weights,
            .moves_per_try = options.moves_per_try,
            .simulations = options.simulations};
        StepRun run;
        if (method.order == nullptr) {
          HONE_RETURN_IF_ERROR(
              SearchStep(searching, *problem, options.simulations, run));
        } else {
          HONE_ASSIGN_OR_RETURN(run, SearchInTurn(searching, *method.order,
                                                  *firsts.at(method.order)));
        }
        costs.push_back(run.best_ms);
        seconds.push_back(run.seconds);
        for (const auto& [simulations, cost] : run.curve) {
          curves[method.name][simulations].push_back(std::min(cost, 1e300) /
                                                     best_known);
        }
        if (run.best_ms > best_known && method.order == nullptr &&
            method.search != "hdp") {
          ++worse;
        }
      }
      const double mean = Mean(costs);
      columns[method.name][model.name] = mean;
      row["searches"][method.name] = {
          {"mean_ms", mean}, {"costs_ms", costs}, {"seconds", Mean(seconds)}};
      out << absl::StrFormat(
          "  %-*s %8.2f ms (%.2f … %.2f), %.2f s\n", width, method.name, mean,
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
  Summarize(methods, columns, curves, document, out);
  return document;
}

}  // namespace hone::bench
