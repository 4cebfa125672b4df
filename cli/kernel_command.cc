// hone kernel: a kernel as a loop program, what can be done to it, what it
// costs.

#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/command.h"
#include "cli/measure_process.h"

#include "backends/cpu/calibration.h"
#include "backends/cpu/compiler.h"
#include "backends/cpu/host.h"
#include "backends/cpu/shared_object.h"
#include "base/status_macros.h"
#include "hlo/cost_analysis.h"
#include "hlo/read_module.h"
#include "hlo/text_printer.h"
#include "hlo/verifier.h"
#include "loops/lowering/lowering.h"
#include "loops/schedules/default_schedule.h"
#include "loops/text.h"
#include "loops/transforms/script.h"

namespace hone::cli {
namespace {

using Json = nlohmann::ordered_json;

// Longer than any candidate takes.
constexpr absl::Duration kMeasureTimeout = absl::Minutes(5);

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

// The least that a kernel has to do.
struct LeastWork {
  double flops = 0;
  double bytes_read = 0;
  double bytes_written = 0;
};

LeastWork LeastWorkOf(const hlo::Module& module) {
  LeastWork work;
  work.flops = hlo::CostAnalysis(module).ModuleCosts().flops;
  const hlo::Computation& entry = module.entry_computation();
  for (hlo::InstructionId id : entry.parameters()) {
    work.bytes_read += static_cast<double>(entry[id].shape().byte_size());
  }
  work.bytes_written =
      static_cast<double>(entry[entry.root()].shape().byte_size());
  return work;
}

backends::Calibration FromProto(const v1::Calibration& proto) {
  backends::Calibration calibration;
  calibration.peak_gflops = proto.peak_gflops();
  for (const v1::Calibration::Level& level : proto.levels()) {
    calibration.levels.push_back(
        {level.bytes(), level.read_gbps(), level.copy_gbps()});
  }
  return calibration;
}

// The times of the default schedule and, if there is one, of the script's, by a
// measuring process.
absl::StatusOr<v1::KernelReport> Measure(const hlo::Module& module,
                                         const std::string& default_script,
                                         const std::string& script,
                                         int32_t threads) {
  v1::Work work;
  v1::KernelWork& kernel = *work.mutable_kernel();
  kernel.set_module(hlo::PrintModule(module));
  kernel.set_baseline_script(default_script);
  if (!script.empty()) kernel.add_candidate_scripts(script);
  kernel.set_threads(threads);
  kernel.set_samples(11);
  kernel.set_timeout_seconds(60);
  kernel.set_calibrate(true);
  MeasureProcess process;
  HONE_RETURN_IF_ERROR(process.Start(work));
  HONE_ASSIGN_OR_RETURN(const std::optional<v1::Completion> completion,
                        process.Await(kMeasureTimeout));
  if (!completion.has_value()) {
    return absl::DeadlineExceededError("the measurement hangs");
  }
  if (completion->has_error()) {
    return absl::Status(
        static_cast<absl::StatusCode>(completion->error().code()),
        completion->error().message());
  }
  return completion->kernel();
}

Json TimeJson(const v1::KernelTiming& timing, double roof_ns) {
  Json json = {{"outcome", timing.outcome()}};
  if (timing.outcome() != "ok") {
    json["message"] = timing.message();
    return json;
  }
  json["ns"] = timing.ns();
  json["samples_ns"] = std::vector<double>(timing.samples_ns().begin(),
                                           timing.samples_ns().end());
  json["roof_ns"] = roof_ns;
  json["percent_of_roof"] = 100 * roof_ns / timing.ns();
  json["max_rel_error"] = timing.max_rel_error();
  json["compile_ms"] = timing.compile_ms();
  return json;
}

void PrintTime(const std::string& name, const v1::KernelTiming& timing,
               double roof_ns) {
  if (timing.outcome() != "ok") {
    std::cout << absl::StrFormat("%-9s %s: %s\n", name, timing.outcome(),
                                 timing.message());
    return;
  }
  std::cout << absl::StrFormat(
      "%-9s %.2f us, %.0f %% of the roof (%.2f us); compiled in %.0f ms, "
      "largest relative error %.1e\n",
      name, timing.ns() / 1e3, 100 * roof_ns / timing.ns(), roof_ns / 1e3,
      timing.compile_ms(), timing.max_rel_error());
}

absl::Status AddTime(const hlo::Module& module,
                     const std::string& default_script,
                     const std::string& script, const Options& options,
                     const Context& context, Json& document) {
  HONE_ASSIGN_OR_RETURN(
      const v1::KernelReport report,
      Measure(module, default_script, script, options.threads));
  const LeastWork work = LeastWorkOf(module);
  const double roof_ns =
      backends::RoofNanoseconds(FromProto(report.calibration()), work.flops,
                                work.bytes_read, work.bytes_written);
  if (context.json) {
    document["default"] = TimeJson(report.baseline(), roof_ns);
    for (const v1::KernelTiming& timing : report.candidates()) {
      document["replayed"] = TimeJson(timing, roof_ns);
    }
    document["peak_gflops"] = report.calibration().peak_gflops();
    return absl::OkStatus();
  }
  PrintTime("default", report.baseline(), roof_ns);
  for (const v1::KernelTiming& timing : report.candidates()) {
    PrintTime("replayed", timing, roof_ns);
  }
  return absl::OkStatus();
}

// The arrays of one kind of memory that the caller passes, in order.
std::vector<backends::EntryArray> EntryArrays(const loops::Program& program,
                                              loops::Memory memory) {
  std::vector<backends::EntryArray> arrays;
  for (const loops::BufferPtr& buffer : program.buffers()) {
    if (buffer->memory != memory) continue;
    const auto number = static_cast<size_t>(buffer->number);
    if (arrays.size() <= number) arrays.resize(number + 1);
    arrays[number] = {buffer->name,
                      hlo::Shape::Array(buffer->type, buffer->dimensions)};
  }
  return arrays;
}

// Writes K.so and K.h.
absl::Status Export(const loops::Program& program, const std::string& path) {
  constexpr char kSymbol[] = "hone_entry";
  if (!absl::EndsWith(path, ".so")) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": not the name of a shared object, expected *.so"));
  }
  HONE_ASSIGN_OR_RETURN(const std::string object,
                        backends::CompileProgram(program, kSymbol));
  HONE_RETURN_IF_ERROR(backends::WriteSharedObject(object, path));
  return WriteFile(
      backends::CHeader(kSymbol, EntryArrays(program, loops::Memory::kArgument),
                        EntryArrays(program, loops::Memory::kResult),
                        loops::PrintProgram(program)),
      absl::StrCat(path.substr(0, path.size() - 3), ".h"));
}

absl::StatusOr<int> Run(const Options& options, const Context& context) {
  HONE_ASSIGN_OR_RETURN(const hlo::Module module,
                        hlo::ReadModuleFile(options.file));
  HONE_RETURN_IF_ERROR(hlo::VerifyModule(module));
  HONE_ASSIGN_OR_RETURN(loops::Program program, loops::LowerToProgram(module));
  loops::Machine machine = backends::DetectHost().machine;
  machine.threads = options.threads;
  const std::string default_script =
      loops::PrintScript(loops::DefaultSchedule(program, machine));
  std::string replayed;
  if (!options.script.empty()) {
    HONE_ASSIGN_OR_RETURN(replayed, hlo::ReadFileBytes(options.script));
  }
  const std::string& script = options.scheduled ? default_script : replayed;
  HONE_ASSIGN_OR_RETURN(const std::vector<loops::Step> steps,
                        loops::ParseScript(script));
  HONE_ASSIGN_OR_RETURN(program, loops::ApplyScript(program, steps));
  Json document = {{"program", loops::PrintProgram(program)},
                   {"default_script", default_script}};
  if (!context.json) {
    std::cout << loops::PrintProgramWithPaths(program);
    if (options.scheduled) std::cout << '\n' << default_script;
  }
  if (!options.library.empty()) {
    HONE_RETURN_IF_ERROR(Export(program, options.library));
    document["exported"] = options.library;
  }
  if (options.llvm) {
    HONE_ASSIGN_OR_RETURN(
        const std::string text,
        backends::EmitLlvmText(program, "kernel", /*optimized=*/true));
    if (!context.json) std::cout << '\n' << text;
    document["llvm"] = text;
  }
  if (options.moves) {
    document["moves"] = Json::array();
    if (!context.json) std::cout << '\n';
    for (const loops::Step& step : loops::LegalSteps(program, machine)) {
      const std::string text = loops::PrintStep(step);
      if (!context.json) std::cout << text << '\n';
      document["moves"].push_back(text);
    }
  }
  if (options.time) {
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
      "A module as a loop program: the program, its legal moves, its time");
  command->add_option("FILE", options->file, "HLO text or proto")->required();
  command->add_option("--replay", options->script,
                      "File of transformations to apply, one a line");
  command
      ->add_flag("--default", options->scheduled,
                 "Apply the default schedule, and show it")
      ->excludes("--replay");
  command->add_flag("--moves", options->moves,
                    "Also the transformations that are legal next");
  command->add_flag("--time", options->time,
                    "Also its time, checked against the evaluator, and how "
                    "near it is to what this machine can do");
  command->add_option("--threads", options->threads, "Of parallel scopes")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command
      ->add_option("--export", options->library,
                   "Shared object of the program as it is shown; its C header "
                   "is written beside it")
      ->type_name("K.so");
  command->add_flag("--llvm", options->llvm, "Also the LLVM IR made of it");
  command->callback([options, &context] {
    RunCommand(context, [&] { return Run(*options, context); });
  });
}

}  // namespace hone::cli
