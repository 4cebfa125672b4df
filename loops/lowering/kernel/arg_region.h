#ifndef HONE_LOOPS_LOWERING_KERNEL_ARG_REGION_H_
#define HONE_LOOPS_LOWERING_KERNEL_ARG_REGION_H_

#include <optional>

#include "hlo/ir/computation.h"

namespace hone::loops {

// Matches a region (value, index, value, index) -> (value, index) that keeps
// the greater (true) or smaller (false) value, with the index of the first of
// equal values and of the first NaN. The indices of the first pair must be
// smaller where it is called.
std::optional<bool> KeepsFirstExtremum(const hlo::Computation& region);

}  // namespace hone::loops

#endif  // HONE_LOOPS_LOWERING_KERNEL_ARG_REGION_H_
