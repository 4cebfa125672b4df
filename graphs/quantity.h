#ifndef HONE_GRAPHS_QUANTITY_H_
#define HONE_GRAPHS_QUANTITY_H_

#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace hone::graphs {

// The largest time, or number of operations or of bytes moved, in a graph: sums
// and products of them stay finite.
inline constexpr double kMaxQuantity = 1e18;
// The largest number of bytes in memory. Simulators add and subtract them: what
// is in memory beside them must not be lost to rounding.
inline constexpr double kMaxMemoryBytes = 1e15;

// Returns true for a number from 0 to `most`, so not for NaN.
inline bool IsQuantity(double value, double most = kMaxQuantity) {
  return value >= 0 && value <= most;
}

// Returns InvalidArgument, "nodes[3].size is -1, expected …", if `value` is no
// number from 0 to `most`.
absl::Status CheckQuantity(absl::string_view list, size_t index,
                           absl::string_view field, double value,
                           double most = kMaxQuantity);

}  // namespace hone::graphs

#endif  // HONE_GRAPHS_QUANTITY_H_
