#ifndef HONE_LOOPS_INTEGER_SYSTEM_H_
#define HONE_LOOPS_INTEGER_SYSTEM_H_

#include <cstdint>
#include <optional>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"

#include "loops/interval.h"

namespace hone::loops {

// Linear equations and inequalities over bounded integers: the questions of
// dependence analysis.
class IntegerSystem {
 public:
  struct Term {
    int32_t unknown = 0;
    int64_t coefficient = 0;
  };

  // An unknown in lo … hi, both included; its number.
  int32_t AddUnknown(int64_t lo, int64_t hi);
  // Σ terms + constant = 0; an unknown may occur once.
  void AddEquality(absl::Span<const Term> terms, int64_t constant);
  // Σ terms + constant ≥ 0; likewise.
  void AddAtLeastZero(absl::Span<const Term> terms, int64_t constant);

  // Whether some values satisfy everything; nullopt when `max_nodes` nodes of
  // the search were not enough to tell, or where sums may leave 64 bits. Bounds
  // propagation, equations solved for unknowns of coefficient ±1, divisibility
  // of the others by the gcd of their coefficients, then branching on the
  // unknown with the smallest domain.
  std::optional<bool> IsFeasible(int64_t max_nodes = 2000) const;

 private:
  using Domains = absl::InlinedVector<Interval, 16>;
  struct Constraint {
    absl::InlinedVector<Term, 6> terms;
    int64_t constant = 0;
    bool equality = false;
  };
  using Constraints = absl::InlinedVector<Constraint, 6>;
  class Search;

  void Add(absl::Span<const Term> terms, int64_t constant, bool equality);

  Domains domains_;
  Constraints constraints_;
};

}  // namespace hone::loops

#endif  // HONE_LOOPS_INTEGER_SYSTEM_H_
