// hone train: trains a policy.

#include <iostream>
#include <memory>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "cli/command.h"

#include "base/status_macros.h"
#include "bench/corpus.h"
#include "bench/pass_order_split.h"
#include "hlo/read_module.h"
#include "optimizers/policies/library.h"
#include "tuning/registry.h"
#include "tuning/task.h"

namespace hone::cli {
namespace {

using optimizers::policies::TrainingOptions;
using optimizers::policies::TrainingProblem;
using optimizers::policies::TrainingProgress;
using optimizers::policies::TrainingResult;
using optimizers::policies::TrainingSet;

struct Options {
  std::string corpus = "bench/data/corpus";
  // Larger modules are left out: they teach little that their smaller kin do
  // not, and take most of the time.
  int64_t max_instructions = 3000;
  std::string time;
  TrainingOptions training;
};

absl::StatusOr<TrainingSet> ReadTrainingSet(const Options& options) {
  HONE_ASSIGN_OR_RETURN(const std::vector<bench::CorpusEntry> corpus,
                        bench::ReadCorpus(options.corpus, ""));
  HONE_ASSIGN_OR_RETURN(const tuning::Task* const task,
                        tuning::FindTask("pass_order"));
  TrainingSet set;
  for (const bench::CorpusEntry& entry : corpus) {
    const bench::Split split = bench::SplitOf(entry.name);
    if (split == bench::Split::kTest) continue;
    HONE_ASSIGN_OR_RETURN(hlo::Module read, hlo::ReadModuleFile(entry.path));
    if (read.instruction_count() > options.max_instructions) continue;
    TrainingProblem problem;
    problem.name = entry.name;
    problem.make =
        [task, module = std::make_shared<const hlo::Module>(std::move(read))] {
          return task->MakeProblem(*module, {}, {});
        };
    (split == bench::Split::kTraining ? set.training : set.validation)
        .push_back(std::move(problem));
  }
  return set;
}

absl::StatusOr<int> Run(const Options& options, const Context& context) {
  TrainingOptions training = options.training;
  if (!options.time.empty()) {
    HONE_ASSIGN_OR_RETURN(training.time,
                          ParseDurationOption("--time", options.time));
  }
  if (training.state_file.empty()) {
    training.state_file = training.weights_file + ".state";
  }
  HONE_RETURN_IF_ERROR(CheckWritable(training.weights_file));
  HONE_RETURN_IF_ERROR(CheckWritable(training.state_file));
  if (!training.curve_file.empty()) {
    HONE_RETURN_IF_ERROR(CheckWritable(training.curve_file));
  }
  HONE_ASSIGN_OR_RETURN(const auto* const library,
                        optimizers::policies::LoadLibrary());
  HONE_ASSIGN_OR_RETURN(const TrainingSet set, ReadTrainingSet(options));
  if (set.training.empty()) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "--corpus '%s' --max-instructions %d: no modules to train on, expected "
        "1 or more",
        options.corpus, options.max_instructions));
  }
  std::cerr << absl::StrFormat("training on %d modules, validating on %d\n",
                               set.training.size(), set.validation.size());
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
        "%s: tuned/default on validation modules %.4f after %d updates\n",
        training.weights_file, result.best_validation, result.updates);
  }
  return kDone;
}

}  // namespace

void AddTrainCommand(CLI::App& app, Context& context) {
  CLI::App* parent = app.add_subcommand("train", "Train a policy");
  parent->require_subcommand(1);
  auto options = std::make_shared<Options>();
  options->training.weights_file = "pass_order.pt";
  CLI::App* command = AddCommand(*parent, context, "pass-order",
                                 "The policy that orders passes; goes on where "
                                 "an interrupted run stopped");
  command
      ->add_option("-o,--output", options->training.weights_file,
                   "File of the weights")
      ->capture_default_str();
  command->add_option("--from", options->training.initial_weights,
                      "Weights to start from, in place of random ones");
  command->add_option("--corpus", options->corpus, "Folder of the corpus")
      ->capture_default_str();
  command
      ->add_option("--max-instructions", options->max_instructions,
                   "Leave out larger modules")
      ->transform(WholeNumber(1, kMaxCount))
      ->capture_default_str();
  command->add_option("--seed", options->training.seed, "Random seed")
      ->transform(WholeNumber(0, kMaxSeed))
      ->capture_default_str();
  command
      ->add_option("--updates", options->training.updates,
                   "PPO updates at the end")
      ->transform(WholeNumber(0, kMaxCount))
      ->capture_default_str();
  command
      ->add_option("--search-trials", options->training.search_trials,
                   "Trials of the search that is imitated first; 0 to "
                   "imitate nothing")
      ->transform(WholeNumber(0, kMaxCount))
      ->capture_default_str();
  command
      ->add_option("--teacher", options->training.teacher,
                   "The search that is imitated")
      ->capture_default_str();
  command
      ->add_option("--label-rounds", options->training.label_rounds,
                   "Rounds of learning what each pass does")
      ->transform(WholeNumber(0, kMaxCount))
      ->capture_default_str();
  command
      ->add_option("--problems-per-update",
                   options->training.problems_per_update,
                   "Modules that a PPO update is made from")
      ->transform(WholeNumber(1, kMaxCount))
      ->capture_default_str();
  command
      ->add_option("--episodes-per-problem",
                   options->training.episodes_per_problem,
                   "Episodes of each of them")
      ->transform(WholeNumber(1, kMaxCount))
      ->capture_default_str();
  command->add_option("--architecture", options->training.architecture,
                      "Of new weights, e.g. width=64,layers=3,aggregator=mean,"
                      "segment=0,conditioning=0");
  command->add_flag("--partial", options->training.partial,
                    "Take of --from what fits another architecture");
  command->add_option("--time", options->time,
                      "Stop after this long, e.g. 40m");
  command->add_option("--state", options->training.state_file,
                      "File of the training state [OUTPUT.state]");
  command->add_option("--curve", options->training.curve_file,
                      "CSV file, a line per update");
  command->callback([options, &context] {
    RunCommand(context, [&] { return Run(*options, context); });
  });
}

}  // namespace hone::cli
