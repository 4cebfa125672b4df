// hone predict: what a learned cost model says of kernels.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "cli/command.h"
#include "cli/predict_kernel.h"
#include "cli/read_hardware.h"

#include "backends/tpu_sim/simulator.h"
#include "backends/tpu_sim/tpu_module.h"
#include "base/status_macros.h"
#include "costmodels/kernel_graph.h"
#include "costmodels/tile_features.h"
#include "hlo/read_module.h"
#include "hlo/tiles/tiled_kernel.h"
#include "tuning/read_cost_model.h"
#include "tuning/tasks/tile_surrogate.h"
#include "tuning/tasks/tpu_peaks.h"

namespace hone::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  // "cpu", "tpu", "tpu:NAME|FILE"; empty: "tpu".
  std::string target;
  std::string tpu;
  PredictKernelOptions kernel;
};

// Sets `tpu` by the target, and leaves it empty for a CPU.
absl::Status TakeTarget(Options& options, const CLI::App& command) {
  absl::string_view target = options.target;
  if (target == "cpu") {
    if (options.tpu.empty()) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(
        "--tpu ", options.tpu, " with --target cpu, expected one of them"));
  }
  for (const char* const name : {"--script", "--threads", "--no-measure"}) {
    if (command.count(name) == 0) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(name, " is of CPU kernels, expected --target cpu"));
  }
  if (target == "tpu:") {
    return absl::InvalidArgumentError(
        "--target 'tpu:' names no TPU, expected tpu:NAME");
  }
  if (absl::ConsumePrefix(&target, "tpu:")) {
    if (!options.tpu.empty() && options.tpu != target) {
      return absl::InvalidArgumentError(
          absl::StrCat("--target ", options.target, " and --tpu ", options.tpu,
                       ", expected one of them"));
    }
    options.tpu = std::string(target);
  } else if (!target.empty() && target != "tpu") {
    return absl::InvalidArgumentError(
        absl::StrCat("--target '", target, "', expected cpu, tpu or tpu:NAME"));
  }
  if (options.tpu.empty()) options.tpu = "v4";
  return absl::OkStatus();
}

// The opcodes of a kernel that Hone does not know, which the model takes for
// any opcode.
std::vector<std::string> UnknownOpcodes(const hlo::Module& kernel) {
  std::vector<std::string> names;
  for (const hlo::Instruction& i : kernel.entry_computation().instructions()) {
    if (i.unknown_opcode() != nullptr) names.push_back(*i.unknown_opcode());
  }
  return names;
}

// A kernel with what is predicted and simulated of one run of it.
struct Prediction {
  const backends::TpuKernel* kernel = nullptr;
  double predicted_ns = 0;
  double deviation = 0;  // of the logarithm
  double simulated_ns = 0;
  // False if a part of the grid is taken to be like the rest.
  bool is_exact = true;
};

absl::StatusOr<std::vector<Prediction>> Predict(
    const backends::TpuModule& module, const backends::Tpu& tpu,
    const learning::CostPredictor& model) {
  std::vector<space::Observation> graphs;
  std::vector<std::vector<float>> configs;
  for (const backends::TpuKernel& kernel : module.kernels) {
    const hlo::TiledKernel tiled(*kernel.module);
    graphs.push_back(costmodels::ObserveKernelGraph(*kernel.module));
    configs.push_back(costmodels::TileFeatures(tiled, tuning::PeaksOf(tpu))
                          .Of(kernel.config));
  }
  std::vector<learning::CostQuery> queries;
  for (size_t i = 0; i < graphs.size(); ++i) {
    queries.push_back({&graphs[i], configs[i]});
  }
  HONE_ASSIGN_OR_RETURN(const learning::CostPredictions predictions,
                        model.Predict(tuning::kTpuTimeHead, queries));
  std::vector<Prediction> result;
  for (size_t i = 0; i < queries.size(); ++i) {
    const backends::TpuKernel& kernel = module.kernels[i];
    HONE_ASSIGN_OR_RETURN(
        const backends::KernelTime time,
        backends::KernelSimulator(*kernel.module, tpu).Simulate(kernel.config));
    result.push_back({&kernel, std::exp(predictions.values[i]),
                      predictions.deviations[i], time.ns, time.run.is_exact});
  }
  return result;
}

std::string NameOf(const backends::TpuModule& module,
                   const backends::TpuKernel& kernel) {
  const auto& [computation, id] = kernel.places[0];
  return module.fused.computation(computation)[id].name();
}

Json Describe(const backends::TpuModule& module,
              const std::vector<Prediction>& predictions) {
  Json kernels = Json::array();
  double predicted = 0;
  double simulated = 0;
  for (const Prediction& p : predictions) {
    predicted += p.kernel->executions * p.predicted_ns;
    simulated += p.kernel->executions * p.simulated_ns;
    kernels.push_back({{"instruction", NameOf(module, *p.kernel)},
                       {"kernels", p.kernel->places.size()},
                       {"executions", p.kernel->executions},
                       {"config", hlo::PrintKernelConfig(p.kernel->config)},
                       {"stated_config_refused", p.kernel->refusal},
                       {"predicted_ns", p.predicted_ns},
                       {"deviation", p.deviation},
                       {"unsure", p.deviation >= tuning::kUnsureDeviation},
                       {"simulated_ns", p.simulated_ns},
                       {"simulation_is_exact", p.is_exact},
                       {"unknown_opcodes", UnknownOpcodes(*p.kernel->module)}});
  }
  return {{"module", module.fused.name()},
          {"kernels", std::move(kernels)},
          {"predicted_ns", predicted},
          {"simulated_ns", simulated}};
}

void Print(const Json& document) {
  std::cout << absl::StrFormat("%-32s %8s %12s %12s %7s\n", "kernel", "runs",
                               "predicted us", "simulated us", "error");
  const auto line = [](const std::string& name, const std::string& runs,
                       const Json& of, const std::string& notes) {
    const double predicted = of["predicted_ns"].get<double>();
    const double simulated = of["simulated_ns"].get<double>();
    const std::string error =
        simulated > 0
            ? absl::StrFormat("%+6.1f%%", 100 * (predicted / simulated - 1))
            : "-";
    std::cout << absl::StrFormat("%-32s %8s %12.2f %12.2f %7s%s\n", name, runs,
                                 predicted / 1e3, simulated / 1e3, error,
                                 notes);
  };
  for (const Json& kernel : document["kernels"]) {
    std::string notes;
    if (kernel["unsure"].get<bool>()) absl::StrAppend(&notes, "  unsure");
    if (!kernel["simulation_is_exact"].get<bool>()) {
      absl::StrAppend(&notes, "  extrapolated");
    }
    if (const auto why = kernel["stated_config_refused"].get<std::string>();
        !why.empty()) {
      absl::StrAppend(&notes, "  the default tile, not the stated one: ", why);
    }
    const auto unknown =
        kernel["unknown_opcodes"].get<std::vector<std::string>>();
    if (!unknown.empty()) {
      absl::StrAppend(&notes, "  unknown: ", absl::StrJoin(unknown, ", "));
    }
    line(kernel["instruction"].get<std::string>(),
         absl::StrFormat("%.6g", kernel["executions"].get<double>()), kernel,
         notes);
  }
  line("all", "", document, "");
}

absl::StatusOr<int> PredictModule(const Options& options,
                                  const Context& context) {
  HONE_ASSIGN_OR_RETURN(const hlo::Module module,
                        hlo::ReadModuleFile(options.kernel.file));
  HONE_ASSIGN_OR_RETURN(const auto tpu, ReadTpu(options.tpu));
  HONE_ASSIGN_OR_RETURN(
      const auto model,
      tuning::ReadCostModel(options.kernel.weights, "tpu_kernel",
                            tuning::TpuCostSpec()));
  absl::StatusOr<backends::TpuModule> prepared =
      backends::PrepareForTpu(module, *tpu);
  if (!prepared.ok()) {
    return absl::Status(
        prepared.status().code(),
        absl::StrCat(options.kernel.file, ": ", prepared.status().message()));
  }
  HONE_ASSIGN_OR_RETURN(const std::vector<Prediction> predictions,
                        Predict(*prepared, *tpu, *model));
  const Json document = Describe(*prepared, predictions);
  if (context.json) {
    PrintJson(document);
  } else {
    Print(document);
  }
  return kDone;
}

}  // namespace

void AddPredictCommand(CLI::App& app, Context& context) {
  auto options = std::make_shared<Options>();
  CLI::App* command = AddCommand(
      app, context, "predict",
      "Predict by a learned cost model the times of a module's kernels on a "
      "TPU, beside the simulated ones, or of a kernel on this CPU, beside the "
      "measured one");
  PredictKernelOptions& kernel = options->kernel;
  command
      ->add_option("FILE", kernel.file,
                   "HLO text or proto; for a CPU of one kernel, or a loop "
                   "program, FILE.loops")
      ->required();
  command->add_option("--target", options->target,
                      "cpu, tpu or tpu:NAME|FILE [tpu:v4]");
  AddTpuOption(*command, options->tpu);
  command->add_option("--weights", kernel.weights,
                      "Weights of the model [built in]");
  command->add_option("--script", kernel.script,
                      "CPU: a schedule besides the default, one "
                      "transformation per line");
  command
      ->add_option("--threads", kernel.threads,
                   "CPU: threads of parallel loops")
      ->transform(WholeNumber(1, kMaxThreads))
      ->capture_default_str();
  command->add_flag("!--no-measure", kernel.measures,
                    "CPU: predict only, without measuring");
  command->callback([options, command, &context] {
    RunCommand(context, [&]() -> absl::StatusOr<int> {
      HONE_RETURN_IF_ERROR(TakeTarget(*options, *command));
      return options->tpu.empty() ? PredictKernel(options->kernel, context)
                                  : PredictModule(*options, context);
    });
  });
}

}  // namespace hone::cli
