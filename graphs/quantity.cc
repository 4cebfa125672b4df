#include "graphs/quantity.h"

#include "absl/strings/str_format.h"

namespace hone::graphs {

absl::Status CheckQuantity(absl::string_view list, size_t index,
                           absl::string_view field, double value, double most) {
  if (IsQuantity(value, most)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrFormat("%s[%d].%s is %g, expected a number from 0 to %g", list,
                      index, field, value, most));
}

}  // namespace hone::graphs
