#ifndef HONE_COSTMODELS_LOOP_FOOTPRINT_H_
#define HONE_COSTMODELS_LOOP_FOOTPRINT_H_

#include <cstdint>

#include "absl/types/span.h"

namespace hone::costmodels {

// A loop as an access sees it.
struct StridedLoop {
  // Bytes from one iteration to the next, at least 0.
  double stride = 0;
  double trips = 1;
};

// Returns the number of distinct cache lines that an access of `element_bytes`
// touches in all iterations of nested loops, sorted by ascending stride.
// Iterations of several loops that meet, as those of a window do, count once.
// Exact where strides are multiples of each other and of lines, else about
// right.
double DistinctLines(absl::Span<const StridedLoop> loops, double element_bytes,
                     double line_bytes);

}  // namespace hone::costmodels

#endif  // HONE_COSTMODELS_LOOP_FOOTPRINT_H_
