#include "bench/pass_order.h"

#include <algorithm>
#include <filesystem>
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
  int64_t trials = 0;
  bool uniform_prior = false;
};

Search ParseSearch(const std::string& name, int64_t trials) {
  // Two trials: the default, and what the policy proposes first.
  if (name == "zero-shot") return {"policy", 2, false};
  if (name == "guided-uniform") return {"guided", trials, true};
  return {name, trials, false};
}

struct SearchColumn {
  std::vector<double> ops;      // by seed
  std::vector<double> seconds;  // by seed
  std::vector<double> steps;    // passes run, by seed
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
      const Search parsed = ParseSearch(search, options.trials);
      optimizers::OptimizerOptions optimizer_options;
      optimizer_options.seed = static_cast<uint64_t>(seed);
      optimizer_options.weights = options.weights;
      optimizer_options.uniform_prior = parsed.uniform_prior;
      HONE_ASSIGN_OR_RETURN(const auto optimizer,
                            optimizers::CreateOptimizer(
                                parsed.optimizer, *problem, optimizer_options));
      HONE_ASSIGN_OR_RETURN(
          const optimizers::SearchResult result,
          optimizers::RunSearch(*problem, *optimizer,
                                space::Budget{.trials = parsed.trials,
                                              .evaluations = options.steps,
                                              .time = options.time},
                                SystemClock()));
      if (!result.best.has_value() || !result.baseline.has_value()) {
        return absl::InternalError(
            absl::StrCat(entry.name, ": no candidate could be applied"));
      }
      row.default_ops = result.baseline->measurement.cost;
      column.ops.push_back(result.best->measurement.cost);
      column.seconds.push_back(absl::ToDoubleSeconds(result.elapsed));
      column.steps.push_back(static_cast<double>(problem->evaluations()));
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
    const SearchColumn& column = row.searches.at(search);
    const double ops = Median(column.ops);
    out << absl::StrFormat(" %14.0f %7.4f", ops,
                           ops / static_cast<double>(row.entry.xla_ops));
  }
  out << absl::StrFormat(" %8d\n", row.entry.xla_ops) << std::flush;
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
  for (const std::string& search : options.searches) {
    HONE_RETURN_IF_ERROR(optimizers::Optimizers()
                             .Find(ParseSearch(search, 0).optimizer)
                             .status());
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
      searches[search] = {{"ops", column.ops},
                          {"seconds", column.seconds},
                          {"passes_run", column.steps}};
    }
    modules.push_back({{"module", row->entry.name},
                       {"input_ops", row->entry.ops},
                       {"default_ops", row->default_ops},
                       {"own_ops", row->own_ops},
                       {"xla_ops", row->entry.xla_ops},
                       {"searches", searches}});
  }
  nlohmann::ordered_json summary;
  summary["default/xla"] = GeometricMean(default_to_xla);
  summary["own/xla"] = GeometricMean(own_to_xla);
  for (const std::string& search : options.searches) {
    std::vector<double> to_xla;
    std::vector<double> to_default;
    std::vector<double> seconds;
    std::vector<double> steps;
    // The geometric mean of each seed by itself, for the spread.
    std::vector<double> by_seed;
    int worse = 0;
    for (const auto& row : rows) {
      const double ops = Median(row->searches.at(search).ops);
      to_xla.push_back(ops / static_cast<double>(row->entry.xla_ops));
      to_default.push_back(ops / row->default_ops);
      seconds.push_back(Median(row->searches.at(search).seconds));
      steps.push_back(Median(row->searches.at(search).steps));
      worse += ops > row->default_ops ? 1 : 0;
    }
    for (size_t seed = 0; seed < static_cast<size_t>(options.seeds); ++seed) {
      std::vector<double> ratios;
      ratios.reserve(rows.size());
      for (const auto& row : rows) {
        ratios.push_back(row->searches.at(search).ops[seed] /
                         static_cast<double>(row->entry.xla_ops));
      }
      by_seed.push_back(GeometricMean(ratios));
    }
    summary[search] = {{"tuned/xla", GeometricMean(to_xla)},
                       {"tuned/xla min over seeds", Quantile(by_seed, 0)},
                       {"tuned/xla max over seeds", Quantile(by_seed, 1)},
                       {"tuned/default", GeometricMean(to_default)},
                       {"seconds, median", Median(seconds)},
                       {"seconds, most", Quantile(seconds, 1)},
                       {"passes run, median", Median(steps)},
                       {"modules worse than default", worse}};
    out << absl::StrFormat(
        "%s: geometric mean tuned/xla %.4f (seeds %.4f to %.4f), "
        "tuned/default %.4f, default/xla %.4f, own/xla %.4f, worse than "
        "default on %d of %d "
        "modules; median %.0f passes run, %.2f s (most %.2f s)\n",
        search, GeometricMean(to_xla), Quantile(by_seed, 0),
        Quantile(by_seed, 1), GeometricMean(to_default),
        GeometricMean(default_to_xla), GeometricMean(own_to_xla), worse,
        rows.size(), Median(steps), Median(seconds), Quantile(seconds, 1));
  }
  return nlohmann::ordered_json{
      {"bench", "pass-order"},    {"machine", DescribeMachine()},
      {"trials", options.trials}, {"seeds", options.seeds},
      {"passes", options.passes}, {"held_out", options.held_out},
      {"modules", modules},       {"summary", summary}};
}

}  // namespace hone::bench
