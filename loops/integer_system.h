#ifndef HONE_LOOPS_INTEGER_SYSTEM_H_
#define HONE_LOOPS_INTEGER_SYSTEM_H_

#include <cstdint>
#include <optional>
#include <vector>

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
  // Σ terms + constant = 0.
  void AddEquality(std::vector<Term> terms, int64_t constant);
  // Σ terms + constant ≥ 0.
  void AddAtLeastZero(std::vector<Term> terms, int64_t constant);

  // Whether some values satisfy everything; nullopt when `max_nodes` nodes of
  // the search were not enough to tell. Bounds propagation, divisibility of
  // equations by the gcd of their coefficients, then branching on the unknown
  // with the smallest domain.
  std::optional<bool> IsFeasible(int64_t max_nodes = 2000) const;

 private:
  struct Constraint {
    std::vector<Term> terms;
    int64_t constant = 0;
    bool equality = false;
  };
  struct Domain {
    int64_t lo = 0;
    int64_t hi = 0;
  };
  class Search;

  std::vector<Domain> domains_;
  std::vector<Constraint> constraints_;
};

}  // namespace hone::loops

#endif  // HONE_LOOPS_INTEGER_SYSTEM_H_
