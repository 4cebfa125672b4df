// hone bench: reproduces a published table.

#include <fstream>
#include <iostream>
#include <memory>

#include "cli/command.h"

#include "base/status_macros.h"
#include "bench/parse.h"
#include "bench/pass_fidelity.h"
#include "bench/pass_order.h"
#include "bench/serve.h"

namespace hone::cli {
namespace {

using Json = nlohmann::ordered_json;

// Runs a bench with its table on stdout, or with --json on stderr and the
// document on stdout; the document goes to `output` too when that is not empty.
absl::StatusOr<int> RunBench(
    const Context& context, const std::string& output,
    const std::function<absl::StatusOr<Json>(std::ostream&)>& bench) {
  HONE_ASSIGN_OR_RETURN(const Json document,
                        bench(context.json ? std::cerr : std::cout));
  if (context.json) PrintJson(document);
  if (!output.empty()) {
    HONE_RETURN_IF_ERROR(WriteFile(document.dump(1) + "\n", output));
  }
  return kDone;
}

void AddPassOrder(CLI::App& parent, Context& context) {
  auto options = std::make_shared<bench::PassOrderOptions>();
  auto output = std::make_shared<std::string>();
  CLI::App* command = AddCommand(
      parent, context, "pass-order",
      "Ops after each search, after the default order, and after XLA");
  command
      ->add_option("--search", options->searches, "Optimizers, one column each")
      ->delimiter(',')
      ->capture_default_str();
  command->add_option("--trials", options->trials, "Budget of each search")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--seeds", options->seeds, "Runs of each search")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->add_option("--corpus", options->corpus, "Folder of the corpus")
      ->capture_default_str();
  command->add_option("--only", options->only,
                      "Regular expression that a module's name must match");
  command->add_option("--tuned", options->tuned_directory,
                      "Folder for every module's best result");
  command->add_option("-o,--output", *output, "JSON file");
  command->callback([options, output, &context] {
    RunCommand(context, [&] {
      return RunBench(context, *output, [&](std::ostream& out) {
        return bench::RunPassOrderBench(*options, out);
      });
    });
  });
}

void AddPassFidelity(CLI::App& parent, Context& context) {
  auto options = std::make_shared<bench::PassFidelityOptions>();
  auto output = std::make_shared<std::string>();
  CLI::App* command = AddCommand(
      parent, context, "pass-fidelity",
      "Each pass beside XLA's own of the same name, on XLA's inputs");
  command
      ->add_option("--dumps", options->dumps, "Folder of XLA's per-pass dumps")
      ->capture_default_str();
  command->add_option("--only", options->only, "The only pass to look at");
  command->add_option("-o,--output", *output, "JSON file");
  command->callback([options, output, &context] {
    RunCommand(context, [&]() -> absl::StatusOr<int> {
      bool equal = true;
      HONE_ASSIGN_OR_RETURN(
          const int status,
          RunBench(
              context, *output, [&](std::ostream& out) -> absl::StatusOr<Json> {
                HONE_ASSIGN_OR_RETURN(
                    Json document, bench::RunPassFidelityBench(*options, out));
                equal = document["unequal"] == 0;
                return document;
              }));
      return equal ? status : kAnswerIsNo;
    });
  });
}

void AddParse(CLI::App& parent, Context& context) {
  auto options = std::make_shared<bench::ParseOptions>();
  auto output = std::make_shared<std::string>();
  CLI::App* command =
      AddCommand(parent, context, "parse",
                 "Parsing against XLA's parser, dce, cse, a search step");
  command->add_option("--corpus", options->corpus, "Folder of the corpus")
      ->capture_default_str();
  command
      ->add_option("--python", options->python,
                   "A Python that has jaxlib; empty: leave XLA out")
      ->capture_default_str();
  command->add_option("--rounds", options->rounds, "Samples of each figure")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  command->add_option("-o,--output", *output, "JSON file");
  command->callback([options, output, &context] {
    RunCommand(context, [&] {
      return RunBench(context, *output, [&](std::ostream& out) {
        return bench::RunParseBench(*options, out);
      });
    });
  });
}

void AddServe(CLI::App& parent, Context& context) {
  auto options = std::make_shared<bench::ServeOptions>();
  auto output = std::make_shared<std::string>();
  CLI::App* command = AddCommand(
      parent, context, "serve",
      "Latency of a cached lookup over gRPC beside a bare echo server");
  command->add_option("--clients", options->clients, "Concurrent clients")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->add_option("--requests", options->requests, "Requests a client")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("-o,--output", *output, "JSON file");
  command->callback([options, output, &context] {
    RunCommand(context, [&] {
      return RunBench(context, *output, [&](std::ostream& out) {
        return bench::RunServeBench(*options, out);
      });
    });
  });
}

}  // namespace

void AddBenchCommand(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("bench", "Reproduce a published table");
  command->require_subcommand(1);
  AddPassOrder(*command, context);
  AddPassFidelity(*command, context);
  AddParse(*command, context);
  AddServe(*command, context);
}

}  // namespace hone::cli
