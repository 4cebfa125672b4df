#ifndef HONE_LOOPS_IR_ELEMENT_NUMBER_H_
#define HONE_LOOPS_IR_ELEMENT_NUMBER_H_

#include <cstdint>
#include <optional>

#include "loops/ir/program.h"

namespace hone::loops {

// Returns the number of an element in the memory of its buffer; nullopt if it
// depends on data.
std::optional<Affine> NumberOf(const Program& program, const Access& access);

// Returns true if `other` is always `distance` elements behind `first`.
bool IsBehind(const Program& program, const Access& first, const Access& other,
              int64_t distance);

}  // namespace hone::loops

#endif  // HONE_LOOPS_IR_ELEMENT_NUMBER_H_
