#ifndef HONE_HLO_PASSES_JOINED_OPERANDS_H_
#define HONE_HLO_PASSES_JOINED_OPERANDS_H_

#include <cstddef>

namespace hone::hlo {

// The most operands that nested concatenations become one with: those of one
// value with itself would double with every level.
inline constexpr size_t kMaxJoinedOperands = 4096;

}  // namespace hone::hlo

#endif  // HONE_HLO_PASSES_JOINED_OPERANDS_H_
