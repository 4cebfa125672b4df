#ifndef HONE_HLO_EQUIVALENCE_CONTROL_FLOW_H_
#define HONE_HLO_EQUIVALENCE_CONTROL_FLOW_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"

#include "hlo/equivalence/influence.h"
#include "hlo/evaluator/evaluator.h"
#include "hlo/ir/literal.h"
#include "hlo/ir/module.h"

namespace hone::hlo {

// The ways through the control flow that the entry reaches and inputs should
// take: branches, trip counts, and both values of predicates that decide for
// whole arrays (DecidingPredicates) where a scalar parameter has a say in them.
class ControlFlow {
 public:
  // `module` outlives this.
  explicit ControlFlow(const Module& module);

  bool empty() const { return goals_.empty(); }
  // The scalar parameters that may decide on ways not taken yet: one set for
  // each such way.
  std::vector<ScalarSet> Open(const Coverage& coverage) const;
  // "3 of 4 branches, 4 of 4 trip counts, 2 of 2 predicate values"; empty if
  // there are none. The trip counts of a loop are none, one and many, of one
  // that counts from and to constants whatever it has.
  std::string Describe(const Coverage& coverage) const;
  // The module reduced to what its control flow depends on: its root is the
  // tuple of that, its computations and instructions have the ids of the
  // module's.
  const Module& probe() const { return probe_; }

 private:
  enum class Kind { kBranch, kTrips, kPredicate };
  // A way (Coverage) from `first` to `last` through the site: an instruction
  // that calls, or a predicate.
  struct Goal {
    Kind kind;
    ComputationId computation;
    const Instruction* site;
    int64_t first;
    int64_t last;
    ScalarSet scalars;
  };
  static bool IsTaken(const Goal& goal, const Coverage& coverage);
  void Add(Goal goal);
  void AddGoals(const Module& module, ComputationId id,
                const Influence& influence);
  void MakeProbe(const Module& module, const Influence& influence);

  std::vector<Goal> goals_;
  Module probe_;
};

// Looks for arguments that take ways not in `coverage` yet, by setting scalar
// parameters to values that the module compares something with, their
// neighbours, 0, ±1 and large ones: first one parameter at a time, then several
// at once. `arguments` are what else the entry is called with. Adds what is
// found to `coverage` and returns the arguments, one list for each that takes a
// new way. Runs the probe a bounded number of times.
std::vector<std::vector<Literal>> FindWays(const Module& module,
                                           const ControlFlow& control_flow,
                                           absl::Span<const Literal> arguments,
                                           const EvaluateOptions& options,
                                           uint64_t seed, Coverage& coverage);

}  // namespace hone::hlo

#endif  // HONE_HLO_EQUIVALENCE_CONTROL_FLOW_H_
