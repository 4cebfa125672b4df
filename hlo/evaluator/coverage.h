#ifndef HONE_HLO_EVALUATOR_COVERAGE_H_
#define HONE_HLO_EVALUATOR_COVERAGE_H_

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/btree_set.h"

#include "hlo/ir/computation.h"
#include "hlo/ir/instruction.h"

namespace hone::hlo {

// The ways that control flow took in evaluations of one module: the branches of
// conditionals, whether the bodies of loops ran no, one or more times, and the
// values of deciding predicates (DecidingPredicates). Sites that call the same
// computations count as one.
class Coverage {
 public:
  // The way through the loop for that many passes through its body.
  static int64_t WayOfTrips(int64_t trips) {
    return std::min<int64_t>(trips, 2);
  }

  // Records that `site`, a conditional or while, took that way: the number of a
  // branch, or WayOfTrips.
  void Add(const Instruction& site, int64_t way) {
    ways_.emplace(Site(site), way);
  }
  bool Has(const Instruction& site, int64_t way) const {
    return ways_.contains({Site(site), way});
  }

  // Records the value of a deciding predicate.
  void AddPredicate(ComputationId computation, InstructionId predicate,
                    bool value) {
    predicates_.insert({{computation, predicate}, value});
  }
  bool HasPredicate(ComputationId computation, InstructionId predicate,
                    bool value) const {
    return predicates_.contains({{computation, predicate}, value});
  }

  // The number of ways taken and of values of predicates.
  size_t size() const { return ways_.size() + predicates_.size(); }

 private:
  using Callees = std::pair<ComputationId, ComputationId>;
  static Callees Site(const Instruction& site) {
    return {site.called().front(), site.called().back()};
  }

  absl::btree_set<std::pair<Callees, int64_t>> ways_;
  absl::btree_set<std::pair<std::pair<ComputationId, InstructionId>, bool>>
      predicates_;
};

// Returns the predicates of `computation` that decide for whole arrays, as a
// branch does: comparisons whose elements are all the same (scalars, and what
// repeats them), and predicates of `select` that are. Those that only choose
// the branch of a conditional are left out.
std::vector<InstructionId> DecidingPredicates(const Computation& computation);

}  // namespace hone::hlo

#endif  // HONE_HLO_EVALUATOR_COVERAGE_H_
