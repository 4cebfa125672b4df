#include "bench/placement/quality.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/synchronization/mutex.h"

#include "base/clock.h"
#include "base/statistics.h"
#include "base/status_macros.h"
#include "base/thread_pool.h"
#include "bench/cpu_time.h"
#include "bench/placement/public_graphs.h"
#include "graphs/ideals.h"
#include "graphs/lower_bounds.h"
#include "graphs/max_load.h"
#include "optimizers/registry.h"
#include "optimizers/search.h"
#include "tuning/tasks/placement_problem.h"

namespace hone::bench {
namespace {

using Json = nlohmann::ordered_json;
using tuning::PlacementProblem;
using tuning::PlacementSeeds;

constexpr size_t kGraphsAtOnce = 2;

// More take more memory than a bench should.
constexpr int64_t kMaxIdeals = 1'000'000;

// The seeds of the first table.
constexpr const char* kSeeds[] = {"single_device", "greedy", "segments",
                                  "metis", "local_search"};

// A graph and what is known about it.
struct Entry {
  PublicGraph graph;
  graphs::LoadBounds bounds;
  std::optional<graphs::Pipeline> exact;
  double exact_seconds = 0;
  // Max loads by the name of the seed, without that of the exact program.
  std::map<std::string, double> seeds;
  // That of the experts' split, if it is valid; or which constraint it breaks.
  std::optional<double> expert;
  std::string expert_violation;

  // What max loads are compared with.
  double reference() const {
    return exact ? exact->max_load : bounds.greatest();
  }
};

// Results of one optimizer on one graph, by seed.
struct Runs {
  std::vector<double> max_loads;
  std::vector<double> evaluations;
  std::vector<double> seconds;
};

// One table of searches.
struct Block {
  std::string start;
  std::string budget_text;
  space::Budget budget;
  // By graph and optimizer.
  std::vector<std::map<std::string, Runs>> runs;
};

PlacementSeeds SeedsOf(const std::string& start) {
  if (start == "all") return PlacementSeeds::kAll;
  return start == "inexact" ? PlacementSeeds::kInexact : PlacementSeeds::kNone;
}

// Calls work(i) for all i below `count` on several threads and print(i) in
// order, as soon as it can.
absl::Status ForAll(size_t count,
                    const std::function<absl::Status(size_t)>& work,
                    const std::function<void(size_t)>& print) {
  absl::Mutex mu;
  absl::Status failure;
  std::vector<bool> done(count);
  size_t printed = 0;
  {
    ThreadPool pool(kGraphsAtOnce);
    for (size_t i = 0; i < count; ++i) {
      pool.Schedule([&, i] {
        const absl::Status status = work(i);
        absl::MutexLock lock(&mu);
        failure.Update(status);
        done[i] = status.ok();
        while (printed < count && done[printed]) print(printed++);
      });
    }
  }
  return failure;
}

class Quality {
 public:
  Quality(const PlacementBenchOptions& options, std::ostream& out)
      : options_(options), out_(out) {}

  absl::StatusOr<Json> Run() {
    HONE_ASSIGN_OR_RETURN(std::vector<PublicGraph> graphs,
                          ReadPublicGraphs(options_.graphs, options_.only));
    for (const std::string& search : options_.searches) {
      HONE_RETURN_IF_ERROR(optimizers::Optimizers().Find(search).status());
    }
    for (PublicGraph& graph : graphs) {
      entries_.push_back({std::move(graph), {}, {}, 0, {}, {}, {}});
    }
    HONE_RETURN_IF_ERROR(MeasureSeeds());
    for (const std::string& start : options_.starts) {
      HONE_RETURN_IF_ERROR(MeasureSearches(start));
    }
    return Document();
  }

 private:
  absl::StatusOr<std::unique_ptr<PlacementProblem>> Problem(
      const Entry& entry, PlacementSeeds seeds) const {
    return PlacementProblem::Create(entry.graph.graph, options_.contiguity,
                                    nullptr, std::nullopt, seeds);
  }

  absl::Status MeasureSeeds() {
    out_ << absl::StrFormat("%-28s %5s %5s %9s %9s %7s %9s", "max load",
                            "nodes", "edges", "bound", "exact", "CPU s",
                            "published");
    for (const char* seed : kSeeds) out_ << absl::StrFormat(" %13s", seed);
    out_ << absl::StrFormat(" %9s\n", "expert");
    HONE_RETURN_IF_ERROR(ForAll(
        entries_.size(), [&](size_t i) { return Measure(entries_[i]); },
        [&](size_t i) { PrintSeeds(entries_[i]); }));
    for (const Entry& entry : entries_) {
      if (entry.expert_violation.empty()) continue;
      out_ << "the experts' split of " << entry.graph.name
           << " is not valid: " << entry.expert_violation << "\n";
    }
    return absl::OkStatus();
  }

  absl::Status Measure(Entry& entry) const {
    entry.bounds = graphs::LowerBounds(entry.graph.graph);
    if (options_.contiguity == graphs::Contiguity::kPipeline) {
      const absl::Duration start = ThreadCpuTime();
      absl::StatusOr<graphs::Pipeline> exact = graphs::FindBestPipeline(
          entry.graph.graph, {.max_ideals = kMaxIdeals, .stop = [&] {
                                return ThreadCpuTime() - start >
                                       options_.exact_time;
                              }});
      entry.exact_seconds = absl::ToDoubleSeconds(ThreadCpuTime() - start);
      if (exact.ok()) entry.exact = *std::move(exact);
    }
    HONE_ASSIGN_OR_RETURN(const auto problem,
                          Problem(entry, PlacementSeeds::kInexact));
    for (const space::Seed& seed : problem->Seeds()) {
      HONE_ASSIGN_OR_RETURN(const space::Measurement measured,
                            problem->Measure(seed.candidate));
      entry.seeds[seed.name] = measured.cost;
    }
    if (entry.graph.expert) {
      HONE_ASSIGN_OR_RETURN(const space::Measurement measured,
                            problem->Measure({*entry.graph.expert}));
      if (measured.outcome == space::Outcome::kOk) {
        entry.expert = measured.cost;
      } else {
        entry.expert_violation = std::string(
            graphs::CheckAssignment(entry.graph.graph, *entry.graph.expert,
                                    options_.contiguity)
                .message());
      }
    }
    return absl::OkStatus();
  }

  static std::string Number(const std::optional<double>& value,
                            const char* missing = "-") {
    return value ? absl::StrFormat("%.4f", *value) : missing;
  }

  void PrintSeeds(const Entry& entry) {
    std::optional<double> exact;
    if (entry.exact) exact = entry.exact->max_load;
    out_ << absl::StrFormat("%-28s %5d %5d %9.4f %9s %7.2f %9s",
                            entry.graph.name, entry.graph.graph.size(),
                            entry.graph.graph.edges().size(),
                            entry.bounds.greatest(), Number(exact),
                            entry.exact_seconds, Number(entry.graph.published));
    for (const char* seed : kSeeds) {
      const auto found = entry.seeds.find(seed);
      out_ << absl::StrFormat(" %13s",
                              found == entry.seeds.end()
                                  ? "-"
                                  : Number(found->second / entry.reference()));
    }
    std::optional<double> expert;
    if (entry.expert) expert = *entry.expert / entry.reference();
    out_ << absl::StrFormat(" %9s\n", Number(expert)) << std::flush;
  }

  absl::Status MeasureSearches(const std::string& start) {
    // Seeds are constructed once for all searches from them.
    std::vector<std::unique_ptr<PlacementProblem>> problems(entries_.size());
    constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();
    if (options_.evaluations > 0) {
      HONE_RETURN_IF_ERROR(MeasureBlock(
          {start,
           absl::StrCat(options_.evaluations, " evaluations"),
           {.trials = kNoLimit, .evaluations = options_.evaluations},
           {}},
          problems));
    }
    if (options_.time > absl::ZeroDuration()) {
      HONE_RETURN_IF_ERROR(
          MeasureBlock({start,
                        absl::FormatDuration(options_.time),
                        {.trials = kNoLimit, .time = options_.time},
                        {}},
                       problems));
    }
    return absl::OkStatus();
  }

  absl::Status MeasureBlock(
      Block block, std::vector<std::unique_ptr<PlacementProblem>>& problems) {
    out_ << absl::StrFormat(
        "\nmax load / exact (*: / bound), median and worst of %d searches from "
        "%s seeds, %s each\n%-28s",
        options_.seeds, block.start, block.budget_text, "");
    for (const std::string& search : options_.searches) {
      out_ << absl::StrFormat(" %17s", search);
    }
    out_ << "\n";
    block.runs.resize(entries_.size());
    HONE_RETURN_IF_ERROR(ForAll(
        entries_.size(),
        [&](size_t i) -> absl::Status {
          if (problems[i] == nullptr) {
            HONE_ASSIGN_OR_RETURN(problems[i],
                                  Problem(entries_[i], SeedsOf(block.start)));
          }
          return Search(*problems[i], block, block.runs[i]);
        },
        [&](size_t i) { PrintRuns(entries_[i], block.runs[i]); }));
    PrintSummary(block);
    blocks_.push_back(std::move(block));
    return absl::OkStatus();
  }

  absl::Status Search(const PlacementProblem& problem, const Block& block,
                      std::map<std::string, Runs>& all) {
    double best_seed = std::numeric_limits<double>::infinity();
    for (const space::Seed& seed : problem.Seeds()) {
      HONE_ASSIGN_OR_RETURN(const space::Measurement measured,
                            problem.Measure(seed.candidate));
      best_seed = std::min(best_seed, space::EffectiveCost(measured));
    }
    for (const std::string& search : options_.searches) {
      Runs& runs = all[search];
      for (int32_t seed = 0; seed < options_.seeds; ++seed) {
        HONE_ASSIGN_OR_RETURN(
            const auto optimizer,
            optimizers::CreateOptimizer(search, problem,
                                        {.seed = static_cast<uint64_t>(seed)}));
        HONE_ASSIGN_OR_RETURN(
            const optimizers::SearchResult result,
            optimizers::RunSearch(problem, *optimizer, block.budget,
                                  SystemClock()));
        if (!result.best) {
          return absl::InternalError(
              absl::StrCat(search, ": no candidate is a valid placement"));
        }
        const double cost = result.best->measurement.cost;
        runs.max_loads.push_back(cost);
        runs.evaluations.push_back(static_cast<double>(result.evaluations));
        runs.seconds.push_back(absl::ToDoubleSeconds(result.elapsed));
        absl::MutexLock lock(&mu_);
        ++searches_;
        worse_than_a_seed_ += cost > best_seed ? 1 : 0;
      }
    }
    return absl::OkStatus();
  }

  void PrintRuns(const Entry& entry, const std::map<std::string, Runs>& all) {
    out_ << absl::StrFormat("%-28s",
                            entry.graph.name + (entry.exact ? "" : " *"));
    for (const std::string& search : options_.searches) {
      const std::vector<double>& loads = all.at(search).max_loads;
      out_ << absl::StrFormat(" %8.4f %8.4f", Median(loads) / entry.reference(),
                              Quantile(loads, 1) / entry.reference());
    }
    out_ << "\n" << std::flush;
  }

  // What a row shows of all graphs with an exact optimum, one value a search.
  struct Column {
    std::vector<double> medians;
    std::vector<double> worsts;
    std::vector<double> evaluations;
    std::vector<double> seconds;
  };
  Column ColumnOf(const Block& block, const std::string& search) const {
    Column column;
    for (size_t i = 0; i < entries_.size(); ++i) {
      const Runs& runs = block.runs[i].at(search);
      column.evaluations.push_back(Median(runs.evaluations));
      column.seconds.push_back(Median(runs.seconds));
      if (!entries_[i].exact) continue;
      const double reference = entries_[i].reference();
      column.medians.push_back(Median(runs.max_loads) / reference);
      column.worsts.push_back(Quantile(runs.max_loads, 1) / reference);
    }
    return column;
  }

  void PrintSummary(const Block& block) {
    std::vector<Column> columns;
    for (const std::string& search : options_.searches) {
      columns.push_back(ColumnOf(block, search));
    }
    const auto row = [&](const char* name, auto text) {
      out_ << absl::StrFormat("%-28s", name);
      for (const Column& column : columns) {
        out_ << absl::StrFormat(" %17s", text(column));
      }
      out_ << "\n";
    };
    row("geometric mean", [](const Column& c) {
      return absl::StrFormat("%8.4f %8.4f", GeometricMean(c.medians),
                             GeometricMean(c.worsts));
    });
    row("graphs more than 1 % above", [](const Column& c) {
      const auto above = [](const std::vector<double>& ratios) {
        return std::count_if(ratios.begin(), ratios.end(),
                             [](double ratio) { return ratio > 1.01; });
      };
      return absl::StrFormat("%8d %8d", above(c.medians), above(c.worsts));
    });
    row("evaluations, seconds", [](const Column& c) {
      return absl::StrFormat("%8.0f %8.2f", Median(c.evaluations),
                             Median(c.seconds));
    });
    out_ << std::flush;
  }

  Json Document() {
    out_ << absl::StrFormat("\n%d of %d searches ended worse than a seed\n",
                            worse_than_a_seed_, searches_);
    Json graphs = Json::array();
    for (const Entry& entry : entries_) {
      Json exact;
      if (entry.exact) {
        exact = {{"max_load", entry.exact->max_load},
                 {"ideals", entry.exact->ideals},
                 {"cpu_seconds", entry.exact_seconds}};
      }
      Json published;
      if (entry.graph.published) published = *entry.graph.published;
      Json expert;
      if (entry.expert) expert = {{"max_load", *entry.expert}};
      if (!entry.expert_violation.empty()) {
        expert = {{"violation", entry.expert_violation}};
      }
      graphs.push_back({{"graph", entry.graph.name},
                        {"nodes", entry.graph.graph.size()},
                        {"edges", entry.graph.graph.edges().size()},
                        {"shared_work_bound", entry.bounds.shared_work},
                        {"largest_class_bound", entry.bounds.largest_class},
                        {"memory_bound", entry.bounds.memory},
                        {"exact", exact},
                        {"published", published},
                        {"seeds", entry.seeds},
                        {"expert", expert}});
    }
    Json blocks = Json::array();
    for (const Block& block : blocks_) {
      Json rows = Json::array();
      for (size_t i = 0; i < entries_.size(); ++i) {
        Json searches;
        for (const auto& [search, runs] : block.runs[i]) {
          searches[search] = {{"max_loads", runs.max_loads},
                              {"evaluations", runs.evaluations},
                              {"seconds", runs.seconds}};
        }
        rows.push_back({{"graph", entries_[i].graph.name},
                        {"reference", entries_[i].reference()},
                        {"searches", searches}});
      }
      blocks.push_back({{"start", block.start},
                        {"budget", block.budget_text},
                        {"graphs", rows}});
    }
    return {{"seeds", options_.seeds},
            {"searches", searches_},
            {"worse_than_a_seed", worse_than_a_seed_},
            {"graphs", graphs},
            {"tables", blocks}};
  }

  const PlacementBenchOptions& options_;
  std::ostream& out_;
  std::vector<Entry> entries_;
  std::vector<Block> blocks_;
  absl::Mutex mu_;
  int64_t searches_ = 0;
  int64_t worse_than_a_seed_ = 0;
};

}  // namespace

absl::StatusOr<nlohmann::ordered_json> MeasureQuality(
    const PlacementBenchOptions& options, std::ostream& out) {
  return Quality(options, out).Run();
}

}  // namespace hone::bench
