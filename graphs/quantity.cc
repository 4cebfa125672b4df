#include "graphs/quantity.h"

#include "absl/strings/str_format.h"

namespace hone::graphs {

absl::Status CheckQuantity(absl::string_view list, size_t index,
                           absl::string_view field, double value) {
  if (IsQuantity(value)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrFormat("%s[%d].%s is %g, expected %s", list, index, field, value,
                      kQuantityRange));
}

}  // namespace hone::graphs
