#ifndef HONE_COSTMODELS_LOOP_ROOFLINE_H_
#define HONE_COSTMODELS_LOOP_ROOFLINE_H_

#include <array>
#include <cstddef>
#include <vector>

#include "absl/strings/string_view.h"

#include "costmodels/loop_work.h"
#include "loops/transforms/machine.h"

namespace hone::costmodels {

// The speed of one core. The defaults are those of a nominal core of 4 GHz.
struct LoopRates {
  double cycles_per_ns = 4;
  // Bytes that come into L1, L2 and L3 from what is behind each.
  PerCache bytes_per_ns = {100, 60, 15};
};

// What may limit a kernel, in nanoseconds.
enum class LoopLimit {
  kArithmetic,
  kLoads,
  kStores,
  // Sums that wait for their own last addition.
  kChains,
  kBranches,
  // Lines brought into L1, L2 and L3.
  kL1,
  kL2,
  kL3,
};
inline constexpr size_t kLoopLimits = 8;
absl::string_view LoopLimitName(LoopLimit limit);

struct LoopTimes {
  // One call of the kernel.
  double ns = 0;
  // The sums over the kernel of what each limit would take by itself.
  std::array<double, kLoopLimits> by_limit = {};
  // By statement: its part of `ns`.
  std::vector<double> statement_ns;
};

// Predicts the time of a scheduled kernel from its work: of the statements of a
// loop together, the largest of the times that instructions, chains and each
// level of memory need, and a part of the others, which overlap only in part.
// No part is learned, but for the costs of instructions, which are those of
// current processors. Source of the idea: Williams, Waterman and Patterson,
// "Roofline", 2009, with a roof for each cache, by footprints of loops.
LoopTimes PredictLoopTimes(const LoopWork& work, const loops::Machine& machine,
                           const LoopRates& rates = {});

}  // namespace hone::costmodels

#endif  // HONE_COSTMODELS_LOOP_ROOFLINE_H_
