// hone kernel: shows a kernel as a loop program, its legal transformations and
// its time.

#include <algorithm>
#include <iostream>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/command.h"
#include "cli/read_script.h"
#include "cli/read_subject.h"

#include "backends/cpu/compiler.h"
#include "backends/cpu/export/export.h"
#include "backends/cpu/host.h"
#include "backends/process/local_kernels.h"
#include "backends/roofline.h"
#include "base/status_macros.h"
#include "hlo/inference/verifier.h"
#include "hlo/text/printer.h"
#include "loops/lowering/lowering.h"
#include "loops/schedules/default_schedule.h"
#include "loops/text/text.h"
#include "loops/transforms/script.h"

namespace hone::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr absl::Duration kCandidateTimeout = absl::Minutes(1);

struct Options {
  std::string file;
  std::string script;
  bool scheduled = false;
  bool moves = false;
  bool time = false;
  bool llvm = false;
  // Of the shared object; the header goes beside it.
  std::string library;
  int32_t threads = 1;
};

// The times of the default schedule and, if there is one, of the script's, by a
// measuring process.
absl::StatusOr<backends::KernelReport> Measure(
    const hlo::Module& module, const std::string& default_script,
    const std::string& script, int32_t threads) {
  backends::KernelRequest request;
  request.module = hlo::PrintModule(module);
  request.baseline_script = default_script;
  if (!script.empty()) request.candidate_scripts.push_back(script);
  request.threads = threads;
  request.timeout = kCandidateTimeout;
  request.time_baseline = true;
  request.calibrate = true;
  return backends::LocalKernels().Measure(
      request, backends::HostDevice().fingerprint, /*stop=*/nullptr);
}

Json TimeJson(const backends::KernelTiming& timing, double roofline_ns) {
  Json json = {{"outcome", space::OutcomeName(timing.outcome)}};
  if (timing.outcome != space::Outcome::kOk) {
    json["message"] = timing.message;
    return json;
  }
  json["ns"] = timing.ns;
  json["samples_ns"] = timing.samples_ns;
  json["roofline_ns"] = roofline_ns;
  json["percent_of_roofline"] = 100 * roofline_ns / timing.ns;
  json["max_rel_error"] = timing.max_rel_error;
  json["compile_ms"] = absl::ToDoubleMilliseconds(timing.compile_time);
  return json;
}

void PrintTime(const std::string& name, const backends::KernelTiming& timing,
               double roofline_ns) {
  if (timing.outcome != space::Outcome::kOk) {
    std::cout << absl::StrFormat("%-9s %s: %s\n", name,
                                 space::OutcomeName(timing.outcome),
                                 timing.message);
    return;
  }
  std::cout << absl::StrFormat(
      "%-9s %.2f us, %.0f %% of the roofline (%.2f us); compiled in %.0f ms, "
      "largest relative error %.1e\n",
      name, timing.ns / 1e3, 100 * roofline_ns / timing.ns, roofline_ns / 1e3,
      absl::ToDoubleMilliseconds(timing.compile_time), timing.max_rel_error);
}

absl::Status AddTime(const hlo::Module& module,
                     const std::string& default_script,
                     const std::string& script, const Options& options,
                     const Context& context, Json& document) {
  HONE_ASSIGN_OR_RETURN(
      const backends::KernelReport report,
      Measure(module, default_script, script, options.threads));
  double fastest_ns = std::numeric_limits<double>::infinity();
  const auto count = [&](const backends::KernelTiming& timing) {
    if (timing.outcome != space::Outcome::kOk) return;
    fastest_ns = std::min(fastest_ns, timing.ns);
  };
  count(*report.baseline);
  for (const backends::KernelTiming& timing : report.candidates) count(timing);
  const double roofline_ns = backends::RooflineNs(
      *report.calibration, backends::LeastWorkOf(module), fastest_ns);
  if (context.json) {
    document["default"] = TimeJson(*report.baseline, roofline_ns);
    for (const backends::KernelTiming& timing : report.candidates) {
      document["replayed"] = TimeJson(timing, roofline_ns);
    }
    document["peak_gflops"] = report.calibration->peak_gflops;
    document["peak_gflops_of"] = {
        {"f64", report.calibration->f64_gflops},
        {"bf16_dot", report.calibration->bf16_dot_gflops},
        {"s16_dot", report.calibration->s16_dot_gflops},
        {"s8_dot", report.calibration->s8_dot_gflops}};
    return absl::OkStatus();
  }
  PrintTime("default", *report.baseline, roofline_ns);
  for (const backends::KernelTiming& timing : report.candidates) {
    PrintTime("replayed", timing, roofline_ns);
  }
  return absl::OkStatus();
}

absl::StatusOr<int> Run(const Options& options, const Context& context) {
  if (!options.library.empty()) {
    HONE_RETURN_IF_ERROR(backends::CheckLibraryPath(options.library));
    HONE_RETURN_IF_ERROR(CheckWritable(options.library));
  }
  HONE_ASSIGN_OR_RETURN(const hlo::Module module, ReadModule(options.file));
  HONE_RETURN_IF_ERROR(hlo::VerifyModule(module));
  HONE_ASSIGN_OR_RETURN(loops::Program program, loops::LowerToProgram(module));
  loops::Machine machine = backends::DetectHost().machine;
  machine.threads = options.threads;
  const std::string default_script =
      loops::PrintScript(loops::DefaultSchedule(program, machine));
  std::string replayed;
  if (!options.script.empty()) {
    HONE_ASSIGN_OR_RETURN(replayed, ReadScript(options.script));
    HONE_ASSIGN_OR_RETURN(program, Replay(program, replayed, options.script));
  } else if (options.scheduled) {
    HONE_ASSIGN_OR_RETURN(
        program, Replay(program, default_script, "the default schedule"));
  }
  Json document = {{"program", loops::PrintProgram(program)},
                   {"default_script", default_script}};
  if (!context.json) {
    std::cout << loops::PrintProgramWithPaths(program);
    if (options.scheduled) std::cout << '\n' << default_script;
  }
  if (!options.library.empty()) {
    HONE_RETURN_IF_ERROR(
        backends::ExportKernel(program, options.threads, options.library));
    document["exported"] = options.library;
  }
  if (options.llvm) {
    HONE_ASSIGN_OR_RETURN(
        const std::string text,
        backends::EmitLlvmText(program, "kernel", /*optimized=*/true));
    if (!context.json) std::cout << '\n' << text;
    document["llvm"] = text;
  }
  const bool all = !options.moves && !options.time && !options.llvm &&
                   options.library.empty();
  if (options.moves || all) {
    document["moves"] = Json::array();
    if (!context.json) std::cout << '\n';
    for (const loops::Step& step : loops::LegalSteps(program, machine)) {
      const std::string text = loops::PrintStep(step);
      if (!context.json) std::cout << text << '\n';
      document["moves"].push_back(text);
    }
  }
  if (options.time || all) {
    if (!context.json) std::cout << '\n';
    HONE_RETURN_IF_ERROR(
        AddTime(module, default_script, replayed, options, context, document));
  }
  if (context.json) PrintJson(document);
  return kDone;
}

}  // namespace

void AddKernelCommand(CLI::App& app, Context& context) {
  auto options = std::make_shared<Options>();
  CLI::App* command = AddCommand(
      app, context, "kernel",
      "Show a module as a loop program. Without --moves, --time, --llvm and "
      "--export, also show its legal transformations and its time");
  AddModuleArgument(*command, "FILE", options->file);
  command->add_option(
      "--replay", options->script,
      "Apply the script in this file, one transformation per line");
  command
      ->add_flag("--default", options->scheduled,
                 "Apply the default schedule and show it")
      ->excludes("--replay");
  command->add_flag("--moves", options->moves,
                    "List the legal transformations");
  command->add_flag(
      "--time", options->time,
      "Check the kernel against the evaluator, time it, and compare "
      "its time with the roofline of this machine");
  command
      ->add_option("--threads", options->threads, "Threads of parallel loops")
      ->transform(WholeNumber(1, kMaxThreads))
      ->capture_default_str();
  command
      ->add_option("--export", options->library,
                   "Write the program as a shared object, and its C header "
                   "beside it")
      ->type_name("K.so");
  command->add_flag("--llvm", options->llvm, "Show the optimized LLVM IR");
  command->callback([options, &context] {
    RunCommand(context, [&] { return Run(*options, context); });
  });
}

}  // namespace hone::cli
