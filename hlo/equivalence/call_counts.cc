#include "hlo/equivalence/call_counts.h"

#include <vector>

namespace hone::hlo {

std::vector<double> CallCounts(const Module& module) {
  std::vector<double> counts(static_cast<size_t>(module.computation_slots()),
                             0);
  counts[static_cast<size_t>(module.entry())] = 1;
  const std::vector<ComputationId> order = module.ComputationPostOrder();
  for (auto id = order.rbegin(); id != order.rend(); ++id) {
    const double count = counts[static_cast<size_t>(*id)];
    if (count == 0) continue;
    for (const Instruction& instruction :
         module.computation(*id).instructions()) {
      for (ComputationId callee : instruction.called()) {
        counts[static_cast<size_t>(callee)] += count;
      }
    }
  }
  return counts;
}

}  // namespace hone::hlo
