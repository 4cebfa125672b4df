#include "space/measurement.h"

#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace hone::space {
namespace {

constexpr std::array<std::pair<Outcome, absl::string_view>, 6> kNames = {{
    {Outcome::kOk, "ok"},
    {Outcome::kInvalid, "invalid"},
    {Outcome::kCompileError, "compile_error"},
    {Outcome::kTimeout, "timeout"},
    {Outcome::kCrashed, "crashed"},
    {Outcome::kWrongResult, "wrong_result"},
}};

}  // namespace

absl::string_view OutcomeName(Outcome outcome) {
  for (const auto& [value, name] : kNames) {
    if (value == outcome) return name;
  }
  return "invalid";
}

std::optional<Outcome> ParseOutcome(absl::string_view name) {
  for (const auto& [value, known] : kNames) {
    if (known == name) return value;
  }
  return std::nullopt;
}

Rank RankOf(const Measurement& measurement) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double violation = measurement.violation;
  if (measurement.outcome == Outcome::kOk) {
    const double cost = EffectiveCost(measurement);
    return {std::isinf(cost) ? kInfinity : 0, cost};
  }
  if (measurement.outcome != Outcome::kInvalid || !(violation > 0) ||
      std::isinf(violation) || std::isnan(measurement.cost)) {
    return {kInfinity, kInfinity};
  }
  return {violation, measurement.cost};
}

double EffectiveCost(const Measurement& measurement) {
  if (measurement.outcome != Outcome::kOk || std::isnan(measurement.cost)) {
    return std::numeric_limits<double>::infinity();
  }
  return measurement.cost;
}

}  // namespace hone::space
