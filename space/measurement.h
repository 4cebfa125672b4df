#ifndef HONE_SPACE_MEASUREMENT_H_
#define HONE_SPACE_MEASUREMENT_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace hone::space {

// What became of a candidate. A bad candidate is data, not an error.
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
  // Lower is better; in the problem's unit. Meaningless unless outcome is kOk.
  double cost = 0;
  // What cost was computed from, where it was measured repeatedly.
  std::vector<double> samples;
  // Why the outcome is not ok.
  std::string message;
};

// The cost to compare by: infinity unless the outcome is kOk and the cost a
// number.
double EffectiveCost(const Measurement& measurement);

}  // namespace hone::space

#endif  // HONE_SPACE_MEASUREMENT_H_
