#include "hlo/rewrite/numerics.h"

#include "absl/strings/str_cat.h"

namespace hone::hlo {

absl::string_view NumericsName(Numerics numerics) {
  switch (numerics) {
    case Numerics::kExact:
      return "exact";
    case Numerics::kReassociate:
      return "reassociate";
    case Numerics::kFast:
      return "fast";
  }
  return "unknown";
}

absl::string_view NumericClassName(NumericClass numeric_class) {
  switch (numeric_class) {
    case NumericClass::kExact:
      return "exact";
    case NumericClass::kReassociates:
      return "reassociates";
    case NumericClass::kChangesRange:
      return "changes_range";
  }
  return "unknown";
}

absl::StatusOr<Numerics> ParseNumerics(absl::string_view name) {
  for (Numerics numerics :
       {Numerics::kExact, Numerics::kReassociate, Numerics::kFast}) {
    if (NumericsName(numerics) == name) return numerics;
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "unknown numerics '", name, "', expected exact, reassociate or fast"));
}

}  // namespace hone::hlo
