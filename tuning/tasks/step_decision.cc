#include "tuning/tasks/step_decision.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"

#include "base/status_macros.h"

namespace hone::tuning {

using graphs::KernelGraph;
using graphs::KernelIndex;
using graphs::NodeIndex;

StepDecision DecisionOf(const StepProblem& problem,
                        absl::Span<const int32_t> values) {
  const StepPlan plan = problem.Plan(values);
  const StepSpace& space = problem.space();
  StepDecision decision = {
      .devices = space.DevicesOfNodes(*plan.kernels, plan.fused, plan.devices),
      .priorities = std::vector<uint64_t>(space.graph().size()),
      .fused = plan.fused};
  for (size_t k = 0; k < plan.kernels->size(); ++k) {
    decision.priorities[plan.kernels->root(static_cast<KernelIndex>(k))] =
        plan.priorities[k];
  }
  return decision;
}

absl::StatusOr<SimulatedStep> SimulateDecision(
    const graphs::OpGraph& graph, const graphs::Cluster& cluster,
    const StepDecision& decision, backends::StepObserver* observer) {
  HONE_ASSIGN_OR_RETURN(const graphs::DeviceTimes times,
                        graphs::DeviceTimes::Create(cluster));
  for (const size_t size : {decision.devices.size(), decision.priorities.size(),
                            decision.fused.size()}) {
    if (size == graph.size()) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "a decision about ", size, " nodes, expected ", graph.size()));
  }
  for (size_t i = 0; i < graph.size(); ++i) {
    const int32_t device = decision.devices[i];
    if (device < 0 || device >= times.device_count()) {
      return absl::InvalidArgumentError(
          absl::StrCat("assignment[", i, "] is ", device,
                       ", expected a device below ", times.device_count()));
    }
  }
  graphs::FusionRules rules(graph);
  const graphs::Fusion legal = rules.Legalize(decision.fused);
  for (size_t i = 0; i < graph.size(); ++i) {
    if (legal[i] == decision.fused[i]) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "node ", i,
        " cannot be fused into its users, expected a legal fusion"));
  }
  KernelGraph kernels(rules, decision.fused, times);
  std::vector<int32_t> devices;
  std::vector<uint64_t> priorities;
  for (size_t k = 0; k < kernels.size(); ++k) {
    const NodeIndex root = kernels.root(static_cast<KernelIndex>(k));
    devices.push_back(decision.devices[root]);
    priorities.push_back(decision.priorities[root]);
  }
  backends::StepResult result = backends::StepSimulator(kernels, times)
                                    .Run(devices, priorities, observer);
  return SimulatedStep{std::move(kernels), std::move(result)};
}

std::string PrintStepDecision(const StepProblem& problem,
                              absl::Span<const int32_t> values,
                              const StepDecision& decision,
                              const backends::StepResult& result) {
  nlohmann::ordered_json json;
  json["objective"] = "step-time";
  json["assignment"] = decision.devices;
  json["priorities"] = decision.priorities;
  auto& fused = json["fused"] = nlohmann::ordered_json::array();
  for (size_t i = 0; i < decision.fused.size(); ++i) {
    if (decision.fused[i] != 0) fused.push_back(i);
  }
  json["step_seconds"] = result.seconds;
  json["peak_bytes"] = result.peak_bytes;
  const StepSpace& space = problem.space();
  if (space.order_variable() >= 0) json["order"] = values[0];
  if (space.decisions().priorities) {
    const absl::Span<const int32_t> levels = values.subspan(
        static_cast<size_t>(space.first_priority()), space.unit_count());
    json["levels"] = std::vector<int32_t>(levels.begin(), levels.end());
  }
  return json.dump();
}

namespace {

absl::Status NotADecision(absl::string_view expected) {
  return absl::InvalidArgumentError(
      absl::StrCat("not a decision about a step, expected ", expected));
}

template <typename T>
bool ReadNumbers(const nlohmann::json& json, const char* field,
                 std::vector<T>& numbers) {
  const auto found = json.find(field);
  if (found == json.end() || !found->is_array()) return false;
  for (const nlohmann::json& number : *found) {
    if (!number.is_number_unsigned()) return false;
    const auto value = number.get<uint64_t>();
    if (value > static_cast<uint64_t>(std::numeric_limits<T>::max())) {
      return false;
    }
    numbers.push_back(static_cast<T>(value));
  }
  return true;
}

}  // namespace

absl::StatusOr<StepDecision> ParseStepDecision(absl::string_view text,
                                               size_t nodes) {
  const auto json =
      nlohmann::json::parse(text.begin(), text.end(), nullptr, false);
  if (!json.is_object()) return NotADecision("a JSON object");
  StepDecision decision;
  std::vector<size_t> fused;
  if (!ReadNumbers(json, "assignment", decision.devices) ||
      !ReadNumbers(json, "priorities", decision.priorities) ||
      !ReadNumbers(json, "fused", fused)) {
    return NotADecision(
        "\"assignment\", \"priorities\" and \"fused\", lists of numbers");
  }
  decision.fused.resize(nodes);
  for (const size_t node : fused) {
    if (node >= nodes) return NotADecision("fused nodes of the graph");
    decision.fused[node] = 1;
  }
  if (decision.devices.size() != nodes || decision.priorities.size() != nodes) {
    return NotADecision(absl::StrCat(nodes, " nodes"));
  }
  return decision;
}

std::optional<std::vector<int32_t>> ValuesOfDecision(const StepProblem& problem,
                                                     absl::string_view text) {
  const StepSpace& space = problem.space();
  const absl::StatusOr<StepDecision> decision =
      ParseStepDecision(text, space.graph().size());
  if (!decision.ok()) return std::nullopt;
  const auto json =
      nlohmann::json::parse(text.begin(), text.end(), nullptr, false);
  const auto order = json.find("order");
  const int32_t number = order != json.end() && order->is_number_unsigned()
                             ? order->get<int32_t>()
                             : 0;
  std::vector<int32_t> values =
      space.Encode(decision->devices, decision->fused, number);
  std::vector<int32_t> levels;
  if (space.decisions().priorities && ReadNumbers(json, "levels", levels) &&
      levels.size() == space.unit_count()) {
    std::copy(levels.begin(), levels.end(),
              values.begin() + space.first_priority());
  }
  if (!problem.IsInDomain(values)) return std::nullopt;
  return values;
}

}  // namespace hone::tuning
