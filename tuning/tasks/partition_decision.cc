#include "tuning/tasks/partition_decision.h"

#include <utility>

#include "absl/status/status.h"
#include "nlohmann/json.hpp"

#include "base/status_macros.h"
#include "graphs/hlo_import.h"
#include "graphs/mcm/partition_rules.h"

namespace hone::tuning {
namespace {

nlohmann::json Parse(absl::string_view json) {
  return nlohmann::json::parse(json.begin(), json.end(), nullptr,
                               /*allow_exceptions=*/false);
}

std::optional<std::vector<int32_t>> ChipsOf(const graphs::PartitionGraph& graph,
                                            const nlohmann::json& decision) {
  if (!decision.is_object()) return std::nullopt;
  const auto assignment = decision.find("assignment");
  if (assignment == decision.end() || !assignment->is_array() ||
      assignment->size() != graph.origin_count()) {
    return std::nullopt;
  }
  std::vector<int32_t> chips;
  for (const graphs::PartitionNode& node : graph.nodes()) {
    const nlohmann::json& chip = (*assignment)[node.origins[0]];
    if (!chip.is_number_unsigned() ||
        chip.get<uint64_t>() >= static_cast<uint64_t>(graph.chips())) {
      return std::nullopt;
    }
    chips.push_back(chip.get<int32_t>());
  }
  return chips;
}

}  // namespace

absl::StatusOr<graphs::PartitionGraph> PartitionGraphOf(
    const Subject& subject, const graphs::Package& package) {
  switch (subject.kind()) {
    case SubjectKind::kGraph:
      return graphs::PartitionGraph::Create(subject.graph(), package);
    case SubjectKind::kOperators:
      return graphs::PartitionGraph::Create(subject.operators(), package);
    case SubjectKind::kModule:
      break;
  }
  HONE_ASSIGN_OR_RETURN(const graphs::OpGraph operators,
                        graphs::ImportHlo(subject.module()));
  return graphs::PartitionGraph::Create(operators, package);
}

std::optional<std::vector<int32_t>> ChipsOfDecision(
    const graphs::PartitionGraph& graph, absl::string_view json) {
  return ChipsOf(graph, Parse(json));
}

absl::StatusOr<PartitionDecision> ParsePartitionDecision(
    const graphs::PartitionGraph& graph, absl::string_view json) {
  const nlohmann::json parsed = Parse(json);
  std::optional<std::vector<int32_t>> chips = ChipsOf(graph, parsed);
  if (!chips.has_value()) {
    return absl::InvalidArgumentError(
        "the decision is no partition of this graph over these chips");
  }
  HONE_RETURN_IF_ERROR(graphs::CheckPartition(graph, *chips));
  const auto objective = parsed.find("objective");
  const auto bound = parsed.find("lower_bound");
  if (objective == parsed.end() || !objective->is_string() ||
      bound == parsed.end() || !bound->is_number()) {
    return absl::InvalidArgumentError(
        "the decision lacks its objective or lower bound");
  }
  return PartitionDecision{.objective = objective->get<std::string>(),
                           .chips = *std::move(chips),
                           .lower_bound = bound->get<double>()};
}

}  // namespace hone::tuning
