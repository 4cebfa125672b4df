#ifndef HONE_HLO_EVALUATOR_COVERAGE_H_
#define HONE_HLO_EVALUATOR_COVERAGE_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/btree_set.h"

#include "hlo/ir/computation.h"
#include "hlo/ir/instruction.h"

namespace hone::hlo {

// Where a value lies beside a bound.
enum class Side : uint8_t { kBelow, kAt, kAbove };

// A bound at which an instruction begins to do something else: the other
// operand of a comparison, a minimum or a maximum, the ends of a clamp, the
// ends of the range of an index.
struct Boundary {
  // The operand that lies on one side.
  size_t value = 0;
  // The operand that is the bound; `constant` is, if there is none.
  std::optional<size_t> bound;
  double constant = 0;
};

// The boundaries of an instruction whose operands are one number each, or
// repeat one. Complex numbers and predicates have none.
std::vector<Boundary> BoundariesOf(const Computation& computation,
                                   const Instruction& instruction);

// The ways that control flow took in evaluations of one module: the branches of
// conditionals, how often the bodies of loops ran, the values of deciding
// predicates (DecidingPredicates), and the sides of boundaries (BoundariesOf)
// on which values were. Each site is one instruction of a computation, whoever
// calls that.
class Coverage {
 public:
  // The way through the loop for that many passes through its body: none, one,
  // up to 8, or more.
  static int64_t WayOfTrips(int64_t trips) {
    return trips > 8 ? 3 : std::min<int64_t>(trips, 2);
  }

  // Records that a conditional or while took that way: the number of a branch,
  // or WayOfTrips.
  void Add(ComputationId computation, InstructionId site, int64_t way) {
    ways_.emplace(computation, site, way);
  }
  bool Has(ComputationId computation, InstructionId site, int64_t way) const {
    return ways_.contains({computation, site, way});
  }

  // Records the value of a deciding predicate.
  void AddPredicate(ComputationId computation, InstructionId predicate,
                    bool value) {
    predicates_.emplace(computation, predicate, value);
  }
  bool HasPredicate(ComputationId computation, InstructionId predicate,
                    bool value) const {
    return predicates_.contains({computation, predicate, value});
  }

  // Records the side of the boundary with that number (BoundariesOf); NaN is on
  // none.
  void AddSide(ComputationId computation, InstructionId site, size_t number,
               double value, double bound) {
    if (value < bound) {
      sides_.emplace(computation, site, number, Side::kBelow);
    } else if (value > bound) {
      sides_.emplace(computation, site, number, Side::kAbove);
    } else if (value == bound) {
      sides_.emplace(computation, site, number, Side::kAt);
    }
  }
  bool HasSide(ComputationId computation, InstructionId site, size_t number,
               Side side) const {
    return sides_.contains({computation, site, number, side});
  }

  // Adds all that `other` has.
  void Merge(const Coverage& other) {
    ways_.insert(other.ways_.begin(), other.ways_.end());
    predicates_.insert(other.predicates_.begin(), other.predicates_.end());
    sides_.insert(other.sides_.begin(), other.sides_.end());
  }

 private:
  absl::btree_set<std::tuple<ComputationId, InstructionId, int64_t>> ways_;
  absl::btree_set<std::tuple<ComputationId, InstructionId, bool>> predicates_;
  absl::btree_set<std::tuple<ComputationId, InstructionId, size_t, Side>>
      sides_;
};

// Returns the predicates of `computation` that decide for whole arrays, as a
// branch does: comparisons whose elements are all the same (scalars, and what
// repeats them), and predicates of `select` that are. Those that only choose
// the branch of a conditional are left out.
std::vector<InstructionId> DecidingPredicates(const Computation& computation);

}  // namespace hone::hlo

#endif  // HONE_HLO_EVALUATOR_COVERAGE_H_
