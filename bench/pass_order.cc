#include "bench/pass_order.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/synchronization/mutex.h"

#include "base/clock.h"
#include "base/files.h"
#include "base/statistics.h"
#include "base/status_macros.h"
#include "base/thread_pool.h"
#include "bench/corpus.h"
#include "bench/pass_order_split.h"
#include "bench/search_curve.h"
#include "hlo/analysis/op_count.h"
#include "hlo/passes/lowering.h"
#include "hlo/passes/pipeline.h"
#include "hlo/passes/registry.h"
#include "hlo/read_module.h"
#include "hlo/text/printer.h"
#include "optimizers/registry.h"
#include "optimizers/search.h"
#include "tuning/registry.h"
#include "tuning/task.h"

namespace hone::bench {
namespace {

// A search as the table's head names it.
struct Search {
  std::string optimizer;
  bool uniform_prior = false;
};

Search ParseSearch(const std::string& name) {
  if (name == "guided-uniform") return {"guided", true};
  return {name, false};
}

// By seed.
struct SearchColumn {
  std::vector<SearchCurve> curves;
  std::vector<double> seconds;
  std::vector<double> passes;  // run beyond the default order's

  // ops with a budget.
  std::vector<double> Ops(int64_t budget) const {
    std::vector<double> ops;
    for (const SearchCurve& curve : curves) {
      ops.push_back(curve.BestAt(budget));
    }
    return ops;
  }
};

struct Row {
  CorpusEntry entry;
  double default_ops = 0;
  double own_ops = 0;
  std::map<std::string, SearchColumn> searches;
  // The best of all searches and seeds.
  std::optional<space::Trial> best;
};

// `module` after the default pipeline whose simplification has Hone's own
// passes, too, lowered: what the passes do without a search for their order.
absl::StatusOr<hlo::Module> WithOwnPasses(hlo::Module module) {
  HONE_ASSIGN_OR_RETURN(const hlo::Pipeline* const by_default,
                        hlo::FindPipeline("xla-cpu"));
  HONE_ASSIGN_OR_RETURN(const hlo::Pipeline* const lowering,
                        hlo::FindLowering("xla-cpu"));
  hlo::Pipeline pipeline = *by_default;
  for (hlo::PipelineStage& stage : pipeline.stages) {
    if (stage.max_rounds == 1) continue;
    for (const hlo::PassEntry& pass : hlo::Passes()) {
      if (pass.origin == hlo::PassOrigin::kOwn) {
        stage.passes.emplace_back(pass.id);
      }
    }
  }
  hlo::PipelineOptions options;
  options.skip_failing = true;
  HONE_RETURN_IF_ERROR(hlo::RunPipeline(module, pipeline, options).status());
  return hlo::Lowered(std::move(module), *lowering);
}

absl::Status WriteModule(const std::string& directory, const std::string& name,
                         const hlo::Module& module) {
  return WriteFileAtomically(absl::StrCat(directory, "/", name, ".hlo"),
                             hlo::PrintModule(module));
}

// Runs one search and adds it to `column`. Returns its result.
absl::StatusOr<optimizers::SearchResult> RunOne(
    const space::Problem& problem, const Search& search, uint64_t seed,
    const PassOrderBenchOptions& options, SearchColumn& column) {
  optimizers::OptimizerOptions optimizer_options;
  optimizer_options.seed = seed;
  optimizer_options.weights = options.weights;
  optimizer_options.uniform_prior = search.uniform_prior;
  HONE_ASSIGN_OR_RETURN(const auto optimizer,
                        optimizers::CreateOptimizer(search.optimizer, problem,
                                                    optimizer_options));
  // The default's passes run now, and not again.
  HONE_ASSIGN_OR_RETURN(const space::Measurement by_default,
                        problem.Measure(problem.DefaultCandidate()));
  const int64_t before = problem.evaluations();
  SearchCurve curve(by_default.cost);
  optimizers::SearchOptions search_options;
  search_options.on_trial = [&](const space::Trial& trial) {
    curve.Add(problem.evaluations() - before,
              space::EffectiveCost(trial.measurement));
    return absl::OkStatus();
  };
  HONE_ASSIGN_OR_RETURN(
      optimizers::SearchResult result,
      optimizers::RunSearch(problem, *optimizer,
                            space::Budget{.trials = options.trials,
                                          .evaluations = options.budgets.back(),
                                          .time = options.time},
                            SystemClock(), search_options));
  column.curves.push_back(std::move(curve));
  column.seconds.push_back(absl::ToDoubleSeconds(result.elapsed));
  column.passes.push_back(static_cast<double>(result.evaluations));
  return result;
}

absl::StatusOr<Row> TuneOne(const CorpusEntry& entry,
                            const PassOrderBenchOptions& options) {
  Row row;
  row.entry = entry;
  HONE_ASSIGN_OR_RETURN(const hlo::Module module,
                        hlo::ReadModuleFile(entry.path));
  HONE_ASSIGN_OR_RETURN(const hlo::Module own, WithOwnPasses(module));
  row.own_ops = static_cast<double>(hlo::CountOps(own));
  if (!options.own_directory.empty()) {
    HONE_RETURN_IF_ERROR(WriteModule(options.own_directory, entry.name, own));
  }
  HONE_ASSIGN_OR_RETURN(const tuning::Task* const task,
                        tuning::FindTask("pass_order"));
  tuning::TaskOptions task_options;
  task_options.passes = options.passes;
  for (const std::string& search : options.searches) {
    SearchColumn& column = row.searches[search];
    for (int32_t seed = 0; seed < options.seeds; ++seed) {
      // A new problem each time: no search profits from another's memo.
      HONE_ASSIGN_OR_RETURN(const auto problem,
                            task->MakeProblem(module, task_options, {}));
      HONE_ASSIGN_OR_RETURN(
          const optimizers::SearchResult result,
          RunOne(*problem, ParseSearch(search), static_cast<uint64_t>(seed),
                 options, column));
      if (!result.best.has_value() || !result.baseline.has_value()) {
        return absl::InternalError(
            absl::StrCat(entry.name, ": no candidate could be applied"));
      }
      row.default_ops = result.baseline->measurement.cost;
      if (!row.best.has_value() ||
          result.best->measurement.cost < row.best->measurement.cost) {
        row.best = result.best;
      }
    }
  }
  if (!options.tuned_directory.empty()) {
    HONE_ASSIGN_OR_RETURN(const auto problem,
                          task->MakeProblem(module, task_options, {}));
    HONE_ASSIGN_OR_RETURN(const tuning::AppliedDecision applied,
                          task->Apply(module, *problem, row.best->candidate));
    HONE_RETURN_IF_ERROR(
        WriteModule(options.tuned_directory, entry.name, *applied.module));
  }
  return row;
}

void PrintRow(const Row& row, const PassOrderBenchOptions& options,
              std::ostream& out) {
  out << absl::StrFormat("%-18s %7d %8.0f %8.0f", row.entry.name, row.entry.ops,
                         row.default_ops, row.own_ops);
  for (const std::string& search : options.searches) {
    const double ops =
        Median(row.searches.at(search).Ops(options.budgets.back()));
    out << absl::StrFormat(" %14.0f %7.4f", ops,
                           ops / static_cast<double>(row.entry.xla_ops));
  }
  out << absl::StrFormat(" %8d\n", row.entry.xla_ops) << std::flush;
}

// The geometric means of one search with one budget.
struct Means {
  double to_default = 0;
  double to_xla = 0;
  // Of to_default, of each seed by itself.
  std::vector<double> by_seed;
};

Means MeansOf(const std::vector<std::optional<Row>>& rows,
              const std::string& search, int64_t budget) {
  std::vector<double> to_default;
  std::vector<double> to_xla;
  std::vector<std::vector<double>> by_seed;  // to the default
  for (const std::optional<Row>& row : rows) {
    const std::vector<double> ops = row->searches.at(search).Ops(budget);
    to_default.push_back(Median(ops) / row->default_ops);
    to_xla.push_back(Median(ops) / static_cast<double>(row->entry.xla_ops));
    by_seed.resize(ops.size());
    for (size_t seed = 0; seed < ops.size(); ++seed) {
      by_seed[seed].push_back(ops[seed] / row->default_ops);
    }
  }
  Means means{GeometricMean(to_default), GeometricMean(to_xla), {}};
  for (const std::vector<double>& ratios : by_seed) {
    means.by_seed.push_back(GeometricMean(ratios));
  }
  return means;
}

// Prints the means of each search with each budget, and returns them.
nlohmann::ordered_json Summarize(const std::vector<std::optional<Row>>& rows,
                                 const PassOrderBenchOptions& options,
                                 std::ostream& out) {
  out << "\ngeometric means of tuned / default, with so many passes beyond the "
         "default order's (seeds: least to most)\n";
  out << absl::StrFormat("%-16s", "search");
  for (const int64_t budget : options.budgets) {
    out << absl::StrFormat(" %24d", budget);
  }
  out << absl::StrFormat(" %9s %6s %13s %17s\n", "tuned/xla", "worse",
                         "passes, median", "s, median (most)");
  nlohmann::ordered_json summary;
  for (const std::string& search : options.searches) {
    out << absl::StrFormat("%-16s", search);
    nlohmann::ordered_json budgets = nlohmann::ordered_json::array();
    for (const int64_t budget : options.budgets) {
      const Means means = MeansOf(rows, search, budget);
      out << absl::StrFormat("  %.4f (%.4f-%.4f)", means.to_default,
                             Quantile(means.by_seed, 0),
                             Quantile(means.by_seed, 1));
      budgets.push_back({{"passes", budget},
                         {"tuned/default", means.to_default},
                         {"tuned/default by seed", means.by_seed},
                         {"tuned/xla", means.to_xla}});
    }
    std::vector<double> seconds;
    std::vector<double> passes;
    int worse = 0;
    for (const std::optional<Row>& row : rows) {
      const SearchColumn& column = row->searches.at(search);
      seconds.push_back(Median(column.seconds));
      passes.push_back(Median(column.passes));
      worse +=
          Median(column.Ops(options.budgets.back())) > row->default_ops ? 1 : 0;
    }
    summary[search] = {{"budgets", budgets},
                       {"seconds, median", Median(seconds)},
                       {"seconds, most", Quantile(seconds, 1)},
                       {"passes run, median", Median(passes)},
                       {"modules worse than default", worse}};
    out << absl::StrFormat("    %.4f %6d %14.0f %8.2f (%.2f)\n",
                           budgets.back()["tuned/xla"].get<double>(), worse,
                           Median(passes), Median(seconds),
                           Quantile(seconds, 1));
  }
  return summary;
}

}  // namespace

absl::StatusOr<nlohmann::ordered_json> RunPassOrderBench(
    const PassOrderBenchOptions& options, std::ostream& out) {
  HONE_ASSIGN_OR_RETURN(std::vector<CorpusEntry> corpus,
                        ReadCorpus(options.corpus, options.only));
  if (options.held_out) {
    std::erase_if(corpus, [](const CorpusEntry& entry) {
      return SplitOf(entry.name) != Split::kTest;
    });
  }
  if (corpus.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(options.corpus, ": no module that is asked for"));
  }
  if (options.budgets.empty() ||
      !std::is_sorted(options.budgets.begin(), options.budgets.end(),
                      std::less_equal<>())) {
    return absl::InvalidArgumentError(
        "budgets: expected numbers of passes in ascending order");
  }
  for (const std::string& search : options.searches) {
    HONE_RETURN_IF_ERROR(
        optimizers::Optimizers().Find(ParseSearch(search).optimizer).status());
  }
  for (const std::string& directory :
       {options.tuned_directory, options.own_directory}) {
    if (directory.empty()) continue;
    // An error is reported when the first module is written.
    std::error_code ignored;
    std::filesystem::create_directories(directory, ignored);
  }
  out << absl::StrFormat("%-18s %7s %8s %8s", "module", "input", "default",
                         "own");
  for (const std::string& search : options.searches) {
    out << absl::StrFormat(" %14s %7s", search, "/xla");
  }
  out << absl::StrFormat(" %8s\n", "xla");

  absl::Mutex mu;
  std::vector<std::optional<Row>> rows(corpus.size());
  absl::Status failure;
  size_t printed = 0;
  {
    ThreadPool pool(std::max(1u, std::thread::hardware_concurrency()));
    for (size_t i = 0; i < corpus.size(); ++i) {
      pool.Schedule([&, i] {
        absl::StatusOr<Row> row = TuneOne(corpus[i], options);
        absl::MutexLock lock(&mu);
        if (!row.ok()) {
          if (failure.ok()) failure = row.status();
          return;
        }
        rows[i] = *std::move(row);
        while (printed < rows.size() && rows[printed].has_value()) {
          PrintRow(*rows[printed++], options, out);
        }
      });
    }
  }
  HONE_RETURN_IF_ERROR(failure);

  nlohmann::ordered_json modules = nlohmann::ordered_json::array();
  std::vector<double> default_to_xla;
  std::vector<double> own_to_xla;
  for (const auto& row : rows) {
    own_to_xla.push_back(row->own_ops /
                         static_cast<double>(row->entry.xla_ops));
    default_to_xla.push_back(row->default_ops /
                             static_cast<double>(row->entry.xla_ops));
    nlohmann::ordered_json searches;
    for (const auto& [search, column] : row->searches) {
      nlohmann::ordered_json ops;
      for (const int64_t budget : options.budgets) {
        ops[absl::StrCat(budget)] = column.Ops(budget);
      }
      searches[search] = {{"ops", ops},
                          {"seconds", column.seconds},
                          {"passes_run", column.passes}};
    }
    modules.push_back({{"module", row->entry.name},
                       {"input_ops", row->entry.ops},
                       {"default_ops", row->default_ops},
                       {"own_ops", row->own_ops},
                       {"xla_ops", row->entry.xla_ops},
                       {"searches", searches}});
  }
  nlohmann::ordered_json summary = Summarize(rows, options, out);
  summary["default/xla"] = GeometricMean(default_to_xla);
  summary["own/xla"] = GeometricMean(own_to_xla);
  out << absl::StrFormat("default/xla %.4f, own/xla %.4f, %d modules\n",
                         GeometricMean(default_to_xla),
                         GeometricMean(own_to_xla), rows.size());
  return nlohmann::ordered_json{
      {"bench", "pass-order"},      {"machine", DescribeMachine()},
      {"budgets", options.budgets}, {"seeds", options.seeds},
      {"passes", options.passes},   {"held_out", options.held_out},
      {"modules", modules},         {"summary", summary}};
}

}  // namespace hone::bench
