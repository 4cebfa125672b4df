// hone predict: what a learned cost model says of a module's kernels.

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
#include "cli/command.h"
#include "cli/read_hardware.h"

#include "backends/tpu_sim/tpu_module.h"
#include "base/status_macros.h"
#include "costmodels/kernel_graph.h"
#include "costmodels/tile_features.h"
#include "hlo/read_module.h"
#include "hlo/tiles/tiled_kernel.h"
#include "optimizers/policies/library.h"
#include "tuning/shipped_cost_model.h"
#include "tuning/tasks/tile_surrogate.h"
#include "tuning/tasks/tpu_peaks.h"

namespace hone::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  std::string file;
  std::string tpu = "v4";
  std::string weights;
};

// The standard deviation of a logarithm from which a prediction is marked: one
// in three such times is off by more than a third.
constexpr double kUnsure = 0.3;

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
                          .Of(kernel.by_default));
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
    result.push_back({&kernel, std::exp(predictions.values[i]),
                      predictions.deviations[i],
                      backends::DefaultNs(*kernel.module, tpu)});
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
                       {"config", hlo::PrintKernelConfig(p.kernel->by_default)},
                       {"predicted_ns", p.predicted_ns},
                       {"deviation", p.deviation},
                       {"unsure", p.deviation >= kUnsure},
                       {"simulated_ns", p.simulated_ns},
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
    std::cout << absl::StrFormat("%-32s %8s %12.2f %12.2f %+6.1f%%%s\n", name,
                                 runs, predicted / 1e3, simulated / 1e3,
                                 100 * (predicted / simulated - 1), notes);
  };
  for (const Json& kernel : document["kernels"]) {
    std::string notes;
    if (kernel["unsure"].get<bool>()) absl::StrAppend(&notes, "  unsure");
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

absl::StatusOr<int> Run(const Options& options, const Context& context) {
  HONE_ASSIGN_OR_RETURN(const hlo::Module module,
                        hlo::ReadModuleFile(options.file));
  HONE_ASSIGN_OR_RETURN(const auto tpu, ReadTpu(options.tpu));
  const learning::CostPredictor* model = nullptr;
  std::unique_ptr<const learning::CostPredictor> read;
  if (options.weights.empty()) {
    HONE_ASSIGN_OR_RETURN(
        model, tuning::ShippedCostModel("tpu_kernel", tuning::TpuCostSpec()));
  } else {
    HONE_ASSIGN_OR_RETURN(const std::string bytes,
                          hlo::ReadFileBytes(options.weights));
    HONE_ASSIGN_OR_RETURN(const auto* const library,
                          optimizers::policies::LoadLibrary());
    auto parsed = library->parse_cost_model(bytes, &tuning::TpuCostSpec());
    if (!parsed.ok()) {
      return absl::Status(
          parsed.status().code(),
          absl::StrCat(options.weights, ": ", parsed.status().message()));
    }
    read = *std::move(parsed);
    model = read.get();
  }
  absl::StatusOr<backends::TpuModule> prepared =
      backends::PrepareForTpu(module, *tpu);
  if (!prepared.ok()) {
    return absl::Status(
        prepared.status().code(),
        absl::StrCat(options.file, ": ", prepared.status().message()));
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
      "Predict the times of a module's kernels on a TPU by a learned cost "
      "model, beside the simulated ones");
  command->add_option("FILE", options->file, "HLO text or proto")->required();
  AddTpuOption(*command, options->tpu);
  command->add_option("--weights", options->weights,
                      "Weights of the model [built in]");
  command->callback([options, &context] {
    RunCommand(context, [&] { return Run(*options, context); });
  });
}

}  // namespace hone::cli
