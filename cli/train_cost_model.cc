#include "cli/train_cost_model.h"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "cli/distinct_files.h"

#include "base/status_macros.h"
#include "bench/cost_model/cost_data_set.h"
#include "optimizers/policies/library.h"

namespace hone::cli {
namespace {

using learning::CostProgress;
using learning::CostSpec;
using learning::CostTarget;
using learning::HeadMetrics;
using learning::ProgramMetrics;
using Json = nlohmann::ordered_json;

struct Options {
  std::string data_set;
  bench::CostDataOptions data;
  // Those that only some data sets use, as they were given.
  std::vector<const CLI::Option*> of_some;
  std::string architecture;
  std::string loss = "hinge";
  std::string time;
  learning::CostTraining training;
};

std::string DescribeDataSets() {
  return absl::StrJoin(bench::CostDataSets(), "; ",
                       [](std::string* out, const bench::CostDataSet& set) {
                         absl::StrAppend(out, set.id, ": ", set.contents);
                       });
}

// Fails if an option was given that the data set does not use, or a file that
// it needs was not.
absl::Status CheckUsed(const Options& options, const bench::CostDataSet& set) {
  for (const CLI::Option* const option : options.of_some) {
    const std::string& name = option->get_lnames().front();
    const bool given = option->count() > 0;
    if (given && !set.Uses(name)) {
      return absl::InvalidArgumentError(
          absl::StrCat("--", name, ": data set ", set.id,
                       " does not use it, expected: ", set.options));
    }
    if (!given && set.Uses(name) && name != "kernels") {
      return absl::InvalidArgumentError(
          absl::StrCat("--", name, " is required for data set ", set.id));
    }
  }
  return absl::OkStatus();
}

// Not defined if no group has two times.
std::string KendallText(double kendall) {
  return std::isfinite(kendall) ? absl::StrFormat("Kendall %.3f, ", kendall)
                                : "";
}

// "time: MAPE 2.1 %; tile: APE 0.8 %, Kendall 0.98, top 5 0.2 %".
std::string Describe(const CostSpec& spec,
                     absl::Span<const ProgramMetrics> programs) {
  std::vector<std::string> heads;
  for (size_t h = 0; h < spec.heads.size(); ++h) {
    const HeadMetrics metrics =
        learning::MeanOverPrograms(programs, static_cast<int32_t>(h));
    if (metrics.mean.kernels == 0) continue;
    heads.push_back(spec.heads[h].target == CostTarget::kTime
                        ? absl::StrFormat("%s: MAPE %.2f %%",
                                          spec.heads[h].name, metrics.mean.mape)
                        : absl::StrFormat("%s: APE %.2f %%, %stop 5 %.2f %%",
                                          spec.heads[h].name, metrics.mean.ape,
                                          KendallText(metrics.mean.kendall),
                                          metrics.mean.top5));
  }
  return absl::StrJoin(heads, "; ");
}

// Numbers that are not defined become null.
Json HeadsJson(const CostSpec& spec,
               absl::Span<const ProgramMetrics> programs) {
  Json heads = Json::array();
  for (size_t h = 0; h < spec.heads.size(); ++h) {
    const HeadMetrics metrics =
        learning::MeanOverPrograms(programs, static_cast<int32_t>(h));
    heads.push_back({{"head", spec.heads[h].name},
                     {"kernels", metrics.mean.kernels},
                     {"samples", metrics.mean.samples},
                     {"mape", metrics.mean.mape},
                     {"median_mape", metrics.median_mape},
                     {"ape", metrics.mean.ape},
                     {"median_ape", metrics.median_ape},
                     {"kendall", metrics.mean.kendall},
                     {"top1", metrics.mean.top1},
                     {"top5", metrics.mean.top5}});
  }
  return heads;
}

absl::StatusOr<int> Run(const Options& options, const Context& context) {
  HONE_ASSIGN_OR_RETURN(const bench::CostDataSet* const data,
                        bench::CostDataSets().Find(options.data_set));
  HONE_RETURN_IF_ERROR(CheckUsed(options, *data));
  learning::CostTraining training = options.training;
  HONE_ASSIGN_OR_RETURN(training.architecture,
                        learning::ParseCostOptions(options.architecture));
  HONE_ASSIGN_OR_RETURN(training.options.order_loss,
                        learning::ParseOrderLoss(options.loss));
  if (!options.time.empty()) {
    HONE_ASSIGN_OR_RETURN(training.time,
                          ParseDurationOption("--time", options.time));
  }
  if (training.state_file.empty()) {
    training.state_file = training.weights_file + ".state";
  }
  const NamedPath state = {"--state", training.state_file};
  HONE_RETURN_IF_ERROR(CheckDistinctFiles(
      {{"-o", training.weights_file}, state},
      {{"--data", options.data.data}, {"--split", options.data.split}}));
  HONE_RETURN_IF_ERROR(
      CheckDistinctFiles({state}, {{"--from", training.initial_weights}}));
  HONE_RETURN_IF_ERROR(CheckWritable(training.weights_file));
  HONE_RETURN_IF_ERROR(CheckWritable(training.state_file));
  HONE_ASSIGN_OR_RETURN(const auto* const library,
                        optimizers::policies::LoadLibrary());
  bench::CostDataOptions data_options = options.data;
  data_options.seed = training.options.seed;
  HONE_ASSIGN_OR_RETURN(const learning::CostTrainingSet set,
                        data->make(data_options));
  training.on_progress = [&](const CostProgress& progress) {
    std::cerr << absl::StrFormat(
        "epoch %d of %d, %.0f s, %.0f samples/s: loss %.4f; %s %s; "
        "error %.3f (best %.3f)\n",
        progress.epoch, training.options.epochs, progress.seconds,
        progress.samples_per_second, progress.loss,
        set.validation.empty() ? "training" : "validation",
        Describe(set.spec, progress.metrics), progress.error,
        progress.best_error);
  };
  HONE_ASSIGN_OR_RETURN(const learning::CostTrainingResult result,
                        library->train_cost_model(set, training));
  if (context.json) {
    PrintJson({{"weights", training.weights_file},
               {"epochs", result.epochs},
               {"error", result.best_error},
               {"heads", HeadsJson(set.spec, result.metrics)}});
  } else {
    std::cout << absl::StrFormat(
        "%s: %s after %d epochs\n", training.weights_file,
        Describe(set.spec, result.metrics), result.epochs);
  }
  return kDone;
}

// Adds an option for a finite number of at least 0.
void AddNumber(CLI::App& command, const std::string& name, double& value,
               const std::string& description) {
  const auto error_of = [](const std::string& text) -> std::string {
    double number = 0;
    if (absl::SimpleAtod(text, &number) && std::isfinite(number) &&
        number >= 0) {
      return "";
    }
    return absl::StrCat("'", text, "', expected a number of 0 or more");
  };
  command.add_option(name, value, description)
      ->check(CLI::Validator(error_of, "0 or more"))
      ->capture_default_str();
}

void AddCount(CLI::App& command, const std::string& name, auto& value,
              const std::string& description) {
  command.add_option(name, value, description)
      ->transform(WholeNumber(1, kMaxCount))
      ->capture_default_str();
}

}  // namespace

void AddTrainCostModelCommand(CLI::App& train, Context& context) {
  auto options = std::make_shared<Options>();
  CLI::App* command = AddCommand(
      train, context, "cost-model",
      "Train a model of the times of kernels and their configurations");
  command
      ->add_option("NAME", options->data_set,
                   absl::StrCat("What to train on: ", DescribeDataSets()))
      ->required();
  options->training.weights_file = "cost_model.pt";
  command
      ->add_option("-o,--output", options->training.weights_file,
                   "File of the weights")
      ->capture_default_str();
  command->add_option("--from", options->training.initial_weights,
                      "Weights to start from, in place of random ones");
  options->of_some = {
      command->add_option("--data", options->data.data,
                          "File of measured kernels, one a line"),
      command->add_option("--split", options->data.split,
                          "File that says which kernels are trained on"),
      command
          ->add_option("--kernels", options->data.kernels, "Kernels to make up")
          ->transform(WholeNumber(1, 1'000'000))
          ->capture_default_str()};
  command->add_option(
      "--architecture", options->architecture,
      absl::StrCat("Of new weights [", learning::PrintCostOptions({}),
                   "]. encoder: sage, attention or sequence; aggregator: mean, "
                   "sum or max; reduction: one or several of mean, sum, max, "
                   "lstm and transformer, joined by +; join: early or late"));
  command
      ->add_option("--loss", options->loss,
                   "What orders are learned by: hinge, logistic or squared")
      ->capture_default_str();
  learning::CostTrainingOptions& training = options->training.options;
  command->add_option("--seed", training.seed, "Random seed")
      ->transform(WholeNumber(0, kMaxSeed))
      ->capture_default_str();
  AddCount(*command, "--epochs", training.epochs,
           "Passes over the training kernels");
  AddCount(*command, "--groups-per-batch", training.groups_per_batch,
           "Groups of configurations of a step, those that one head "
           "compares");
  AddCount(*command, "--samples-per-group", training.samples_per_group,
           "The most configurations of a kernel in a step");
  AddNumber(*command, "--learning-rate", training.learning_rate,
            "The highest learning rate");
  AddNumber(*command, "--weight-decay", training.weight_decay,
            "By which weights shrink, times the learning rate");
  AddNumber(*command, "--input-noise", training.input_noise,
            "Deviation of noise on the standardized features, for few kernels");
  command->add_option("--time", options->time,
                      "Stop after this long, e.g. 40m");
  command->add_option("--state", options->training.state_file,
                      "File of the training state [OUTPUT.state]");
  command->callback([options, &context] {
    RunCommand(context, [&] { return Run(*options, context); });
  });
}

}  // namespace hone::cli
