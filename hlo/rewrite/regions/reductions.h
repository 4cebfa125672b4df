#ifndef HONE_HLO_REWRITE_REGIONS_REDUCTIONS_H_
#define HONE_HLO_REWRITE_REGIONS_REDUCTIONS_H_

#include <optional>

#include "hlo/ir/computation.h"

namespace hone::hlo {

// The opcode of a region `(a, b) -> op(a, b)` of two scalar parameters with
// op associative and commutative (add, multiply, maximum, minimum, and, or,
// xor); nullopt for every other region.
std::optional<Opcode> ReductionOpcode(const Computation& region);

// Returns true if `value` (a scalar) is the identity element of that reduction:
// op(x, value) is x for every x up to the sign of zero.
bool IsReductionIdentity(Opcode opcode, const Literal& value);

}  // namespace hone::hlo

#endif  // HONE_HLO_REWRITE_REGIONS_REDUCTIONS_H_
