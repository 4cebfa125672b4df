// hone bench: reproduces a published table.

#include <fstream>
#include <iostream>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "cli/command.h"

#include "base/files.h"
#include "base/status_macros.h"
#include "bench/environment.h"
#include "bench/kernels.h"
#include "bench/measurement.h"
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
    HONE_RETURN_IF_ERROR(WriteFileAtomically(output, document.dump(1) + "\n"));
  }
  return kDone;
}

void AddPassOrder(CLI::App& parent, Context& context) {
  auto options = std::make_shared<bench::PassOrderOptions>();
  auto output = std::make_shared<std::string>();
  auto time = std::make_shared<std::string>();
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
  command
      ->add_option("--steps", options->steps,
                   "Budget of each search in passes run [no limit]")
      ->check(CLI::PositiveNumber);
  command->add_option("--time", *time,
                      "Budget of each search in time, e.g. 10s [no limit]");
  command
      ->add_option("--passes", options->passes,
                   "What is ordered: all passes, or those of the default "
                   "pipeline")
      ->check(CLI::IsMember({"all", "pipeline"}))
      ->capture_default_str();
  command->add_option("--weights", options->weights,
                      "Weights of the policy [built in]");
  command->add_flag("--held-out", options->held_out,
                    "Only modules that no policy was trained on");
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
  command->callback([options, output, time, &context] {
    RunCommand(context, [&]() -> absl::StatusOr<int> {
      if (!time->empty() && !absl::ParseDuration(*time, &options->time)) {
        return absl::InvalidArgumentError(absl::StrCat(
            "--time '", *time, "': expected a duration such as 10s"));
      }
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

void AddEnvironment(CLI::App& parent, Context& context) {
  auto options = std::make_shared<bench::EnvironmentOptions>();
  auto output = std::make_shared<std::string>();
  CLI::App* command =
      AddCommand(parent, context, "environment",
                 "Environment steps per second, in process and over gRPC");
  command->add_option("--module", options->module, "Module to walk from")
      ->capture_default_str();
  command->add_option("--steps", options->steps, "Steps of each row")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--seed", options->seed, "Of the random walks")
      ->capture_default_str();
  command->add_option("-o,--output", *output, "JSON file");
  command->callback([options, output, &context] {
    RunCommand(context, [&] {
      return RunBench(context, *output, [&](std::ostream& out) {
        return bench::RunEnvironmentBench(*options, out);
      });
    });
  });
}

void AddKernels(CLI::App& parent, Context& context) {
  auto options = std::make_shared<bench::KernelsOptions>();
  auto output = std::make_shared<std::string>();
  CLI::App* command =
      AddCommand(parent, context, "kernels",
                 "Kernels, by default and tuned, beside PyTorch and XLA:CPU");
  command->add_option("--suite", options->suite, "Folder of the kernels")
      ->capture_default_str();
  command->add_option("--only", options->only,
                      "Regular expression that a kernel's name must match");
  command->add_option("--threads", options->threads, "Numbers of threads")
      ->delimiter(',')
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command
      ->add_option("--trials", options->trials,
                   "Of each kernel's search; 0: default schedules only")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("--optimizer", options->optimizer, "Search algorithm")
      ->capture_default_str();
  command->add_option("--seed", options->seed, "Seed of the searches")
      ->capture_default_str();
  command
      ->add_option("--objects", options->objects,
                   "Folder for the shared objects")
      ->capture_default_str();
  command
      ->add_option("--python", options->python,
                   "A Python that has jax and torch; empty: leave peers out")
      ->capture_default_str();
  command
      ->add_option("--rounds", options->rounds,
                   "Samples of each kernel beside its peers; even")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("-o,--output", *output, "JSON file");
  command->callback([options, output, &context] {
    RunCommand(context, [&] {
      return RunBench(context, *output, [&](std::ostream& out) {
        return bench::RunKernelsBench(*options, out);
      });
    });
  });
}

void AddMeasurement(CLI::App& parent, Context& context) {
  auto options = std::make_shared<bench::MeasurementOptions>();
  auto output = std::make_shared<std::string>();
  CLI::App* command = AddCommand(
      parent, context, "measurement",
      "What measuring kernels costs, and kernels compared with themselves");
  command->add_option("--suite", options->suite, "Folder of the kernels")
      ->capture_default_str();
  command
      ->add_option("--comparisons", options->comparisons,
                   "Of each kernel with itself")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  command->add_option("--rounds", options->rounds, "Samples of other figures")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  command->add_option("-o,--output", *output, "JSON file");
  command->callback([options, output, &context] {
    RunCommand(context, [&] {
      return RunBench(context, *output, [&](std::ostream& out) {
        return bench::RunMeasurementBench(*options, out);
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
  AddEnvironment(*command, context);
  AddServe(*command, context);
  AddKernels(*command, context);
  AddMeasurement(*command, context);
}

}  // namespace hone::cli
