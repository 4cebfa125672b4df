#ifndef HONE_GRAPHS_QUANTITY_H_
#define HONE_GRAPHS_QUANTITY_H_

#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace hone::graphs {

// The largest time or number of bytes in a graph: sums of them stay finite.
inline constexpr double kMaxQuantity = 1e100;
inline constexpr absl::string_view kQuantityRange = "a number from 0 to 1e100";

// Returns true for a number from 0 to kMaxQuantity, so not for NaN.
inline bool IsQuantity(double value) {
  return value >= 0 && value <= kMaxQuantity;
}

// Returns InvalidArgument, "nodes[3].size is -1, expected …", if `value` is no
// quantity.
absl::Status CheckQuantity(absl::string_view list, size_t index,
                           absl::string_view field, double value);

}  // namespace hone::graphs

#endif  // HONE_GRAPHS_QUANTITY_H_
