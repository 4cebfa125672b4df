#include "bench/placement/scale.h"

#include <array>
#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"

#include "base/clock.h"
#include "base/status_macros.h"
#include "bench/placement/peak_memory.h"
#include "graphs/layered_graph.h"
#include "graphs/lower_bounds.h"
#include "graphs/max_load.h"
#include "graphs/placements.h"
#include "optimizers/registry.h"
#include "optimizers/search.h"
#include "tuning/tasks/placement_problem.h"

namespace hone::bench {
namespace {

using Json = nlohmann::ordered_json;
using graphs::Contiguity;
using graphs::DeviceGraph;
using graphs::Placement;
using tuning::PlacementProblem;

constexpr uint64_t kSeed = 1;
constexpr int64_t kMoves = 100'000;
constexpr std::array kSeeds = {"single_device", "greedy", "segments",
                               "metis",         "exact",  "local_search"};
constexpr std::array kLearned = {"policy", "guided", "ppo"};

double MiB(int64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

Json ToJson(const Usage& usage, size_t nodes) {
  const auto per_node = [&](double value) {
    return value / static_cast<double>(nodes);
  };
  return {{"cpu_seconds", absl::ToDoubleSeconds(usage.cpu_time)},
          {"bytes", usage.bytes},
          {"us_per_node", per_node(absl::ToDoubleMicroseconds(usage.cpu_time))},
          {"bytes_per_node", per_node(static_cast<double>(usage.bytes))},
          {"peak_resident_bytes", usage.peak_bytes}};
}

class Scale {
 public:
  Scale(const PlacementBenchOptions& options, std::ostream& out)
      : options_(options), out_(out) {}

  absl::StatusOr<Json> Run() {
    std::vector<DeviceGraph> graphs;
    Json rows = Json::array();
    for (const int64_t nodes : options_.nodes) {
      graphs.push_back(
          graphs::MakeLayeredGraph(static_cast<size_t>(nodes), kSeed));
      rows.push_back(
          {{"nodes", nodes}, {"edges", graphs.back().edges().size()}});
    }
    out_ << absl::StrFormat("\n%-28s %8s", "CPU s, max load / bound", "edges");
    for (const char* seed : kSeeds) out_ << absl::StrFormat(" %15s", seed);
    out_ << "\n";
    for (size_t i = 0; i < graphs.size(); ++i) {
      HONE_ASSIGN_OR_RETURN(rows[i]["seeds"], MeasureSeeds(graphs[i]));
    }
    out_ << absl::StrFormat("\n%-28s %8s %8s", "nodes", "moves/s", "peak MiB");
    for (const char* id : kLearned) {
      out_ << absl::StrFormat(" %32s", id);
    }
    out_ << absl::StrFormat("\n%-28s %8s %8s", "", "", "");
    for (size_t i = 0; i < kLearned.size(); ++i) {
      out_ << absl::StrFormat(" %8s %7s %7s %7s", "s, first", "s, next",
                              "us/node", "KB/node");
    }
    out_ << "\n";
    for (size_t i = 0; i < graphs.size(); ++i) {
      HONE_ASSIGN_OR_RETURN(rows[i]["searches"], MeasureSearches(graphs[i]));
    }
    return rows;
  }

 private:
  absl::StatusOr<Json> MeasureSeeds(const DeviceGraph& graph) {
    const double bound = graphs::LowerBounds(graph).greatest();
    out_ << absl::StrFormat("%-28d %8d", graph.size(), graph.edges().size());
    Json seeds;
    std::optional<Placement> best;
    double best_load = std::numeric_limits<double>::infinity();
    const auto make = [&](absl::string_view name) -> std::optional<Placement> {
      if (name == "single_device") return graphs::PlaceOnOneDevice(graph);
      if (name == "greedy") return graphs::PlaceGreedily(graph);
      if (name == "segments") return graphs::PlaceSegments(graph, nullptr);
      if (name == "metis") return graphs::PlaceByMetis(graph, nullptr);
      if (name == "exact") return graphs::PlaceExactly(graph, nullptr);
      if (!best) return std::nullopt;
      return graphs::ImprovePlacement(graph, options_.contiguity, *best,
                                      nullptr);
    };
    for (const char* name : kSeeds) {
      std::optional<Placement> placement;
      HONE_ASSIGN_OR_RETURN(const Usage usage,
                            MeasureUsage([&] { placement = make(name); }));
      seeds[name] = ToJson(usage, graph.size());
      out_ << absl::StrFormat(" %7.2f", absl::ToDoubleSeconds(usage.cpu_time));
      if (!placement) {
        out_ << absl::StrFormat(" %7s", "-");
        continue;
      }
      const double load = graphs::ComputeLoads(graph, *placement)->max_load;
      out_ << absl::StrFormat(" %7.4f", load / bound);
      seeds[name]["max_load"] = load;
      if (load < best_load) {
        best_load = load;
        best = std::move(placement);
      }
    }
    seeds["bound"] = bound;
    out_ << "\n" << std::flush;
    return seeds;
  }

  absl::StatusOr<Json> MeasureSearches(const DeviceGraph& graph) {
    HONE_ASSIGN_OR_RETURN(
        const auto problem,
        PlacementProblem::Create(graph, options_.contiguity, nullptr,
                                 std::nullopt, tuning::PlacementSeeds::kNone));
    HONE_ASSIGN_OR_RETURN(const double moves, MovesPerSecond(*problem));
    Json searches = {{"moves_per_second", moves}};
    int64_t peak = 0;
    std::string columns;
    for (const char* id : kLearned) {
      HONE_ASSIGN_OR_RETURN(searches[id], MeasureRounds(*problem, id));
      const Json& next = searches[id]["next"];
      peak = std::max(peak, next["peak_resident_bytes"].get<int64_t>());
      absl::StrAppendFormat(&columns, " %8.2f %7.2f %7.1f %7.1f",
                            searches[id]["first"]["cpu_seconds"].get<double>(),
                            next["cpu_seconds"].get<double>(),
                            next["us_per_node"].get<double>(),
                            next["bytes_per_node"].get<double>() / 1000);
    }
    out_ << absl::StrFormat("%-28d %8.0f %8.0f%s\n", graph.size(), moves,
                            MiB(peak), columns)
         << std::flush;
    return searches;
  }

  // Moves that annealing tries.
  static absl::StatusOr<double> MovesPerSecond(
      const PlacementProblem& problem) {
    HONE_ASSIGN_OR_RETURN(
        const auto optimizer,
        optimizers::CreateOptimizer("annealing", problem, {.seed = kSeed}));
    absl::StatusOr<optimizers::SearchResult> result;
    HONE_ASSIGN_OR_RETURN(const Usage usage, MeasureUsage([&] {
                            result = optimizers::RunSearch(
                                problem, *optimizer,
                                {.trials = std::numeric_limits<int64_t>::max(),
                                 .evaluations = kMoves},
                                SystemClock());
                          }));
    HONE_RETURN_IF_ERROR(result.status());
    return static_cast<double>(result->evaluations) /
           absl::ToDoubleSeconds(usage.cpu_time);
  }

  // The first two rounds of an optimizer that proposes in rounds. A round is
  // planned when all of the one before has been observed.
  static absl::StatusOr<Json> MeasureRounds(const PlacementProblem& problem,
                                            const char* id) {
    HONE_ASSIGN_OR_RETURN(
        const auto optimizer,
        optimizers::CreateOptimizer(id, problem, {.seed = kSeed}));
    Json rounds;
    int64_t trials = 0;
    for (const char* round : {"first", "next"}) {
      const std::vector<space::Candidate> batch =
          optimizer->Suggest(std::numeric_limits<int32_t>::max());
      HONE_ASSIGN_OR_RETURN(const auto measured, problem.MeasureBatch(batch));
      HONE_ASSIGN_OR_RETURN(
          const Usage usage, MeasureUsage([&] {
            for (size_t i = 0; i < batch.size(); ++i) {
              optimizer->Observe({trials++, batch[i], measured[i]});
            }
          }));
      rounds[round] = ToJson(usage, problem.graph().size());
      rounds[round]["placements"] =
          optimizer->Suggest(std::numeric_limits<int32_t>::max()).size();
    }
    return rounds;
  }

  const PlacementBenchOptions& options_;
  std::ostream& out_;
};

}  // namespace

absl::StatusOr<nlohmann::ordered_json> MeasureScale(
    const PlacementBenchOptions& options, std::ostream& out) {
  return Scale(options, out).Run();
}

}  // namespace hone::bench
