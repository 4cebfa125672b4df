#ifndef HONE_SPACE_MEASUREMENT_H_
#define HONE_SPACE_MEASUREMENT_H_

#include <compare>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace hone::space {

// The outcome of a candidate. A bad candidate is data, not an error.
enum class Outcome {
  kOk,
  kInvalid,
  kCompileError,
  kTimeout,
  kCrashed,
  kWrongResult,
};

// Stable names, used in the store and on the wire: "ok", "compile_error", ….
absl::string_view OutcomeName(Outcome outcome);
std::optional<Outcome> ParseOutcome(absl::string_view name);

struct Measurement {
  Outcome outcome = Outcome::kOk;
  // In the problem's unit, at least 0; lower is better. Undefined unless
  // outcome is kOk, or kInvalid with a violation.
  double cost = 0;
  // The samples behind a cost that was measured repeatedly.
  std::vector<double> samples = {};
  // The reason for an outcome other than kOk.
  std::string message = {};
  // How far a kInvalid candidate is from satisfying the constraints: finite and
  // above 0, or 0 if the problem cannot tell. 0 for other outcomes.
  double violation = 0;
};

// The order of measurements: any violation is worse than any cost.
struct Rank {
  double violation = 0;
  double cost = 0;
  friend auto operator<=>(const Rank&, const Rank&) = default;
};

// Returns the rank of a measurement. Outcomes other than kOk rank by their
// violation; those without one, and costs that are not a number, rank last:
// both members are infinite.
Rank RankOf(const Measurement& measurement);

// Returns the cost for comparisons: infinity unless the outcome is kOk and the
// cost a number.
double EffectiveCost(const Measurement& measurement);

}  // namespace hone::space

#endif  // HONE_SPACE_MEASUREMENT_H_
