#include "cli/kernel_benches.h"

#include <cstdint>
#include <limits>
#include <string>

#include "cli/add_bench.h"

#include "bench/compile.h"
#include "bench/kernel_searches.h"
#include "bench/kernel_sweep.h"
#include "bench/kernels.h"
#include "bench/measurement.h"
#include "bench/modules.h"

namespace hone::cli {
namespace {

using Json = nlohmann::ordered_json;

void AddKernelsOptions(CLI::App& command, bench::KernelsOptions& options) {
  command.add_option("--suite", options.suite, "Folder of the kernels")
      ->capture_default_str();
  command.add_option("--only", options.only,
                     "Regular expression that a kernel's name must match");
  command.add_option("--threads", options.threads, "Numbers of threads")
      ->delimiter(',')
      ->transform(WholeNumber(1, kMaxThreads))
      ->capture_default_str();
  command
      .add_option("--trials", options.trials,
                  "Trials of each search; 0: default schedules only")
      ->transform(WholeNumber(0, kMaxCount))
      ->capture_default_str();
  command.add_option("--optimizer", options.optimizer, "Search algorithm")
      ->capture_default_str();
  command.add_option("--seed", options.seed, "Seed of the searches")
      ->transform(WholeNumber(0, kMaxSeed))
      ->capture_default_str();
  command
      .add_option("--objects", options.objects, "Folder for the shared objects")
      ->capture_default_str();
  command
      .add_option("--python", options.python,
                  "Python with jax and torch; empty: leave out peers")
      ->capture_default_str();
  command
      .add_option("--rounds", options.rounds,
                  "Samples of each kernel beside its peers; even")
      ->transform(WholeNumber(1, kMaxCount))
      ->capture_default_str();
  command.add_flag("--compile", options.compile,
                   "With torch.compile; it needs a C++ compiler");
}

// The options of benches that bench/kernels times in Python.
void AddScriptOptions(CLI::App& command, std::string& only, int32_t& threads,
                      int32_t& rounds, std::string& python) {
  command.add_option("--only", only,
                     "Regular expression that a name must match");
  command.add_option("--threads", threads, "Number of threads")
      ->transform(WholeNumber(1, 2))
      ->capture_default_str();
  command
      .add_option("--rounds", rounds,
                  "Samples of each row beside its peers; even")
      ->transform(WholeNumber(1, kMaxCount))
      ->capture_default_str();
  command.add_option("--python", python, "Python with the peers")
      ->capture_default_str();
}

void AddKernelSweepOptions(CLI::App& command,
                           bench::KernelSweepOptions& options) {
  command.add_option("--count", options.count, "Number of random kernels")
      ->transform(WholeNumber(1, 100000))
      ->capture_default_str();
  command.add_option("--seed", options.seed, "Seed of the kernels")
      ->transform(WholeNumber(0, std::numeric_limits<uint32_t>::max()))
      ->capture_default_str();
  AddScriptOptions(command, options.only, options.threads, options.rounds,
                   options.python);
  command
      .add_option("--trials", options.trials,
                  "Trials of each kernel's tuning; 0: default schedules")
      ->transform(WholeNumber(0, 100000))
      ->capture_default_str();
  command
      .add_option("--limit", options.limit,
                  "Seconds after which a kernel counts as failed")
      ->transform(WholeNumber(1, 100000))
      ->capture_default_str();
  command.add_flag("--compile", options.compile,
                   "With torch.compile; it needs a C++ compiler");
  command.add_option("--resume", options.resume,
                     "File to write after each kernel, and to continue if it "
                     "is there [none]");
}

void AddUserProgramsOptions(CLI::App& command, bench::ModulesOptions& options) {
  AddScriptOptions(command, options.only, options.threads, options.rounds,
                   options.python);
  command
      .add_option("--limit", options.limit,
                  "Seconds after which a module counts as not equal")
      ->transform(WholeNumber(1, 100000))
      ->capture_default_str();
  command
      .add_option("--xla-limit", options.xla_limit,
                  "Seconds after which XLA counts as not compiling a module, "
                  "which is then compared with the evaluator")
      ->transform(WholeNumber(1, 100000))
      ->capture_default_str();
  command.add_option("--tuned", options.tuned,
                     "Folder of tuned shared objects, NAME.so, to time too "
                     "[none]");
}

void AddModulesOptions(CLI::App& command, bench::ModulesOptions& options) {
  AddUserProgramsOptions(command, options);
  command
      .add_option("--instructions", options.instructions,
                  "Leave out modules of more instructions")
      ->transform(WholeNumber(1, kMaxCount))
      ->capture_default_str();
}

void AddCompileOptions(CLI::App& command, bench::CompileOptions& options) {
  command
      .add_option("--layers", options.layers,
                  "Layers of the models, a row each")
      ->delimiter(',')
      ->transform(WholeNumber(1, 1000))
      ->capture_default_str();
  command.add_option("--threads", options.threads, "Number of threads")
      ->transform(WholeNumber(1, 2))
      ->capture_default_str();
  command
      .add_option("--limit", options.limit,
                  "Seconds after which a step counts as not compiled")
      ->transform(WholeNumber(1, 100000))
      ->capture_default_str();
  command.add_option("--figure", options.figure,
                     "File of a figure of the times, SVG [none]");
  command.add_option("--python", options.python, "Python with jax")
      ->capture_default_str();
}

// Exit status 1 if Hone does not compile a step.
int CompileStatus(const Json& document) {
  for (const Json& row : document.at("rows")) {
    if (row.at("hone").contains("failure")) return kAnswerIsNo;
  }
  return kDone;
}

// Exit status 1 if a module has other results than XLA's, or none.
int EqualStatus(const Json& document) {
  for (const Json& row : document.at("rows")) {
    if (!row.at("equal").get<bool>()) return kAnswerIsNo;
  }
  return kDone;
}

// Exit status 1 if a row failed.
int RowStatus(const Json& document) {
  for (const Json& row : document.at("rows")) {
    if (row.contains("failure")) return kAnswerIsNo;
  }
  return kDone;
}

void AddKernelSearchesOptions(CLI::App& command,
                              bench::KernelSearchesOptions& options) {
  command.add_option("--suite", options.suite, "Folder of the kernels")
      ->capture_default_str();
  command
      .add_option("--only", options.only,
                  "Regular expression that a kernel's name must match")
      ->capture_default_str();
  command.add_option("--search", options.optimizers, "Optimizers")
      ->delimiter(',')
      ->capture_default_str();
  command
      .add_option("--trials", options.trials,
                  "Budgets of each search, which goes on after each, in "
                  "ascending order")
      ->delimiter(',')
      ->transform(WholeNumber(1, kMaxCount))
      ->capture_default_str();
  command.add_option("--seeds", options.seeds, "Searches with each optimizer")
      ->transform(WholeNumber(1, kMaxCount))
      ->capture_default_str();
  command.add_option("--threads", options.threads, "Threads of parallel loops")
      ->transform(WholeNumber(1, kMaxThreads))
      ->capture_default_str();
}

void AddMeasurementOptions(CLI::App& command,
                           bench::MeasurementOptions& options) {
  command.add_option("--suite", options.suite, "Folder of the kernels")
      ->capture_default_str();
  command
      .add_option("--comparisons", options.comparisons,
                  "Comparisons of each kernel with itself")
      ->transform(WholeNumber(1, 10000))
      ->capture_default_str();
  command.add_option("--rounds", options.rounds, "Samples of other figures")
      ->transform(WholeNumber(1, 100000))
      ->capture_default_str();
}

}  // namespace

void AddKernelBenches(CLI::App& bench, Context& context) {
  AddBench(bench, context, "kernels",
           "Kernels, by default and tuned, beside PyTorch and XLA:CPU",
           AddKernelsOptions, bench::RunKernelsBench);
  AddBench(bench, context, "kernel-sweep",
           "Random kernels of all classes beside PyTorch, XLA:CPU and NumPy",
           AddKernelSweepOptions, bench::RunKernelSweepBench, RowStatus);
  AddBench(bench, context, "modules",
           "Whole modules of the corpus beside XLA:CPU", AddModulesOptions,
           bench::RunModulesBench, EqualStatus);
  AddBench(bench, context, "user-programs",
           "Programs like those reported as slow on CPUs, beside XLA:CPU",
           AddUserProgramsOptions, bench::RunUserProgramsBench, EqualStatus);
  AddBench(bench, context, "compile",
           "Compile times of training steps of growing size beside XLA:CPU",
           AddCompileOptions, bench::RunCompileBench, CompileStatus);
  AddBench(bench, context, "kernel-searches",
           "Searches for kernels' schedules at equal budgets",
           AddKernelSearchesOptions, bench::RunKernelSearchesBench);
  AddBench(
      bench, context, "measurement",
      "The cost of measuring kernels, and kernels compared with themselves",
      AddMeasurementOptions, bench::RunMeasurementBench);
}

}  // namespace hone::cli
