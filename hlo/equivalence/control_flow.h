#ifndef HONE_HLO_EQUIVALENCE_CONTROL_FLOW_H_
#define HONE_HLO_EQUIVALENCE_CONTROL_FLOW_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"

#include "hlo/evaluator/evaluator.h"
#include "hlo/ir/literal.h"
#include "hlo/ir/module.h"

namespace hone::hlo {

// The ways through the control flow that the entry reaches and inputs should
// take.
class ControlFlow {
 public:
  // `module` outlives this.
  explicit ControlFlow(const Module& module);

  bool empty() const { return branches_.empty() && trips_.empty(); }
  // Returns true if all were taken.
  bool IsCovered(const Coverage& coverage) const;
  // "3 of 4 branches, 4 of 4 trip counts"; empty if there are none. The trip
  // counts of a loop are none, one and many, of one that counts from and to
  // constants whatever it has.
  std::string Describe(const Coverage& coverage) const;

 private:
  // A way (Coverage) from `first` to `last` through the site.
  struct Goal {
    const Instruction* site = nullptr;
    int64_t first = 0;
    int64_t last = 0;
  };
  static int64_t CountTaken(absl::Span<const Goal> goals,
                            const Coverage& coverage);

  std::vector<Goal> branches_;
  std::vector<Goal> trips_;
};

// Looks for arguments that take ways not in `coverage` yet, by setting scalar
// parameters to values that the module compares something with, their
// neighbours, 0, ±1 and large ones: first one parameter at a time, then several
// at once. `arguments` are what else the entry is called with. Adds what is
// found to `coverage` and returns the arguments, one list for each new way.
// Runs the module a bounded number of times.
std::vector<std::vector<Literal>> FindWays(const Module& module,
                                           const ControlFlow& control_flow,
                                           absl::Span<const Literal> arguments,
                                           const EvaluateOptions& options,
                                           uint64_t seed, Coverage& coverage);

}  // namespace hone::hlo

#endif  // HONE_HLO_EQUIVALENCE_CONTROL_FLOW_H_
