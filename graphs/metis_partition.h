#ifndef HONE_GRAPHS_METIS_PARTITION_H_
#define HONE_GRAPHS_METIS_PARTITION_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace hone::graphs {

// Two vertices that should be in one part: if they are not, that costs `cost`.
struct WeightedPair {
  uint32_t a = 0;
  uint32_t b = 0;
  double cost = 0;
};

// Returns the part of each vertex, 0 … parts-1, such that parts have about
// equal work and little is cut; empty if METIS fails, or if there are fewer
// than four vertices a part. Pairs that are given several times add up.
// Deterministic. Source: Karypis and Kumar, "A fast and high quality multilevel
// scheme for partitioning irregular graphs", 1998.
std::vector<int32_t> PartitionByMetis(absl::Span<const double> work,
                                      absl::Span<const WeightedPair> pairs,
                                      int32_t parts);

}  // namespace hone::graphs

#endif  // HONE_GRAPHS_METIS_PARTITION_H_
