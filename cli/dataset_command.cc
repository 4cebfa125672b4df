// hone dataset: collects data for cost models to learn from.

#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "cli/command.h"
#include "cli/distinct_files.h"
#include "cli/interrupt_note.h"

#include "backends/process/local_kernels.h"
#include "base/files.h"
#include "base/status_macros.h"
#include "bench/cost_model/collect_kernels.h"
#include "bench/cost_model/collect_tpu.h"
#include "bench/cost_model/kernel_data.h"
#include "bench/cost_model/split_name.h"

namespace hone::cli {
namespace {

struct KernelsArguments {
  bench::CollectKernelsOptions options;
  std::string time;
};

absl::StatusOr<int> CollectKernels(const KernelsArguments& arguments,
                                   const Context& context) {
  bench::CollectKernelsOptions options = arguments.options;
  if (!arguments.time.empty()) {
    HONE_ASSIGN_OR_RETURN(options.time,
                          ParseDurationOption("--time", arguments.time));
  }
  HONE_RETURN_IF_ERROR(CheckWritable(options.output));
  const InterruptNote note(options.output +
                           ": the same command goes on from here\n");
  backends::LocalKernels measurer;
  HONE_ASSIGN_OR_RETURN(const bench::CollectedKernels collected,
                        bench::CollectKernels(options, measurer, std::cerr));
  if (context.json) {
    PrintJson({{"data", options.output},
               {"kernels", collected.kernels},
               {"schedules", collected.schedules},
               {"failures", collected.failures},
               {"refused", collected.refused},
               {"seconds", collected.seconds}});
  } else {
    std::cout << absl::StrFormat(
        "%s: %d schedules of %d kernels in %.1f s, of which %d failed; %d "
        "kernels cannot be measured\n",
        options.output, collected.schedules, collected.kernels,
        collected.seconds, collected.failures, collected.refused);
  }
  return kDone;
}

void AddKernels(CLI::App& parent, Context& context) {
  auto arguments = std::make_shared<KernelsArguments>();
  bench::CollectKernelsOptions& options = arguments->options;
  CLI::App* command = AddCommand(
      parent, context, "kernels",
      "Measure schedules of kernels on this machine; goes on where an "
      "interrupted run stopped");
  command->add_option("-o,--output", options.output, "Data file, JSON lines")
      ->required();
  command->add_option("--suite", options.suite, "Folder of the kernel suite")
      ->capture_default_str();
  command
      ->add_option("--kernels", options.kernels,
                   "Number of kernels: those of the suite, then random ones")
      ->transform(WholeNumber(1, kMaxCount))
      ->capture_default_str();
  command
      ->add_option("--composites", options.composites,
                   "Number of random kernels of several computations, besides")
      ->transform(WholeNumber(0, kMaxCount))
      ->capture_default_str();
  command
      ->add_option("--schedules", options.schedules,
                   "Schedules of each kernel besides the default")
      ->transform(WholeNumber(1, kMaxCount))
      ->capture_default_str();
  command->add_option("--seed", options.seed, "Seed of kernels and schedules")
      ->transform(WholeNumber(0, kMaxSeed))
      ->capture_default_str();
  command->add_option("--threads", options.threads, "Number of threads")
      ->transform(WholeNumber(1, kMaxThreads))
      ->capture_default_str();
  command->add_option("--only", options.only,
                      "Regular expression that a kernel's name must match");
  command->add_option("--time", arguments->time,
                      "Begin no further kernel after this long, e.g. 12m");
  command->callback([arguments, &context] {
    RunCommand(context, [&] { return CollectKernels(*arguments, context); });
  });
}

absl::StatusOr<int> CollectTpu(const bench::CollectTpuOptions& options,
                               const Context& context) {
  HONE_RETURN_IF_ERROR(CheckWritable(options.output));
  const InterruptNote note(options.output +
                           ": the same command goes on from here\n");
  HONE_ASSIGN_OR_RETURN(const bench::CollectedTpu collected,
                        bench::CollectTpu(options, std::cerr));
  if (context.json) {
    PrintJson({{"data", options.output},
               {"present", collected.present},
               {"programs", collected.programs},
               {"kernels", collected.kernels},
               {"configs", collected.configs},
               {"seconds", collected.seconds}});
  } else {
    std::cout << absl::StrFormat(
        "%s: added %d configurations of %d kernels of %d programs in %.1f s\n",
        options.output, collected.configs, collected.kernels,
        collected.programs, collected.seconds);
    if (collected.present > 0) {
      std::cout << absl::StrFormat(
          "%d programs were there and stay as they are; for others of "
          "--kernels, --configs or --seed name a new file\n",
          collected.present);
    }
  }
  return kDone;
}

void AddTpu(CLI::App& parent, Context& context) {
  auto options = std::make_shared<bench::CollectTpuOptions>();
  CLI::App* command = AddCommand(
      parent, context, "tpu",
      "Simulate kernels of programs on a TPU under random fusions, layouts, "
      "tiles and flags; goes on where an interrupted run stopped");
  command->add_option("-o,--output", options->output, "Data file, JSON lines")
      ->required();
  command->add_option("--tpu", options->tpu, "Name of a bundled TPU")
      ->capture_default_str();
  command
      ->add_option("--kernels", options->kernels,
                   "Kernels of each program, each at other sizes too")
      ->transform(WholeNumber(1, kMaxCount))
      ->capture_default_str();
  command
      ->add_option("--configs", options->configs,
                   "Configurations of each kernel, the default included")
      ->transform(WholeNumber(1, kMaxCount))
      ->capture_default_str();
  command
      ->add_option("--seed", options->seed,
                   "Seed of fusions, kernels and configurations")
      ->transform(WholeNumber(0, kMaxSeed))
      ->capture_default_str();
  command->add_option("--corpus", options->corpus, "Folder of the corpus")
      ->capture_default_str();
  command
      ->add_option("--partitions", options->partitions,
                   "Folder of the inference models")
      ->capture_default_str();
  command->add_option("--only", options->only,
                      "Regular expression that a program's name must match");
  command
      ->add_option("--random", options->random,
                   "Random kernels besides the programs")
      ->transform(WholeNumber(0, kMaxCount))
      ->capture_default_str();
  command->callback([options, &context] {
    RunCommand(context, [&] { return CollectTpu(*options, context); });
  });
}

struct FeaturesArguments {
  std::string data;
  std::string split = "bench/data/cost_model/kernel_split.json:manual";
  std::string output;
};

absl::StatusOr<int> WriteFeatures(const FeaturesArguments& arguments,
                                  const Context& context) {
  HONE_RETURN_IF_ERROR(CheckWritable(arguments.output));
  HONE_RETURN_IF_ERROR(CheckDistinctFiles(
      {{"-o", arguments.output}},
      {{"DATA", arguments.data},
       {"--split", bench::ParseSplitName(arguments.split).path}}));
  HONE_ASSIGN_OR_RETURN(const bench::KernelSplit split,
                        bench::KernelSplit::Read(arguments.split));
  HONE_ASSIGN_OR_RETURN(
      const std::vector<bench::KernelGroup> groups,
      bench::ReadKernelData(arguments.data, split, /*with_graphs=*/false));
  std::ostringstream table;
  bench::WriteFeatureTable(groups, table);
  HONE_RETURN_IF_ERROR(
      WriteFileAtomically(arguments.output, std::move(table).str()));
  size_t schedules = 0;
  for (const bench::KernelGroup& group : groups) {
    schedules += group.schedules.size();
  }
  if (context.json) {
    PrintJson({{"features", arguments.output},
               {"kernels", groups.size()},
               {"schedules", schedules}});
  } else {
    std::cout << absl::StrFormat("%s: features of %d schedules of %d kernels\n",
                                 arguments.output, schedules, groups.size());
  }
  return kDone;
}

void AddKernelFeatures(CLI::App& parent, Context& context) {
  auto arguments = std::make_shared<FeaturesArguments>();
  CLI::App* command =
      AddCommand(parent, context, "kernel-features",
                 "Write the features of measured schedules of kernels as a "
                 "table, for other learners");
  command->add_option("DATA", arguments->data, "Data file of kernels")
      ->required();
  command->add_option("-o,--output", arguments->output, "CSV file")->required();
  command
      ->add_option("--split", arguments->split,
                   "The division into training, validation and test: FILE or "
                   "FILE:NAME")
      ->capture_default_str();
  command->callback([arguments, &context] {
    RunCommand(context, [&] { return WriteFeatures(*arguments, context); });
  });
}

}  // namespace

void AddDatasetCommand(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand(
      "dataset", "Collect data for cost models to learn from");
  command->require_subcommand(1);
  AddKernels(*command, context);
  AddTpu(*command, context);
  AddKernelFeatures(*command, context);
}

}  // namespace hone::cli
