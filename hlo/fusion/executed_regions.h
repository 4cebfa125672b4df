#ifndef HONE_HLO_FUSION_EXECUTED_REGIONS_H_
#define HONE_HLO_FUSION_EXECUTED_REGIONS_H_

#include <vector>

#include "hlo/ir/module.h"

namespace hone::hlo {

// A computation whose instructions run one by one: the entry, or a computation
// of control flow (call, while, conditional, asynchronous operations).
struct ExecutedRegion {
  ComputationId computation = kNoComputation;
  // How often it runs in one execution of the module, at most 1e18.
  double executions = 0;
  // The instructions whose values the root or an effect needs, in the order of
  // CanonicalOrder.
  std::vector<InstructionId> instructions;
};

// Returns the entry and the computations that control flow reaches from it, in
// the order of their first call. A loop runs its body KnownTripCount times and
// its condition once more; the branches of a conditional count as equally
// likely. `module` must verify.
std::vector<ExecutedRegion> ExecutedRegions(const Module& module);

}  // namespace hone::hlo

#endif  // HONE_HLO_FUSION_EXECUTED_REGIONS_H_
