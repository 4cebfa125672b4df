#ifndef HONE_HLO_PASSES_ALGSIMP_SCALARS_H_
#define HONE_HLO_PASSES_ALGSIMP_SCALARS_H_

#include <optional>

#include "hlo/ir/literal.h"
#include "hlo/ir/opcode.h"

namespace hone::hlo::algsimp {

// op(a, b) of the first elements of two literals of one real type, for add,
// subtract and multiply, as a scalar, rounded once as the element type does.
// nullopt when the result is not a normal number or zero (so that a caller who
// reorders arithmetic neither makes nor hides an infinity), when an integer
// overflows, or for other opcodes and types.
std::optional<Literal> FoldScalars(Opcode opcode, const Literal& a,
                                   const Literal& b);

// a <= b of the first elements of two literals of one real type; nullopt for
// NaN and for types that neither double nor int64_t holds exactly.
std::optional<bool> IsAtMost(const Literal& a, const Literal& b);

}  // namespace hone::hlo::algsimp

#endif  // HONE_HLO_PASSES_ALGSIMP_SCALARS_H_
