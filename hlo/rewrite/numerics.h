#ifndef HONE_HLO_REWRITE_NUMERICS_H_
#define HONE_HLO_REWRITE_NUMERICS_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace hone::hlo {

// The numeric class of a rewrite: how far its result may differ from what it
// replaces. Every rewrite declares one.
enum class NumericClass {
  // Every element is equal, up to the payload of NaNs and the sign of zero (and
  // so the sign of what is divided by such a zero).
  kExact,
  // Finite elements may differ by rounding. An element that was finite stays
  // finite, whatever the arguments, unless it was within rounding of the
  // largest number of its type.
  kReassociates,
  // May overflow, underflow or make NaN where the original did not:
  // x·s·t → x·(s·t) with scalars that are known at run time only.
  kChangesRange,
};

// The numeric classes that a user permits: the option `numerics`, part of the
// key of every cached result.
enum class Numerics {
  kExact,        // `exact`: rewrites of class kExact only
  kReassociate,  // `reassociate`, the default: and kReassociates
  kFast,         // `fast`: all of them
};

// Returns true if `numerics` permits rewrites of class `numeric_class`.
constexpr bool Permits(Numerics numerics, NumericClass numeric_class) {
  return static_cast<int>(numeric_class) <= static_cast<int>(numerics);
}

// `exact`, `reassociate` or `fast`.
absl::string_view NumericsName(Numerics numerics);
// `exact`, `reassociates` or `changes_range`.
absl::string_view NumericClassName(NumericClass numeric_class);

// The option of that name. Returns InvalidArgument, listing the names, for
// another one.
absl::StatusOr<Numerics> ParseNumerics(absl::string_view name);

}  // namespace hone::hlo

#endif  // HONE_HLO_REWRITE_NUMERICS_H_
