#ifndef HONE_HLO_ANALYSIS_STATED_TRIP_COUNT_H_
#define HONE_HLO_ANALYSIS_STATED_TRIP_COUNT_H_

#include <optional>

#include "hlo/ir/instruction.h"

namespace hone::hlo {

// Returns the trip count that
// backend_config={"known_trip_count":{"n":"10"}} of a `while` states, of any
// size; none if there is none or if it is not written as a whole number in
// decimal digits, without a sign.
std::optional<double> StatedTripCount(const Instruction& instruction);

}  // namespace hone::hlo

#endif  // HONE_HLO_ANALYSIS_STATED_TRIP_COUNT_H_
