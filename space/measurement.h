#ifndef HONE_SPACE_MEASUREMENT_H_
#define HONE_SPACE_MEASUREMENT_H_

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
  // In the problem's unit; lower is better. Undefined unless outcome is kOk.
  double cost = 0;
  // The samples behind a cost that was measured repeatedly.
  std::vector<double> samples;
  // The reason for an outcome other than kOk.
  std::string message;
};

// Returns the cost for comparisons: infinity unless the outcome is kOk and the
// cost a number.
double EffectiveCost(const Measurement& measurement);

}  // namespace hone::space

#endif  // HONE_SPACE_MEASUREMENT_H_
