#include "tuning/tasks/kernel_decision.h"

#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"

#include "base/excerpt.h"
#include "base/status_macros.h"
#include "loops/transforms/script.h"

namespace hone::tuning {
namespace {

nlohmann::json Parse(absl::string_view json) {
  return nlohmann::json::parse(json.begin(), json.end(), nullptr,
                               /*allow_exceptions=*/false);
}

}  // namespace

absl::StatusOr<std::string> KernelDecision(const KernelProblem& problem,
                                           const space::Candidate& candidate) {
  HONE_ASSIGN_OR_RETURN(const std::vector<loops::Step> script,
                        problem.ScriptOf(candidate));
  nlohmann::ordered_json decision;
  decision["script"] = nlohmann::ordered_json::array();
  for (const loops::Step& step : script) {
    decision["script"].push_back(loops::PrintStep(step));
  }
  decision["choices"] = candidate.choices;
  return decision.dump();
}

absl::StatusOr<std::vector<loops::Step>> ScriptOfDecision(
    absl::string_view json) {
  const nlohmann::json decision = Parse(json);
  if (!decision.is_object() || !decision.contains("script") ||
      !decision["script"].is_array()) {
    return absl::InvalidArgumentError(
        absl::StrCat("decision '", Excerpt(json),
                     "': expected an object with an array 'script'"));
  }
  std::vector<loops::Step> steps;
  for (const nlohmann::json& step : decision["script"]) {
    if (!step.is_string()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "decision '", Excerpt(json), "': expected steps as strings"));
    }
    HONE_ASSIGN_OR_RETURN(loops::Step parsed,
                          loops::ParseStep(step.get<std::string>()));
    steps.push_back(std::move(parsed));
  }
  return steps;
}

std::optional<space::Candidate> CandidateOfDecision(
    const KernelProblem& problem, absl::string_view json) {
  const nlohmann::json decision = Parse(json);
  if (!decision.is_object() || !decision.contains("choices") ||
      !decision["choices"].is_array()) {
    return std::nullopt;
  }
  space::Candidate candidate;
  for (const nlohmann::json& choice : decision["choices"]) {
    if (!choice.is_number_integer()) return std::nullopt;
    candidate.choices.push_back(choice.get<int32_t>());
  }
  const auto stated = ScriptOfDecision(json);
  const auto script = problem.ScriptOf(candidate);
  if (!stated.ok() || !script.ok() || *stated != *script) return std::nullopt;
  return candidate;
}

}  // namespace hone::tuning
