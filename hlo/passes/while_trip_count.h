#ifndef HONE_HLO_PASSES_WHILE_TRIP_COUNT_H_
#define HONE_HLO_PASSES_WHILE_TRIP_COUNT_H_

#include "hlo/module.h"

namespace hone::hlo {

// Whether the body of a while runs exactly that often; more often, or not
// known.
enum class TripCount { kZero, kOne, kOther };

// The trip count of the while `id`, found by computing its condition from the
// scalar constants among its initial values, before and after one round.
// kOther when that takes more than elementwise arithmetic on scalars.
TripCount FindTripCount(const Module& module, const Computation& computation,
                        InstructionId id);

}  // namespace hone::hlo

#endif  // HONE_HLO_PASSES_WHILE_TRIP_COUNT_H_
