// hone train: trains a policy or a cost model.

#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/time/time.h"
#include "cli/command.h"
#include "cli/train_cost_ensemble.h"
#include "cli/train_cost_model.h"

#include "base/status_macros.h"
#include "bench/training/data_set.h"
#include "optimizers/policies/library.h"

namespace hone::cli {
namespace {

using optimizers::policies::TrainingOptions;
using optimizers::policies::TrainingProgress;
using optimizers::policies::TrainingResult;
using optimizers::policies::TrainingSet;

struct Options {
  std::string data_set;
  // Those that only some data sets use, as they were given.
  std::vector<const CLI::Option*> of_some;
  bench::DataSetOptions data;
  std::string time;
  TrainingOptions training;
};

// "pass-order: …; placement: …".
std::string DescribeDataSets() {
  return absl::StrJoin(bench::DataSets(), "; ",
                       [](std::string* out, const bench::DataSet& set) {
                         absl::StrAppend(out, set.id, ": ", set.contents);
                       });
}

// "go, pass-order": the data sets that use the option.
std::string UsersOf(absl::string_view option) {
  std::vector<absl::string_view> ids;
  for (const bench::DataSet& set : bench::DataSets()) {
    if (set.Uses(option)) ids.push_back(set.id);
  }
  return absl::StrJoin(ids, ", ");
}

// Adds an option that only some data sets use; its description says which.
template <typename Value>
CLI::Option* AddOptionOfSome(CLI::App& command, Options& options,
                             const std::string& name, Value& value,
                             const std::string& description) {
  CLI::Option* const option =
      command
          .add_option("--" + name, value,
                      absl::StrCat(UsersOf(name), ": ", description))
          ->capture_default_str();
  options.of_some.push_back(option);
  return option;
}

// Fails if an option was given that `data` does not use.
absl::Status CheckUsed(const Options& options, const bench::DataSet& data) {
  for (const CLI::Option* const option : options.of_some) {
    const std::string& name = option->get_lnames().front();
    if (option->count() == 0 || data.Uses(name)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("--", name, ": data set ", data.id,
                     " does not use it, expected one of: ", UsersOf(name)));
  }
  return absl::OkStatus();
}

// Fails if two options name one file, which would be written as both.
absl::Status CheckDifferent(
    const std::vector<std::pair<const char*, std::string>>& files) {
  std::map<std::string, const char*> options;
  for (const auto& [option, file] : files) {
    if (file.empty()) continue;
    std::error_code error;
    const std::string path = std::filesystem::weakly_canonical(
        std::filesystem::absolute(file, error), error);
    const auto [it, is_new] = options.try_emplace(error ? file : path, option);
    if (!is_new) {
      return absl::InvalidArgumentError(
          absl::StrCat(it->second, " and ", option, " are both ", file,
                       ", expected different files"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<int> Run(const Options& options, const Context& context) {
  if (options.data_set.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("NAME is required, expected one of: ",
                     absl::StrJoin(bench::DataSets().ids(), ", "),
                     ", cost-model or cost-ensemble"));
  }
  HONE_ASSIGN_OR_RETURN(const bench::DataSet* const data,
                        bench::DataSets().Find(options.data_set));
  HONE_RETURN_IF_ERROR(CheckUsed(options, *data));
  TrainingOptions training = options.training;
  if (!data->Uses("search-trials")) training.search_trials = 0;
  if (training.weights_file.empty()) {
    training.weights_file =
        absl::StrCat(absl::StrReplaceAll(data->id, {{"-", "_"}}), ".pt");
  }
  if (!options.time.empty()) {
    HONE_ASSIGN_OR_RETURN(training.time,
                          ParseDurationOption("--time", options.time));
  }
  if (training.state_file.empty()) {
    training.state_file = training.weights_file + ".state";
  }
  HONE_RETURN_IF_ERROR(CheckDifferent({{"-o", training.weights_file},
                                       {"--state", training.state_file},
                                       {"--curve", training.curve_file}}));
  HONE_RETURN_IF_ERROR(CheckDifferent({{"--from", training.initial_weights},
                                       {"--state", training.state_file},
                                       {"--curve", training.curve_file}}));
  HONE_RETURN_IF_ERROR(CheckWritable(training.weights_file));
  HONE_RETURN_IF_ERROR(CheckWritable(training.state_file));
  if (!training.curve_file.empty()) {
    HONE_RETURN_IF_ERROR(CheckWritable(training.curve_file));
  }
  HONE_ASSIGN_OR_RETURN(const auto* const library,
                        optimizers::policies::LoadLibrary());
  HONE_ASSIGN_OR_RETURN(const TrainingSet set, data->make(options.data));
  training.on_progress = [&](const TrainingProgress& progress) {
    std::cerr << absl::StrFormat(
        "round %d of %d, update %d of %d, %.0f s: reward %.4f, entropy %.2f, "
        "labels %.3f, imitation %.3f, tuned/default on validation %.4f (best "
        "%.4f)\n",
        progress.label_round, training.label_rounds, progress.update,
        training.updates, progress.seconds, progress.mean_reward,
        progress.entropy, progress.label_loss, progress.imitation_loss,
        progress.validation, progress.best_validation);
  };
  training.on_note = [](const std::string& note) { std::cerr << note << "\n"; };
  HONE_ASSIGN_OR_RETURN(const TrainingResult result,
                        library->train(set, training));
  if (context.json) {
    PrintJson({{"weights", training.weights_file},
               {"updates", result.updates},
               {"validation", result.best_validation}});
  } else {
    std::cout << absl::StrFormat(
        "%s: tuned/default on validation problems %.4f after %d updates\n",
        training.weights_file, result.best_validation, result.updates);
  }
  return kDone;
}

}  // namespace

void AddTrainCommand(CLI::App& app, Context& context) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      AddCommand(app, context, "train",
                 "Train a policy, or a cost model; goes on where an "
                 "interrupted run stopped");
  AddTrainCostModelCommand(*command, context);
  AddTrainCostEnsembleCommand(*command, context);
  command->add_option("NAME", options->data_set,
                      absl::StrCat("What to train on: ", DescribeDataSets()));
  command->add_option("-o,--output", options->training.weights_file,
                      "File of the weights [NAME.pt]");
  command->add_option("--from", options->training.initial_weights,
                      "Weights to start from, in place of random ones");
  AddOptionOfSome(*command, *options, "corpus", options->data.corpus,
                  "folder of the corpus");
  AddOptionOfSome(*command, *options, "max-instructions",
                  options->data.max_instructions, "leave out larger modules")
      ->transform(WholeNumber(1, kMaxCount));
  AddOptionOfSome(*command, *options, "graphs", options->data.graphs,
                  "graphs to train on, generated or of the corpus by turns")
      ->transform(WholeNumber(1, kMaxCount));
  AddOptionOfSome(*command, *options, "partitions", options->data.partitions,
                  "folder of the graphs");
  AddOptionOfSome(*command, *options, "max-nodes", options->data.max_nodes,
                  "the most nodes of a generated graph, or about that")
      ->transform(WholeNumber(20, 1'000'000));
  command->add_option("--seed", options->training.seed, "Random seed")
      ->transform(WholeNumber(0, kMaxSeed))
      ->capture_default_str();
  command
      ->add_option("--updates", options->training.updates,
                   "PPO updates at the end")
      ->transform(WholeNumber(0, kMaxCount))
      ->capture_default_str();
  AddOptionOfSome(
      *command, *options, "search-trials", options->training.search_trials,
      "trials of the search that is imitated first; 0 to imitate nothing")
      ->transform(WholeNumber(0, kMaxCount));
  AddOptionOfSome(*command, *options, "teacher", options->training.teacher,
                  "the search that is imitated");
  command
      ->add_option(
          "--label-rounds", options->training.label_rounds,
          "Rounds of learning from labels: what each pass or move does, or "
          "the teacher's values")
      ->transform(WholeNumber(0, kMaxCount))
      ->capture_default_str();
  command
      ->add_option("--problems-per-update",
                   options->training.problems_per_update,
                   "Problems that a PPO update is made from")
      ->transform(WholeNumber(1, kMaxCount))
      ->capture_default_str();
  AddOptionOfSome(*command, *options, "episodes-per-problem",
                  options->training.episodes_per_problem,
                  "episodes, or assignments, of each problem of a PPO update")
      ->transform(WholeNumber(1, kMaxCount));
  command->add_option("--architecture", options->training.architecture,
                      "Of new weights, e.g. width=64,layers=3,aggregator=mean,"
                      "segment=0,conditioning=0,task_heads=0");
  command->add_flag("--partial", options->training.partial,
                    "Take of --from what fits, where it is of another "
                    "architecture or sees something else");
  command->add_option("--time", options->time,
                      "Stop after this long, e.g. 40m");
  command->add_option("--state", options->training.state_file,
                      "File of the training state [OUTPUT.state]");
  command->add_option("--curve", options->training.curve_file,
                      "CSV file, a line per update");
  command->callback([command, options, &context] {
    if (!command->get_subcommands().empty()) return;
    RunCommand(context, [&] { return Run(*options, context); });
  });
}

}  // namespace hone::cli
