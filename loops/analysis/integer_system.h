#ifndef HONE_LOOPS_ANALYSIS_INTEGER_SYSTEM_H_
#define HONE_LOOPS_ANALYSIS_INTEGER_SYSTEM_H_

#include <cstdint>
#include <optional>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"

#include "loops/analysis/interval.h"

namespace hone::loops {

// A system of linear equations and inequalities over bounded integers, which
// dependence analysis and bounds checks ask about.
class IntegerSystem {
 public:
  struct Term {
    int32_t unknown = 0;
    int64_t coefficient = 0;
  };

  // Adds an unknown in lo … hi, both included; returns its number.
  int32_t AddUnknown(int64_t lo, int64_t hi);
  // Adds Σ terms + constant = 0. Each unknown occurs at most once.
  void AddEquality(absl::Span<const Term> terms, int64_t constant);
  // Adds Σ terms + constant ≥ 0. Each unknown occurs at most once.
  void AddAtLeastZero(absl::Span<const Term> terms, int64_t constant);

  // Returns true if some assignment satisfies all constraints; nullopt if
  // `max_nodes` nodes of the search do not decide it, or if sums may overflow
  // 64 bits. Propagates bounds, solves equations for unknowns of coefficient
  // ±1, tests the others by the gcd of their coefficients, then branches on the
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

#endif  // HONE_LOOPS_ANALYSIS_INTEGER_SYSTEM_H_
