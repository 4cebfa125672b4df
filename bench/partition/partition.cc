#include "bench/partition/partition.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "base/statistics.h"
#include "base/status_macros.h"
#include "bench/corpus.h"
#include "bench/partition/fidelity.h"
#include "bench/partition/partition_graphs.h"
#include "bench/partition/partition_search.h"
#include "graphs/mcm/bundled_packages.h"
#include "graphs/mcm/partitions.h"
#include "tuning/task.h"
#include "tuning/tasks/partition_problem.h"

namespace hone::bench {
namespace {

using Json = nlohmann::ordered_json;
using tuning::PartitionProblem;

// Of throughput, relative to the greedy fill: those that can be reached on the
// bundled graphs, and those of the published table.
constexpr double kLevels[] = {1.2, 1.3, 1.4, 1.6, 1.7, 1.8};

absl::StatusOr<tuning::PartitionObjective> ObjectiveOf(
    const std::string& name) {
  if (name == tuning::kMaxLoad) return tuning::PartitionObjective::kModelled;
  if (name == tuning::kInterval) return tuning::PartitionObjective::kSimulated;
  return absl::InvalidArgumentError(absl::StrCat(
      "--objective '", name, "', expected one of: ", tuning::kMaxLoad, ", ",
      tuning::kInterval));
}

double StandardDeviation(const std::vector<double>& values) {
  const double mean = Mean(values);
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return values.size() < 2
             ? 0
             : std::sqrt(squares / static_cast<double>(values.size() - 1));
}

double MeanRatio(const std::vector<double>& ratios) {
  return ratios.empty() ? NAN : GeometricMean(ratios);
}

// Samples of `finetune` whose result the others are compared with, as in the
// published table of searches on hardware.
constexpr size_t kFewSamples = 20;

// What known methods make of a graph.
struct Known {
  double greedy = NAN;
  double segments = NAN;
  double best = NAN;  // of all constructions that are valid
  double bound = 0;
};

Known FindKnown(const PartitionProblem& problem) {
  Known known;
  known.bound = problem.bound();
  for (const auto& [name, candidate] : problem.Constructions()) {
    const space::Measurement measurement =
        problem.MeasureOne(candidate.choices);
    if (measurement.outcome != space::Outcome::kOk) continue;
    if (name == "greedy") known.greedy = measurement.cost;
    if (name == "segments") known.segments = measurement.cost;
    known.best = std::fmin(known.best, measurement.cost);
  }
  return known;
}

Json NumberOrNull(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

// The runs of one search on all graphs.
struct Column {
  // By sample, the mean over runs of what the cost was relative to the
  // reference; of runs that have a reference. [samples + 1]
  std::vector<double> throughput;
  int64_t runs = 0;
  double seconds = 0;
  // By run, the final cost over the program's, and over the best of the
  // constructions.
  std::vector<double> to_segments;
  std::vector<double> to_method;
  int64_t repairs = 0;
  double repaired_shares = 0;  // the sum over repairs
};

void AddRun(const PartitionRun& run, const Known& known, Column& column) {
  column.seconds += run.seconds;
  column.repairs += run.repairs;
  column.repaired_shares +=
      run.repaired_share * static_cast<double>(run.repairs);
  if (std::isfinite(known.segments)) {
    column.to_segments.push_back(run.best.back() / known.segments);
  }
  if (std::isfinite(known.best)) {
    column.to_method.push_back(run.best.back() / known.best);
  }
  const double reference = known.greedy;
  if (!std::isfinite(reference)) return;
  column.throughput.resize(run.best.size());
  for (size_t i = 0; i < run.best.size(); ++i) {
    if (std::isfinite(run.best[i])) {
      column.throughput[i] += reference / run.best[i];
    }
  }
  ++column.runs;
}

// The first number of samples with at least `level`; nothing if there is none.
std::optional<int64_t> SamplesTo(const Column& column, double level) {
  for (size_t i = 0; i < column.throughput.size(); ++i) {
    if (column.throughput[i] >= level * static_cast<double>(column.runs)) {
      return static_cast<int64_t>(i);
    }
  }
  return std::nullopt;
}

double ThroughputAfter(const Column& column, size_t samples) {
  if (column.runs == 0) return 0;
  return column.throughput[std::min(samples, column.throughput.size() - 1)] /
         static_cast<double>(column.runs);
}

std::string Shown(double value) {
  return std::isfinite(value) ? absl::StrFormat("%.4f", value) : "-";
}

}  // namespace

absl::StatusOr<Json> RunPartitionBench(const PartitionBenchOptions& options,
                                       std::ostream& out) {
  HONE_ASSIGN_OR_RETURN(const tuning::PartitionObjective objective,
                        ObjectiveOf(options.objective));
  HONE_ASSIGN_OR_RETURN(const graphs::Package package,
                        graphs::FindPackage(options.package));
  HONE_ASSIGN_OR_RETURN(
      const std::vector<PartitionEntry> entries,
      ReadPartitionEntries(options.graphs, options.split, options.only));
  for (size_t i = 0; i < options.searches.size(); ++i) {
    if (std::count(options.searches.begin(), options.searches.end(),
                   options.searches[i]) > 1) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--search '", options.searches[i], "' twice, expected each once"));
    }
    HONE_RETURN_IF_ERROR(CheckPartitionSearch(options.searches[i]));
  }
  Json document = {{"bench", "partition"},
                   {"machine", DescribeMachine()},
                   {"package", options.package},
                   {"objective", options.objective},
                   {"samples", options.samples},
                   {"seeds", options.seeds},
                   {"split", options.split},
                   {"only", options.only},
                   {"with_seeds", options.with_seeds},
                   {"weights", options.weights}};
  // In simulation the bound, of the max load, is that of another quantity.
  const bool is_modelled = objective == tuning::PartitionObjective::kModelled;
  out << absl::StreamFormat("%-20s %6s %9s %9s %9s %9s", "graph", "nodes",
                            is_modelled ? "bound" : "(bound)", "greedy",
                            "segments", "method");
  for (const std::string& search : options.searches) {
    out << absl::StreamFormat(" %15s", search);
  }
  out << "   (ms)\n";
  std::map<std::string, Column> columns;
  std::vector<FidelityRow> fidelity;
  std::vector<double> gaps;         // of the program to the bound
  std::vector<double> known_gains;  // of the best construction to the program
  auto& rows = document["graphs"] = Json::array();
  for (const PartitionEntry& entry : entries) {
    HONE_ASSIGN_OR_RETURN(graphs::PartitionGraph graph,
                          ReadPartitionGraph(entry, package));
    const absl::StatusOr<std::unique_ptr<PartitionProblem>> made =
        PartitionProblem::Create(
            std::move(graph), package, objective, nullptr, nullptr,
            options.with_seeds ? tuning::PartitionSeeds::kAll
                               : tuning::PartitionSeeds::kNone);
    if (!made.ok()) {
      out << absl::StreamFormat("%-20s %s\n", entry.name,
                                made.status().message());
      rows.push_back({{"name", entry.name},
                      {"error", std::string(made.status().message())}});
      continue;
    }
    const std::unique_ptr<PartitionProblem>& problem = *made;
    const Known known = FindKnown(*problem);
    if (std::isfinite(known.segments)) {
      gaps.push_back(known.segments / known.bound);
    }
    if (std::isfinite(known.best / known.segments)) {
      known_gains.push_back(known.best / known.segments);
    }
    Json row = {{"name", entry.name},
                {"nodes", problem->graph().size()},
                {"bound", known.bound},
                {"greedy", NumberOrNull(known.greedy)},
                {"segments", NumberOrNull(known.segments)},
                {"best_method", NumberOrNull(known.best)}};
    out << absl::StreamFormat("%-20s %6d %9s %9s %9s %9s", entry.name,
                              problem->graph().size(), Shown(known.bound),
                              Shown(known.greedy), Shown(known.segments),
                              Shown(known.best));
    for (const std::string& search : options.searches) {
      std::vector<double> costs;
      for (int32_t seed = 0; seed < options.seeds; ++seed) {
        HONE_ASSIGN_OR_RETURN(
            const PartitionRun run,
            SearchPartition({.search = search,
                             .seed = static_cast<uint64_t>(seed),
                             .samples = options.samples,
                             .weights = options.weights},
                            *problem));
        costs.push_back(run.best.back());
        AddRun(run, known, columns[search]);
      }
      row["searches"][search] = costs;
      out << absl::StreamFormat(" %15s",
                                absl::StrFormat("%.4f ±%.4f", Mean(costs),
                                                StandardDeviation(costs)))
          << std::flush;
    }
    out << "\n";
    if (options.draws > 0) {
      HONE_ASSIGN_OR_RETURN(FidelityRow found,
                            CompareModels(entry.name, *problem, options.draws));
      fidelity.push_back(std::move(found));
    }
    rows.push_back(std::move(row));
  }
  out << "\ngeometric means:";
  if (is_modelled) {
    out << absl::StreamFormat(" segments / bound %.3f,", MeanRatio(gaps));
  }
  out << absl::StreamFormat(" best method / segments %.4f\n\n",
                            MeanRatio(known_gains));
  document["best_method_to_segments"] = NumberOrNull(MeanRatio(known_gains));
  document["segments_to_bound"] = NumberOrNull(MeanRatio(gaps));
  // The same for all searches.
  const auto leveled = static_cast<size_t>(
      std::count_if(rows.begin(), rows.end(), [](const Json& row) {
        return row.contains("greedy") && !row["greedy"].is_null();
      }));
  document["graphs_with_levels"] = leveled;
  out << absl::StreamFormat(
             "samples until the mean throughput over %d of %d graphs is so "
             "many "
             "times that of the greedy fill;\nas finetune: until it is that of "
             "`finetune` after %d samples; repairs: proposed moves that the "
             "solver repaired, and the share of nodes it moved\n",
             leveled, rows.size(), kFewSamples)
      << absl::StreamFormat("%-12s", "search");
  for (const double level : kLevels) out << absl::StreamFormat(" %8.1f", level);
  out << absl::StreamFormat(" %9s %11s", absl::StrCat("after ", kFewSamples),
                            "as finetune");
  out << absl::StreamFormat(" %9s %12s %12s %9s %9s %9s\n", "at end",
                            "/ segments", "/ best method", "seconds", "repairs",
                            "repaired");
  auto& searches = document["searches"] = Json::object();
  for (const std::string& search : options.searches) {
    const Column& column = columns[search];
    Json result;
    out << absl::StreamFormat("%-12s", search);
    for (const double level : kLevels) {
      const std::optional<int64_t> samples = SamplesTo(column, level);
      out << absl::StreamFormat(" %8s", samples ? absl::StrCat(*samples) : "-");
      result["samples"][absl::StrFormat("%.1f", level)] =
          samples ? Json(*samples) : Json(nullptr);
    }
    result["throughput_after_few"] = ThroughputAfter(column, kFewSamples);
    out << absl::StreamFormat(" %9.3f",
                              result["throughput_after_few"].get<double>());
    if (const auto finetune = columns.find("finetune");
        finetune != columns.end()) {
      const std::optional<int64_t> samples =
          SamplesTo(column, ThroughputAfter(finetune->second, kFewSamples));
      out << absl::StreamFormat(" %11s",
                                samples ? absl::StrCat(*samples) : "-");
      result["samples_as_finetune"] = samples ? Json(*samples) : Json(nullptr);
    } else {
      out << absl::StreamFormat(" %11s", "");
    }
    result["throughput"] = ThroughputAfter(column, SIZE_MAX);
    const double to_segments = MeanRatio(column.to_segments);
    result["cost_to_segments"] = NumberOrNull(to_segments);
    const double to_method = MeanRatio(column.to_method);
    result["cost_to_best_method"] = NumberOrNull(to_method);
    result["seconds"] = column.seconds;
    result["repairs"] = column.repairs;
    // Of the variables, in each repair.
    const double repaired =
        column.repaired_shares /
        static_cast<double>(std::max<int64_t>(1, column.repairs));
    result["repaired_share"] = repaired;
    out << absl::StreamFormat(" %9.3f %12.4f %12.4f %9.1f %9d %8.2f%%\n",
                              result["throughput"].get<double>(), to_segments,
                              to_method, column.seconds, column.repairs,
                              100 * repaired);
    auto& curve = result["throughput_by_sample"] = Json::array();
    for (size_t i = 0; i < column.throughput.size(); ++i) {
      curve.push_back(ThroughputAfter(column, i));
    }
    searches[search] = std::move(result);
  }
  if (options.draws > 0) document["fidelity"] = PrintFidelity(fidelity, out);
  return document;
}

}  // namespace hone::bench
