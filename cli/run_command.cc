// hone run: evaluates a module.

#include <cmath>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "cli/command.h"
#include "cli/kernel_schedules.h"
#include "cli/read_subject.h"

#include "backends/cpu/export/export.h"
#include "backends/cpu/host.h"
#include "backends/cpu/native_module.h"
#include "base/status_macros.h"
#include "base/thread_pool.h"
#include "hlo/equivalence/equivalence.h"
#include "hlo/evaluator/evaluator.h"
#include "hlo/inference/verifier.h"

namespace hone::cli {
namespace {

struct Options {
  std::string file;
  uint64_t seed = 0;
  double time_limit_seconds = 600;
  std::string target = "evaluator";
  int32_t threads = backends::DetectHost().machine.threads;
  // Path of the shared object; the header goes beside it.
  std::string library;
  // The folder of the store with tuned schedules; empty: the daemon's.
  std::string state;
  bool default_schedules = false;
};

struct Summary {
  double mean = 0;
  double min = 0;
  double max = 0;
  int64_t non_finite = 0;
};

Summary Summarize(const hlo::Literal& array) {
  Summary summary;
  int64_t finite = 0;
  double sum = 0;
  for (int64_t i = 0; i < array.num_elements(); ++i) {
    const double value = array.AsDouble(i);
    if (!std::isfinite(value)) {
      ++summary.non_finite;
      continue;
    }
    summary.min = finite == 0 ? value : std::min(summary.min, value);
    summary.max = finite == 0 ? value : std::max(summary.max, value);
    sum += value;
    ++finite;
  }
  if (finite > 0) summary.mean = sum / static_cast<double>(finite);
  return summary;
}

struct Execution {
  hlo::Literal result;
  absl::Duration time;
};

absl::StatusOr<Execution> Evaluate(const hlo::Module& module,
                                   absl::Span<const hlo::Literal> arguments,
                                   double time_limit_seconds) {
  ThreadPool pool(std::max(1u, std::thread::hardware_concurrency()));
  hlo::EvaluateOptions evaluate;
  evaluate.pool = &pool;
  evaluate.time_limit = absl::Seconds(time_limit_seconds);
  const absl::Time start = absl::Now();
  HONE_ASSIGN_OR_RETURN(hlo::Literal result,
                        hlo::Evaluate(module, arguments, evaluate));
  return Execution{std::move(result), absl::Now() - start};
}

// The second of two runs is timed: the first touches the memory.
absl::StatusOr<Execution> RunNatively(const hlo::Module& module,
                                      absl::Span<const hlo::Literal> arguments,
                                      int32_t threads,
                                      const backends::ScheduleSource& tuned) {
  HONE_ASSIGN_OR_RETURN(const auto native,
                        backends::NativeModule::Create(module, threads, tuned));
  HONE_RETURN_IF_ERROR(native->Run(arguments).status());
  const absl::Time start = absl::Now();
  HONE_ASSIGN_OR_RETURN(hlo::Literal result, native->Run(arguments));
  return Execution{std::move(result), absl::Now() - start};
}

// Says how many kernels have tuned schedules.
void Report(const PublishedSchedules& tuned, const Context& context) {
  if (context.json || tuned.found() == 0) return;
  std::cerr << absl::StrFormat("hone: tuned schedules for %d of %d kernels\n",
                               tuned.found(), tuned.asked());
}

absl::StatusOr<int> Export(const hlo::Module& module, const Options& options,
                           PublishedSchedules& tuned, const Context& context) {
  HONE_ASSIGN_OR_RETURN(
      const loops::ModulePlan plan,
      backends::LowerAndSchedule(module, options.threads, tuned.Source()));
  HONE_RETURN_IF_ERROR(
      backends::ExportModule(module, plan, options.threads, options.library));
  Report(tuned, context);
  if (context.json) {
    PrintJson({{"module", module.name()},
               {"exported", options.library},
               {"kernels", tuned.asked()},
               {"tuned_kernels", tuned.found()}});
  }
  return kDone;
}

absl::StatusOr<int> Run(const Options& options, const Context& context) {
  if (!options.library.empty()) {
    HONE_RETURN_IF_ERROR(backends::CheckLibraryPath(options.library));
    HONE_RETURN_IF_ERROR(CheckWritable(options.library));
  }
  HONE_ASSIGN_OR_RETURN(const hlo::Module module, ReadModule(options.file));
  HONE_RETURN_IF_ERROR(hlo::VerifyModule(module));
  const bool is_native = !options.library.empty() || options.target == "cpu";
  if (!options.state.empty() && !is_native) {
    return absl::InvalidArgumentError("--state needs --target cpu");
  }
  if (options.default_schedules && !is_native) {
    return absl::InvalidArgumentError("--default needs --target cpu");
  }
  std::unique_ptr<PublishedSchedules> tuned;
  if (options.default_schedules) {
    tuned = PublishedSchedules::None();
  } else if (is_native) {
    HONE_ASSIGN_OR_RETURN(tuned, PublishedSchedules::Open(
                                     context, options.state, options.threads));
  }
  if (!options.library.empty()) return Export(module, options, *tuned, context);
  HONE_ASSIGN_OR_RETURN(const std::vector<hlo::Literal> arguments,
                        hlo::RandomArguments(module, options.seed));
  HONE_ASSIGN_OR_RETURN(
      const Execution execution,
      options.target == "cpu"
          ? RunNatively(module, arguments, options.threads, tuned->Source())
          : Evaluate(module, arguments, options.time_limit_seconds));
  if (is_native) Report(*tuned, context);
  const double seconds = absl::ToDoubleSeconds(execution.time);
  const std::vector<hlo::Literal> arrays = hlo::Leaves(execution.result);
  nlohmann::ordered_json outputs = nlohmann::ordered_json::array();
  for (size_t i = 0; i < arrays.size(); ++i) {
    const Summary summary = Summarize(arrays[i]);
    const std::string shape = arrays[i].shape().ToString();
    if (context.json) {
      outputs.push_back({{"shape", shape},
                         {"mean", summary.mean},
                         {"min", summary.min},
                         {"max", summary.max},
                         {"non_finite", summary.non_finite}});
    } else {
      std::cout << absl::StrFormat(
          "output %d %s: mean %.6g, min %.6g, max %.6g, non-finite %d\n", i,
          shape, summary.mean, summary.min, summary.max, summary.non_finite);
    }
  }
  if (context.json) {
    nlohmann::ordered_json document = {{"module", module.name()},
                                       {"seed", options.seed},
                                       {"target", options.target},
                                       {"seconds", seconds}};
    if (is_native) {
      document["kernels"] = tuned->asked();
      document["tuned_kernels"] = tuned->found();
    }
    document["outputs"] = outputs;
    PrintJson(document);
  } else {
    std::cerr << absl::StrFormat("%s: evaluated in %.6g s\n", module.name(),
                                 seconds);
  }
  return kDone;
}

}  // namespace

void AddRunCommand(CLI::App& app, Context& context) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      AddCommand(app, context, "run", "Evaluate a module on random arguments");
  AddModuleArgument(*command, "FILE", options->file);
  command->add_option("--seed", options->seed, "Seed of the arguments")
      ->transform(WholeNumber(0, kMaxSeed))
      ->capture_default_str();
  command
      ->add_option("--target", options->target,
                   "The evaluator, or native code for this machine")
      ->check(CLI::IsMember({"evaluator", "cpu"}))
      ->capture_default_str();
  AddTimeLimitOption(*command, options->time_limit_seconds);
  command->add_option("--threads", options->threads, "Threads of native code")
      ->transform(WholeNumber(1, kMaxThreads))
      ->capture_default_str();
  command
      ->add_option("--export", options->library,
                   "Instead of running it, write native code as a shared "
                   "object, and its C header beside it")
      ->type_name("M.so");
  command
      ->add_option("--state", options->state,
                   "Folder of the store (hone tune --local --state) with tuned "
                   "schedules of native code; default: the daemon's, if one "
                   "answers")
      ->type_name("DIR");
  command
      ->add_flag("--default", options->default_schedules,
                 "Native code with default schedules, whatever is tuned")
      ->excludes("--state");
  command->callback([options, &context] {
    RunCommand(context, [&] { return Run(*options, context); });
  });
}

}  // namespace hone::cli
