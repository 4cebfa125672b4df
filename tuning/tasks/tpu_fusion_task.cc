#include "tuning/tasks/tpu_fusion_task.h"

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "nlohmann/json.hpp"

#include "base/status_macros.h"
#include "hlo/fusion/fuse.h"
#include "tuning/cache_key.h"

namespace hone::tuning {
namespace {

// The places of the ones among `values`.
nlohmann::ordered_json PlacesOf(absl::Span<const int32_t> values) {
  auto places = nlohmann::ordered_json::array();
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] != 0) places.push_back(i);
  }
  return places;
}

// Sets the values at the places that `field` lists; returns false if it is no
// list of places of `values`.
bool SetPlaces(const nlohmann::json& json, const char* field,
               absl::Span<int32_t> values) {
  const auto places = json.find(field);
  if (places == json.end() || !places->is_array()) return false;
  for (const nlohmann::json& place : *places) {
    if (!place.is_number_unsigned() || place.get<uint64_t>() >= values.size()) {
      return false;
    }
    values[place.get<size_t>()] = 1;
  }
  return true;
}

}  // namespace

absl::StatusOr<std::string> TpuFusionTask::OptionsKey(
    const TaskOptions& options) const {
  if (options.cluster.has_value()) {
    return absl::InvalidArgumentError(
        "a cluster with target 'tpu', expected one of them");
  }
  if (!options.tpu.has_value()) {
    return absl::InvalidArgumentError(
        "task 'fusion' has no TPU, expected the description of one");
  }
  return TpuKey(*options.tpu);
}

absl::StatusOr<std::string> TpuFusionTask::ResolveTarget(
    absl::string_view requested, backends::KernelMeasurer*) const {
  if (requested.empty() || requested == default_target()) {
    return default_target();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "target '", requested, "', expected '", default_target(), "'"));
}

absl::StatusOr<std::unique_ptr<space::Problem>> TpuFusionTask::CreateProblem(
    const Subject& subject, const TaskOptions& options,
    const TaskContext& context) const {
  return TpuFusionProblem::Create(subject.module(),
                                  make_options_(options, context));
}

absl::StatusOr<AppliedDecision> TpuFusionTask::Apply(
    const Subject&, const space::Problem& problem,
    const space::Candidate& candidate) const {
  const auto& fusion = static_cast<const TpuFusionProblem&>(problem);
  if (!fusion.IsInDomain(candidate.choices)) {
    return absl::InvalidArgumentError(
        absl::StrCat(candidate.choices.size(),
                     " choices, expected 0 or 1 for "
                     "each of ",
                     fusion.variable_count()));
  }
  const TpuFusionPlan plan = fusion.Plan(candidate.choices);
  HONE_ASSIGN_OR_RETURN(hlo::Module module,
                        hlo::Fuse(fusion.space(), plan.fused, plan.layouts));
  HONE_ASSIGN_OR_RETURN(const space::Measurement measured,
                        problem.Measure(candidate));
  const auto values = absl::MakeConstSpan(candidate.choices);
  const size_t fusible = fusion.space().fusible().size();
  nlohmann::ordered_json json;
  json["objective"] = "tpu-time";
  json["fused"] = PlacesOf(values.first(fusible));
  json["swapped"] = PlacesOf(values.subspan(fusible));
  json["ns"] = measured.cost;
  return AppliedDecision{json.dump(), std::move(module)};
}

std::optional<space::Candidate> TpuFusionTask::CandidateOf(
    const space::Problem& problem, absl::string_view decision) const {
  const auto& fusion = static_cast<const TpuFusionProblem&>(problem);
  const auto json =
      nlohmann::json::parse(decision.begin(), decision.end(), nullptr, false);
  std::vector<int32_t> values(static_cast<size_t>(fusion.variable_count()));
  const size_t fusible = fusion.space().fusible().size();
  if (!json.is_object() ||
      !SetPlaces(json, "fused", absl::MakeSpan(values).first(fusible)) ||
      !SetPlaces(json, "swapped", absl::MakeSpan(values).subspan(fusible))) {
    return std::nullopt;
  }
  return space::Candidate{std::move(values)};
}

absl::StatusOr<Winner> TpuFusionTask::Judge(
    const Subject& subject, const space::Problem& problem,
    const space::Candidate& candidate, const VerifyOptions& options) const {
  HONE_ASSIGN_OR_RETURN(Winner winner,
                        Task::Judge(subject, problem, candidate, options));
  winner.verification.measured_by =
      static_cast<const TpuFusionProblem&>(problem).machines();
  return winner;
}

}  // namespace hone::tuning
