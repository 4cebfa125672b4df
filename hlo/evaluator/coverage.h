#ifndef HONE_HLO_EVALUATOR_COVERAGE_H_
#define HONE_HLO_EVALUATOR_COVERAGE_H_

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/container/btree_set.h"

#include "hlo/ir/instruction.h"

namespace hone::hlo {

// The ways that control flow took in evaluations of one module: the branches of
// conditionals, and whether the bodies of loops ran no, one or more times.
// Sites that call the same computations count as one.
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
  // The number of ways taken.
  size_t size() const { return ways_.size(); }

 private:
  using Callees = std::pair<ComputationId, ComputationId>;
  static Callees Site(const Instruction& site) {
    return {site.called().front(), site.called().back()};
  }

  absl::btree_set<std::pair<Callees, int64_t>> ways_;
};

}  // namespace hone::hlo

#endif  // HONE_HLO_EVALUATOR_COVERAGE_H_
