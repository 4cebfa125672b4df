#ifndef HONE_HLO_PASSES_ALGSIMP_SCALARS_H_
#define HONE_HLO_PASSES_ALGSIMP_SCALARS_H_

#include <cstdint>
#include <optional>

#include "hlo/ir/literal.h"

namespace hone::hlo::algsimp {

// Arithmetic on the constants that rules merge. All literals are read at their
// first element, and results are scalars.

// `value` rounded to a float type of at least 16 bits. Returns nullopt unless
// that is a normal number or zero, and for other types: a rule that reorders
// arithmetic would make or hide an infinity, or lose digits.
std::optional<Literal> NormalScalar(ElementType type, double value);

// a + b, or a - b, of two literals of one type, rounded once. Returns nullopt
// where an integer overflows and where NormalScalar does.
std::optional<Literal> FoldSum(const Literal& a, const Literal& b,
                               bool subtract);

// a · count, likewise.
std::optional<Literal> FoldMultiple(const Literal& a, int64_t count);

// a <= b of two literals of one real type; nullopt for NaN and other types.
std::optional<bool> IsAtMost(const Literal& a, const Literal& b);

}  // namespace hone::hlo::algsimp

#endif  // HONE_HLO_PASSES_ALGSIMP_SCALARS_H_
