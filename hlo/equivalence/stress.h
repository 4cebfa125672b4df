#ifndef HONE_HLO_EQUIVALENCE_STRESS_H_
#define HONE_HLO_EQUIVALENCE_STRESS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"

#include "base/rng.h"
#include "hlo/ir/literal.h"
#include "hlo/ir/module.h"

namespace hone::hlo {

// A change of all random arguments, each towards what random numbers leave out
// and a rewrite may get wrong.
struct Stress {
  enum class Kind {
    // Half of the elements of each array are special: the constants of the
    // modules and their neighbours, zeros of both signs, ±1e-10, ±1, ±100, 1e4,
    // integers of the type's whole range and its ends. Half of the rows of
    // predicates are all false or all true.
    kSpecials,
    // Floats are 1000 times larger, integers near the end of their range,
    // predicates true.
    kLarge,
    kNegative,  // floats are below -10^4, integers near the end of their range
    kHalves,    // floats are halves of odd numbers
    kZero,      // floats and integers are 0, predicates false
    // Some elements of one argument are infinite or NaN. Not where dots or
    // convolutions sum products: with padding by zeros these are NaN, without
    // it they are not, and either may become the other.
    kNonFinite,
  };
  Kind kind = Kind::kSpecials;
  size_t argument = 0;

  std::string Describe() const;
};

// The stresses that `module` is worth, those that show most first: all of them
// for small modules, one for those whose evaluation takes long, none for those
// of many instructions. It depends on the module alone.
std::vector<Stress> StressesFor(const Module& module);

// Finite constants of the module's computations that are scalars or arrays of
// one value, without repetition; at most 64.
std::vector<double> ScalarConstants(const Module& module);

// Changes the arrays of the arguments, whose data must be the caller's own.
// Scalars that are no floats stay as they are: they count steps.
void Apply(const Stress& stress, absl::Span<const double> constants, Rng& rng,
           std::vector<Literal>& arguments);

}  // namespace hone::hlo

#endif  // HONE_HLO_EQUIVALENCE_STRESS_H_
