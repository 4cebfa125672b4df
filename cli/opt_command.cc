// hone opt: applies passes, like XLA's hlo-opt.

#include <iostream>
#include <memory>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "cli/command.h"
#include "cli/read_subject.h"

#include "base/status_macros.h"
#include "hlo/analysis/op_count.h"
#include "hlo/passes/pipeline.h"
#include "hlo/rewrite/numerics.h"

namespace hone::cli {
namespace {

struct Options {
  std::string file;
  bool has_passes = false;
  std::string passes;
  std::string pipeline;
  std::string numerics = "reassociate";
  std::string verify = "none";
  bool trace = false;
  std::string output;
};

nlohmann::ordered_json ToJson(const hlo::PipelineReport& report) {
  nlohmann::ordered_json runs = nlohmann::ordered_json::array();
  for (const hlo::PassRun& run : report.runs) {
    runs.push_back({{"pass", run.pass},
                    {"changed", run.changed},
                    {"seconds", absl::ToDoubleSeconds(run.duration)},
                    {"instructions_before", run.instructions_before},
                    {"instructions_after", run.instructions_after}});
  }
  return runs;
}

absl::StatusOr<std::vector<std::string>> PassNames(const Options& options) {
  std::vector<std::string> names;
  if (!options.has_passes) return names;
  for (absl::string_view name : absl::StrSplit(options.passes, ',')) {
    if (absl::StripAsciiWhitespace(name).empty()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--passes '", options.passes,
          "': a name is missing, expected names with commas between (see hone "
          "list passes)"));
    }
    names.emplace_back(name);
  }
  return names;
}

absl::StatusOr<int> Run(const Options& options, const Context& context) {
  if (options.has_passes && !options.pipeline.empty()) {
    return absl::InvalidArgumentError(
        "--passes and --pipeline exclude each other");
  }
  HONE_ASSIGN_OR_RETURN(const std::vector<std::string> passes,
                        PassNames(options));
  HONE_RETURN_IF_ERROR(CheckModuleOutput(context, options.output));
  hlo::PipelineOptions pipeline_options;
  HONE_ASSIGN_OR_RETURN(pipeline_options.rewrite.numerics,
                        hlo::ParseNumerics(options.numerics));
  pipeline_options.verify_each = options.verify == "pass";
  pipeline_options.rewrite.verify_rewrites = options.verify == "rewrite";
  if (options.trace) {
    pipeline_options.rewrite.trace = [](const hlo::RewriteEvent& event) {
      std::cerr << event.rewrite << ": " << event.computation << ": "
                << event.instruction << "\n";
    };
  }
  HONE_ASSIGN_OR_RETURN(hlo::Module module, ReadModule(options.file));
  const int64_t ops_before = hlo::CountOps(module);
  hlo::PipelineReport report;
  if (!options.pipeline.empty()) {
    HONE_ASSIGN_OR_RETURN(
        report, hlo::RunPipeline(module, options.pipeline, pipeline_options));
  } else if (!passes.empty()) {
    HONE_ASSIGN_OR_RETURN(report,
                          hlo::RunPasses(module, passes, pipeline_options));
  }
  HONE_RETURN_IF_ERROR(WriteModule(module, options.output));
  const int64_t ops_after = hlo::CountOps(module);
  if (context.json) {
    PrintJson({{"module", module.name()},
               {"ops_before", ops_before},
               {"ops_after", ops_after},
               {"passes", ToJson(report)}});
  } else {
    std::cerr << absl::StrFormat("%s: %d ops -> %d ops\n", module.name(),
                                 ops_before, ops_after);
  }
  return kDone;
}

}  // namespace

void AddOptCommand(CLI::App& app, Context& context) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      AddCommand(app, context, "opt", "Apply passes to a module");
  AddModuleArgument(*command, "FILE", options->file);
  const CLI::Option* passes = command->add_option(
      "--passes", options->passes, "Comma-separated passes, run in this order");
  command->add_option("--pipeline", options->pipeline,
                      "A named pipeline (hone list pipelines)");
  AddNumericsOption(*command, options->numerics);
  command
      ->add_option("--verify", options->verify,
                   "Verify the whole module after each `pass`, each `rewrite` "
                   "(slow, for finding faults) or `none`")
      ->check(CLI::IsMember({"none", "pass", "rewrite"}))
      ->capture_default_str();
  command->add_flag("--trace", options->trace,
                    "Print each rewrite to stderr: pass, computation, and the "
                    "instruction it changes");
  command->add_option("-o,--output", options->output,
                      "Path of the result (.pb: as a proto; .zst: compressed); "
                      "default: stdout");
  command->callback([options, passes, &context] {
    options->has_passes = passes->count() > 0;
    RunCommand(context, [&] { return Run(*options, context); });
  });
}

}  // namespace hone::cli
