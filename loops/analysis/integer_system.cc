#include "loops/analysis/integer_system.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/division.h"

namespace hone::loops {
namespace {

// Sums of this magnitude, and their differences, do not overflow.
constexpr double kLargestSum = 1e18;

}  // namespace

int32_t IntegerSystem::AddUnknown(int64_t lo, int64_t hi) {
  domains_.push_back({lo, hi});
  return static_cast<int32_t>(domains_.size() - 1);
}

void IntegerSystem::AddEquality(absl::Span<const Term> terms,
                                int64_t constant) {
  Add(terms, constant, /*equality=*/true);
}

void IntegerSystem::AddAtLeastZero(absl::Span<const Term> terms,
                                   int64_t constant) {
  Add(terms, constant, /*equality=*/false);
}

void IntegerSystem::Add(absl::Span<const Term> terms, int64_t constant,
                        bool equality) {
  Constraint& constraint = constraints_.emplace_back();
  for (const Term& term : terms) {
    HONE_CHECK(term.unknown >= 0 &&
               static_cast<size_t>(term.unknown) < domains_.size());
    if (term.coefficient != 0) constraint.terms.push_back(term);
  }
  constraint.constant = constant;
  constraint.equality = equality;
}

// A depth-first search; a node is a domain for each unknown.
class IntegerSystem::Search {
 public:
  Search(const Constraints& constraints, Domains domains)
      : constraints_(constraints), root_(std::move(domains)) {}

  std::optional<bool> Run(int64_t max_nodes) {
    for (const Interval& domain : root_) {
      if (domain.IsEmpty()) return false;
    }
    for (const Constraint& constraint : constraints_) {
      if (Magnitude(constraint) > kLargestSum) return std::nullopt;
    }
    if (!Propagate(root_)) return false;
    if (!HasOpenConstraint()) return true;
    if (!SolveEquations()) return false;
    return Branch(max_nodes);
  }

 private:
  enum class State : uint8_t { kHolds, kFails, kOpen };

  static Interval Values(const Constraint& constraint, const Domains& domains) {
    Interval sum{constraint.constant, constraint.constant};
    for (const Term& term : constraint.terms) {
      sum += term.coefficient * domains[static_cast<size_t>(term.unknown)];
    }
    return sum;
  }

  static State StateOf(const Constraint& constraint, const Interval& values) {
    if (values.hi < 0 || (constraint.equality && values.lo > 0)) {
      return State::kFails;
    }
    if (values.lo >= 0 && (!constraint.equality || values.hi == 0)) {
      return State::kHolds;
    }
    return State::kOpen;
  }

  // An upper bound of the magnitude of all partial sums of the constraint.
  double Magnitude(const Constraint& constraint) const {
    double sum = std::abs(static_cast<double>(constraint.constant));
    for (const Term& term : constraint.terms) {
      const Interval& domain = root_[static_cast<size_t>(term.unknown)];
      sum += std::abs(static_cast<double>(term.coefficient)) *
             std::max({std::abs(static_cast<double>(domain.lo)),
                       std::abs(static_cast<double>(domain.hi)), 1.0});
    }
    return sum;
  }

  bool HasOpenConstraint() const {
    return std::any_of(
        constraints_.begin(), constraints_.end(),
        [this](const Constraint& constraint) {
          return StateOf(constraint, Values(constraint, root_)) == State::kOpen;
        });
  }

  // Returns true if an equation can hold modulo the gcd of the coefficients of
  // its open unknowns.
  static bool IsDivisible(const Constraint& constraint,
                          const Domains& domains) {
    int64_t gcd = 0;
    int64_t constant = constraint.constant;
    for (const Term& term : constraint.terms) {
      const Interval& domain = domains[static_cast<size_t>(term.unknown)];
      if (domain.lo == domain.hi) {
        constant += term.coefficient * domain.lo;
      } else {
        gcd = std::gcd(gcd, term.coefficient);
        if (gcd == 1) return true;
      }
    }
    return gcd == 0 ? constant == 0 : constant % gcd == 0;
  }

  // Removes values that no solution has from domains; returns false if one
  // becomes empty. Stops early if rounds make little progress, which leaves
  // domains wider than necessary.
  bool Propagate(Domains& domains) const {
    constexpr int kMaxRounds = 24;
    bool changed = true;
    for (int round = 0; changed && round < kMaxRounds; ++round) {
      changed = false;
      for (const Constraint& constraint : constraints_) {
        const Interval values = Values(constraint, domains);
        switch (StateOf(constraint, values)) {
          case State::kFails:
            return false;
          case State::kHolds:
            continue;
          case State::kOpen:
            break;
        }
        if (constraint.equality && !IsDivisible(constraint, domains)) {
          return false;
        }
        for (const Term& term : constraint.terms) {
          changed |= Narrow(domains, term, values, constraint.equality);
        }
      }
      for (const Interval& domain : domains) {
        if (domain.IsEmpty()) return false;
      }
    }
    return true;
  }

  // Narrows the domain of one term's unknown to the values that the others
  // allow: the sum of all terms is within `values` and must be able to reach 0.
  static bool Narrow(Domains& domains, const Term& term, const Interval& values,
                     bool equality) {
    Interval& domain = domains[static_cast<size_t>(term.unknown)];
    const int64_t c = term.coefficient;
    const Interval before = domain;
    // An earlier term of the same constraint may have emptied it.
    if (before.lo >= before.hi) return false;
    // c·x ≥ -(largest sum of the others)
    if (c > 0) {
      domain.lo = std::max(domain.lo, CeilDivide(c * before.hi - values.hi, c));
    } else {
      domain.hi =
          std::min(domain.hi, FloorDivide(c * before.lo - values.hi, c));
    }
    if (equality) {  // and c·x ≤ -(smallest sum of the others)
      if (c > 0) {
        domain.hi =
            std::min(domain.hi, FloorDivide(c * before.lo - values.lo, c));
      } else {
        domain.lo =
            std::max(domain.lo, CeilDivide(c * before.hi - values.lo, c));
      }
    }
    return domain.lo != before.lo || domain.hi != before.hi;
  }

  // Eliminates unknowns that an equation expresses as an integer sum of others,
  // which bounds propagation alone handles badly (x = y, x > y takes a round
  // per value). Returns false if there is no solution.
  bool SolveEquations() {
    for (size_t i = 0; i < constraints_.size();) {
      if (!Normalize(constraints_[i])) return false;
      if (constraints_[i].terms.empty() ||
          (constraints_[i].equality && SolveFor(i))) {
        constraints_.erase(constraints_.begin() + static_cast<ptrdiff_t>(i));
        // A substitution may have made other equations solvable.
        i = 0;
      } else {
        ++i;
      }
    }
    return true;
  }

  // Removes fixed unknowns and common factors. Returns false if the constraint
  // cannot hold.
  bool Normalize(Constraint& constraint) const {
    int64_t gcd = 0;
    size_t kept = 0;
    for (const Term& term : constraint.terms) {
      const Interval& domain = root_[static_cast<size_t>(term.unknown)];
      if (domain.lo == domain.hi) {
        constraint.constant += term.coefficient * domain.lo;
      } else {
        gcd = std::gcd(gcd, term.coefficient);
        constraint.terms[kept++] = term;
      }
    }
    constraint.terms.resize(kept);
    if (kept == 0) {
      return constraint.equality ? constraint.constant == 0
                                 : constraint.constant >= 0;
    }
    if (gcd == 1) return true;
    if (constraint.equality && constraint.constant % gcd != 0) return false;
    for (Term& term : constraint.terms) term.coefficient /= gcd;
    constraint.constant = FloorDivide(constraint.constant, gcd);
    return true;
  }

  // Substitutes an unknown of equation `which` in all other constraints;
  // returns false if none has coefficient ±1.
  bool SolveFor(size_t which) {
    const Constraint equation = constraints_[which];
    const auto solved = std::find_if(
        equation.terms.begin(), equation.terms.end(), [](const Term& t) {
          return t.coefficient == 1 || t.coefficient == -1;
        });
    if (solved == equation.terms.end()) return false;
    const int32_t unknown = solved->unknown;
    // unknown = Σ value.terms + value.constant
    Constraint value;
    for (const Term& term : equation.terms) {
      if (term.unknown == unknown) continue;
      value.terms.push_back(
          {term.unknown, -solved->coefficient * term.coefficient});
    }
    value.constant = -solved->coefficient * equation.constant;

    Constraints substituted = constraints_;
    for (Constraint& constraint : substituted) {
      const auto at = std::find_if(
          constraint.terms.begin(), constraint.terms.end(),
          [unknown](const Term& t) { return t.unknown == unknown; });
      if (at == constraint.terms.end()) continue;
      const int64_t factor = at->coefficient;
      constraint.terms.erase(at);
      if (Magnitude(constraint) +
              std::abs(static_cast<double>(factor)) * Magnitude(value) >
          kLargestSum) {
        return false;
      }
      AddMultiple(constraint, value, factor);
    }
    const Interval domain = root_[static_cast<size_t>(unknown)];
    Constraint at_least = value;
    at_least.constant -= domain.lo;
    Constraint at_most;
    at_most.constant = domain.hi;
    AddMultiple(at_most, value, -1);
    for (Constraint* bound : {&at_least, &at_most}) {
      if (StateOf(*bound, Values(*bound, root_)) != State::kHolds) {
        substituted.push_back(*bound);
      }
    }
    constraints_ = std::move(substituted);
    return true;
  }

  static void AddMultiple(Constraint& to, const Constraint& what,
                          int64_t factor) {
    to.constant += factor * what.constant;
    for (const Term& term : what.terms) {
      const auto at = std::find_if(
          to.terms.begin(), to.terms.end(),
          [&](const Term& t) { return t.unknown == term.unknown; });
      if (at == to.terms.end()) {
        to.terms.push_back({term.unknown, factor * term.coefficient});
      } else if ((at->coefficient += factor * term.coefficient) == 0) {
        to.terms.erase(at);
      }
    }
  }

  std::optional<bool> Branch(int64_t max_nodes) const {
    std::vector<Domains> open{root_};
    for (int64_t nodes = 0; !open.empty(); ++nodes) {
      if (nodes == max_nodes) return std::nullopt;
      Domains domains = std::move(open.back());
      open.pop_back();
      if (!Propagate(domains)) continue;
      const std::optional<int32_t> unknown = Choose(domains);
      if (!unknown.has_value()) {
        if (AllHold(domains)) return true;
        continue;
      }
      PushBranches(domains, static_cast<size_t>(*unknown), open);
    }
    return false;
  }

  // Returns the unknown of open constraints with the smallest domain; nullopt
  // if there is none.
  std::optional<int32_t> Choose(const Domains& domains) const {
    std::optional<int32_t> best;
    int64_t best_size = std::numeric_limits<int64_t>::max();
    for (const Constraint& constraint : constraints_) {
      if (StateOf(constraint, Values(constraint, domains)) != State::kOpen) {
        continue;
      }
      for (const Term& term : constraint.terms) {
        const Interval& domain = domains[static_cast<size_t>(term.unknown)];
        const int64_t size = domain.hi - domain.lo;
        if (size == 0 || size >= best_size) continue;
        best = term.unknown;
        best_size = size;
      }
    }
    return best;
  }

  bool AllHold(const Domains& domains) const {
    return std::all_of(constraints_.begin(), constraints_.end(),
                       [&](const Constraint& constraint) {
                         return StateOf(constraint,
                                        Values(constraint, domains)) ==
                                State::kHolds;
                       });
  }

  // The value closest to 0 first, since differences of iterations are often 0;
  // then the two halves of the larger side, and the smaller side.
  static void PushBranches(const Domains& domains, size_t unknown,
                           std::vector<Domains>& open) {
    const Interval domain = domains[unknown];
    const int64_t probe = std::clamp<int64_t>(0, domain.lo, domain.hi);
    const auto push = [&](int64_t lo, int64_t hi) {
      if (lo > hi) return;
      open.push_back(domains);
      open.back()[unknown] = {lo, hi};
    };
    push(domain.lo, probe - 1);
    const int64_t middle = probe + (domain.hi - probe + 1) / 2;
    push(middle + 1, domain.hi);
    push(probe + 1, middle);
    push(probe, probe);
  }

  Constraints constraints_;
  Domains root_;
};

std::optional<bool> IntegerSystem::IsFeasible(int64_t max_nodes) const {
  return Search(constraints_, domains_).Run(max_nodes);
}

}  // namespace hone::loops
