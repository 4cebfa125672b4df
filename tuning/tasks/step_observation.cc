#include "tuning/tasks/step_observation.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>

#include "absl/strings/string_view.h"

#include "graphs/hlo_import.h"
#include "graphs/step/step_schedule.h"

namespace hone::tuning {
namespace {

using graphs::KernelGraph;
using graphs::KernelIndex;

enum Kind : int32_t {
  kArgument,
  kDot,
  kConvolution,
  kReduce,
  kWindow,
  kIndexed,
  kMovement,
  kElementwise,
};

int32_t KindOf(absl::string_view opcode) {
  if (opcode == graphs::kParameterOpcode) return kArgument;
  if (opcode == "dot") return kDot;
  if (opcode == "convolution") return kConvolution;
  if (opcode == "reduce") return kReduce;
  if (opcode == "reduce-window" || opcode == "select-and-scatter") {
    return kWindow;
  }
  if (opcode == "gather" || opcode == "scatter" || opcode == "dynamic-slice" ||
      opcode == "dynamic-update-slice") {
    return kIndexed;
  }
  if (opcode == "broadcast" || opcode == "reshape" || opcode == "transpose" ||
      opcode == "concatenate" || opcode == "slice" || opcode == "pad" ||
      opcode == "copy" || opcode == "reverse") {
    return kMovement;
  }
  return kElementwise;
}

// Returns 0 for a share of 1e-6 or less, 1 for a share of 1, linear in the
// logarithm, at most 1.5.
float LogShare(double value, double total) {
  constexpr double kDecades = 6;
  if (!(value > 1e-6 * total)) return 0;
  return static_cast<float>(
      std::min(1.5, 1 + std::log10(value / total) / kDecades));
}

float LogCount(size_t count) {
  return static_cast<float>(
      std::min(1.0, std::log2(1 + static_cast<double>(count)) / 18));
}

float Ratio(double value, double total) {
  return total > 0 ? static_cast<float>(std::min(1.0, value / total)) : 0;
}

// The longest path from the beginning to each kernel, itself left out, without
// transfers.
std::vector<double> Downward(const KernelGraph& kernels) {
  std::vector<double> before(kernels.size());
  for (const KernelIndex kernel : kernels.topological_order()) {
    const double end = before[kernel] + kernels.Seconds(kernel, 0);
    for (const KernelGraph::Use& use : kernels.uses(kernel)) {
      before[use.kernel] = std::max(before[use.kernel], end);
    }
  }
  return before;
}

}  // namespace

space::ObservationSpec StepObservationSpec() {
  space::ObservationSpec spec;
  spec.node_kind_names = {"argument", "dot",     "convolution", "reduce",
                          "window",   "indexed", "movement",    "elementwise"};
  spec.node_feature_names = {"time",      "transfer",   "result",   "weights",
                             "before",    "after",      "slack",    "position",
                             "in_degree", "out_degree", "is_output"};
  spec.edge_feature_names = {"transfer"};
  spec.global_feature_names = {"nodes",     "edges",  "devices", "parallelism",
                               "transfers", "memory", "kinds"};
  spec.node_kinds = static_cast<int32_t>(spec.node_kind_names.size());
  spec.node_features = static_cast<int32_t>(spec.node_feature_names.size());
  spec.edge_features = static_cast<int32_t>(spec.edge_feature_names.size());
  spec.global_features = static_cast<int32_t>(spec.global_feature_names.size());
  return spec;
}

space::Observation ObserveStep(const StepSpace& space) {
  const graphs::OpGraph& graph = space.graph();
  const graphs::DeviceTimes& times = space.times();
  std::optional<KernelGraph> single;
  if (space.decisions().fusion) {
    graphs::FusionRules rules = space.rules();
    single.emplace(rules, graphs::Fusion(graph.size()), times);
  }
  const KernelGraph& kernels =
      single.has_value() ? *single : *space.default_kernels();
  const std::vector<double> after =
      graphs::UpwardRanks(kernels, times, /*transfers=*/false);
  const std::vector<double> before = Downward(kernels);
  const double path = std::max(
      1e-12, after.empty() ? 0 : *std::max_element(after.begin(), after.end()));
  double work = 1e-12;
  double sent = 0;
  double weights = 0;
  double memory = 0;
  for (size_t k = 0; k < kernels.size(); ++k) {
    const auto kernel = static_cast<KernelIndex>(k);
    work += kernels.Seconds(kernel, 0);
    sent += times.MeanTransferSeconds(kernels.output_bytes(kernel));
    weights += graph.node(kernels.root(kernel)).parameter_bytes;
  }
  for (int32_t d = 0; d < times.device_count(); ++d) {
    memory += std::min(times.memory_bytes(d), 1e15);
  }
  std::vector<float> position(kernels.size());
  for (size_t i = 0; i < kernels.size(); ++i) {
    position[kernels.topological_order()[i]] =
        static_cast<float>(i) / static_cast<float>(kernels.size());
  }
  space::Observation seen;
  size_t edges = 0;
  for (size_t k = 0; k < kernels.size(); ++k) {
    const auto kernel = static_cast<KernelIndex>(k);
    const graphs::OpNode& node = graph.node(kernels.root(kernel));
    const absl::Span<const KernelGraph::Use> uses = kernels.uses(kernel);
    seen.node_kinds.push_back(KindOf(node.opcode));
    seen.node_features.insert(
        seen.node_features.end(),
        {LogShare(kernels.Seconds(kernel, 0), work),
         LogShare(times.MeanTransferSeconds(kernels.output_bytes(kernel)),
                  work),
         LogShare(kernels.output_bytes(kernel), memory),
         LogShare(node.parameter_bytes, memory), Ratio(before[k], path),
         Ratio(after[k], path), Ratio(path - before[k] - after[k], path),
         position[k], LogCount(kernels.inputs(kernel).size()),
         LogCount(uses.size()), node.is_output ? 1.0F : 0.0F});
    for (const KernelGraph::Use& use : uses) {
      seen.edge_sources.push_back(static_cast<int32_t>(k));
      seen.edge_targets.push_back(static_cast<int32_t>(use.kernel));
      seen.edge_features.push_back(
          LogShare(times.MeanTransferSeconds(use.bytes), work));
      ++edges;
    }
  }
  seen.global_features = {LogCount(kernels.size()),
                          LogCount(edges),
                          static_cast<float>(times.device_count()) / 64,
                          Ratio(work, path * times.device_count()),
                          Ratio(sent, 10 * work),
                          Ratio(weights, memory),
                          static_cast<float>(times.kind_count()) / 8};
  return seen;
}

std::vector<std::string> StepValueFeatureNames(const std::string& group) {
  if (group == "device") return {"speed", "memory", "index"};
  if (group == "priority") return {"earlier", "later"};
  if (group == "fused") return {"is_fused"};
  return {};
}

std::vector<float> StepValueFeatures(const StepSpace& space,
                                     const space::VariableGroup& group) {
  std::vector<float> features;
  if (group.name == "device") {
    const graphs::DeviceTimes& times = space.times();
    // Of a kernel that computes as much as it reads, to tell kinds apart.
    double fastest = 1e300;
    double largest = 1;
    for (int32_t d = 0; d < times.device_count(); ++d) {
      fastest =
          std::min(fastest, times.KernelSeconds(times.kind_of(d), 1e12, 1e10));
      largest = std::max(largest, std::min(times.memory_bytes(d), 1e15));
    }
    for (int32_t d = 0; d < times.device_count(); ++d) {
      features.insert(
          features.end(),
          {Ratio(fastest, times.KernelSeconds(times.kind_of(d), 1e12, 1e10)),
           Ratio(std::min(times.memory_bytes(d), 1e15), largest),
           static_cast<float>(d) / static_cast<float>(times.device_count())});
    }
  } else if (group.name == "priority") {
    for (int32_t level = 0; level < group.domain; ++level) {
      const float steps = static_cast<float>(level - StepSpace::kStay) /
                          static_cast<float>(StepSpace::kStay);
      features.push_back(std::max(0.0F, steps));
      features.push_back(std::max(0.0F, -steps));
    }
  } else if (group.name == "fused") {
    features = {0, 1};
  }
  return features;
}

}  // namespace hone::tuning
