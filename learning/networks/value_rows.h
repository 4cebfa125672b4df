#ifndef HONE_LEARNING_NETWORKS_VALUE_ROWS_H_
#define HONE_LEARNING_NETWORKS_VALUE_ROWS_H_

#include <cstdint>
#include <functional>

#include "absl/types/span.h"

#include "learning/assignments/value_view.h"
#include "learning/networks/value_network.h"

namespace hone::learning {

// Calls body(rows, first) for all variables in parts whose scores fit in
// memory, in order; `first` is the first variable of the part.
void ForValueRows(
    const ValueView& view, absl::Span<const int32_t> values,
    const std::function<void(const ValueRows& rows, int32_t first)>& body);

}  // namespace hone::learning

#endif  // HONE_LEARNING_NETWORKS_VALUE_ROWS_H_
