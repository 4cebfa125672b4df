#ifndef HONE_LOOPS_IR_CODE_LIMITS_H_
#define HONE_LOOPS_IR_CODE_LIMITS_H_

#include <cstdint>

namespace hone::loops {

// What code generators do in registers, which lowering and schedules count on.

// The most adjacent stores of a vector loop that are interleaved.
inline constexpr int64_t kMostInterleavedStores = 4;
// The longest side of a block that is transposed: the vector of a loop, and the
// unrolled loop around it.
inline constexpr int64_t kMostTransposed = 16;
// The most partial results of one statement of an unrolled reduction.
inline constexpr int64_t kMostPartialResults = 16;

}  // namespace hone::loops

#endif  // HONE_LOOPS_IR_CODE_LIMITS_H_
