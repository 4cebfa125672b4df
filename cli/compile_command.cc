// hone compile: what a compiler calls.

#include <iostream>
#include <memory>

#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "cli/client.h"
#include "cli/command.h"
#include "cli/task_flags.h"

#include "base/status_macros.h"
#include "hlo/proto/io.h"
#include "hlo/read_module.h"
#include "proto/duration.h"

namespace hone::cli {
namespace {

struct Options {
  std::string file;
  std::string output;
  std::string patience = "2s";
  std::string numerics = "reassociate";
};

std::string SourceName(hone::v1::Decision::Source source) {
  switch (source) {
    case hone::v1::Decision::CACHE:
      return "cache";
    case hone::v1::Decision::TUNED:
      return "tuned";
    default:
      return "default";
  }
}

absl::StatusOr<int> Run(const Options& options, const Context& context) {
  HONE_RETURN_IF_ERROR(CheckModuleOutput(context, options.output));
  hone::v1::CompileRequest request;
  hone::v1::TuningSpec& spec = *request.add_specs();
  HONE_RETURN_IF_ERROR(SetOptions("pass_order", {.numerics = options.numerics},
                                  *spec.mutable_options()));
  HONE_ASSIGN_OR_RETURN(const absl::Duration patience,
                        ParseDurationOption("--patience", options.patience,
                                            /*zero_allowed=*/true));
  *request.mutable_patience() = ToProtoDuration(patience);
  HONE_ASSIGN_OR_RETURN(const std::string bytes,
                        hlo::ReadFileBytes(options.file));
  Client client(context);
  HONE_RETURN_IF_ERROR(
      client.SetModule(bytes, options.file, request.mutable_module()));
  HONE_ASSIGN_OR_RETURN(const hone::v1::CompileResponse response,
                        client.Compile(request));
  HONE_ASSIGN_OR_RETURN(
      const hlo::Module module,
      hlo::ParseHlo(response.module(), "the daemon's answer"));
  HONE_RETURN_IF_ERROR(WriteModule(module, options.output));
  nlohmann::ordered_json decisions = nlohmann::ordered_json::array();
  for (const hone::v1::Decision& d : response.decisions()) {
    nlohmann::ordered_json decision = {{"task", d.task()},
                                       {"source", SourceName(d.source())},
                                       {"tuning", d.tuning()},
                                       {"missing", d.missing()}};
    // Nothing was applied where something is missing.
    if (d.missing().empty()) {
      decision["default"] = {{"cost", d.default_cost()}, {"unit", d.unit()}};
      decision["applied"] = {{"cost", d.cost()},
                             {"unit", d.unit()},
                             {"decision", nlohmann::ordered_json::parse(
                                              d.decision(), nullptr, false)}};
    }
    decisions.push_back(std::move(decision));
    if (context.json) continue;
    if (!d.missing().empty()) {
      std::cerr << absl::StrFormat("%s: the module is as it was: %s\n",
                                   d.task(), d.missing());
      continue;
    }
    std::cerr << absl::StrFormat("%s: %s, %.10g %s (default %.10g)\n", d.task(),
                                 SourceName(d.source()), d.cost(), d.unit(),
                                 d.default_cost());
  }
  if (context.json) {
    PrintJson({{"module", module.name()}, {"decisions", decisions}});
  }
  return kDone;
}

}  // namespace

void AddCompileCommand(CLI::App& app, Context& context) {
  auto options = std::make_shared<Options>();
  CLI::App* command = AddCommand(
      app, context, "compile",
      "Rewrite a module by cached decisions, or by defaults while it is tuned");
  AddModuleArgument(*command, "FILE", options->file);
  command
      ->add_option(
          "-o,--output", options->output,
          "Path of the rewritten module (.pb: as a proto; .zst: compressed)")
      ->required();
  command->add_option("--patience", options->patience,
                      "Time to wait for a tuning's winner, or the verified "
                      "default (default 2s)");
  AddNumericsOption(*command, options->numerics);
  command->callback([options, &context] {
    RunCommand(context, [&] { return Run(*options, context); });
  });
}

}  // namespace hone::cli
