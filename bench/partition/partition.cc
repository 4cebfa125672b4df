#include "bench/partition/partition.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <memory>
#include <numeric>
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

// Of throughput, relative to the greedy fill: those of the published table.
constexpr double kLevels[] = {1.6, 1.7, 1.8};

absl::StatusOr<tuning::PartitionObjective> ObjectiveOf(
    const std::string& name) {
  if (name == tuning::kMaxLoad) return tuning::PartitionObjective::kModelled;
  if (name == tuning::kInterval) return tuning::PartitionObjective::kSimulated;
  return absl::InvalidArgumentError(absl::StrCat(
      "--objective '", name, "', expected one of: ", tuning::kMaxLoad, ", ",
      tuning::kInterval));
}

double Mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) /
         static_cast<double>(values.size());
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

// What known methods make of a graph.
struct Known {
  double greedy = NAN;
  double segments = NAN;
  double bound = 0;
};

Known FindKnown(const PartitionProblem& problem) {
  Known known;
  known.bound = problem.bound();
  const auto cost = [&](const std::optional<graphs::Partition>& chips) {
    if (!chips) return static_cast<double>(NAN);
    const space::Measurement measurement = problem.MeasureOne(*chips);
    return measurement.outcome == space::Outcome::kOk ? measurement.cost : NAN;
  };
  known.greedy = cost(graphs::FillGreedily(problem.graph()));
  known.segments = cost(graphs::PartitionByOrders(problem.graph(), nullptr));
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
  std::vector<double> to_segments;  // final cost over the program's, by run
};

void AddRun(const PartitionRun& run, double reference, double segments,
            Column& column) {
  column.seconds += run.seconds;
  if (std::isfinite(segments)) {
    column.to_segments.push_back(run.best.back() / segments);
  }
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
  Json document = {
      {"bench", "partition"},       {"machine", DescribeMachine()},
      {"package", options.package}, {"objective", options.objective},
      {"samples", options.samples}, {"seeds", options.seeds}};
  out << absl::StreamFormat("%-20s %6s %9s %9s %9s", "graph", "nodes", "bound",
                            "greedy", "segments");
  for (const std::string& search : options.searches) {
    out << absl::StreamFormat(" %15s", search);
  }
  out << "   (ms)\n";
  std::map<std::string, Column> columns;
  std::vector<FidelityRow> fidelity;
  std::vector<double> gaps;  // of the program to the bound
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
    Json row = {{"name", entry.name},
                {"nodes", problem->graph().size()},
                {"bound", known.bound},
                {"greedy", NumberOrNull(known.greedy)},
                {"segments", NumberOrNull(known.segments)}};
    out << absl::StreamFormat("%-20s %6d %9s %9s %9s", entry.name,
                              problem->graph().size(), Shown(known.bound),
                              Shown(known.greedy), Shown(known.segments));
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
        AddRun(run, known.greedy, known.segments, columns[search]);
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
  out << absl::StreamFormat("\nsegments / bound, geometric mean: %.3f\n\n",
                            MeanRatio(gaps));
  document["segments_to_bound"] = NumberOrNull(MeanRatio(gaps));
  out << "samples until the mean throughput is so many times that of the "
         "greedy fill\n"
      << absl::StreamFormat("%-12s", "search");
  for (const double level : kLevels) out << absl::StreamFormat(" %8.1f", level);
  out << absl::StreamFormat(" %9s %12s %9s\n", "at end", "/ segments",
                            "seconds");
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
    result["throughput"] =
        column.runs > 0
            ? column.throughput.back() / static_cast<double>(column.runs)
            : 0;
    const double to_segments = MeanRatio(column.to_segments);
    result["cost_to_segments"] = NumberOrNull(to_segments);
    result["seconds"] = column.seconds;
    out << absl::StreamFormat(" %9.3f %12.4f %9.1f\n",
                              result["throughput"].get<double>(), to_segments,
                              column.seconds);
    searches[search] = std::move(result);
  }
  if (options.draws > 0) document["fidelity"] = PrintFidelity(fidelity, out);
  return document;
}

}  // namespace hone::bench
