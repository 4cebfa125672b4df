#ifndef HONE_OPTIMIZERS_POLICIES_ASSIGNMENT_DECODING_H_
#define HONE_OPTIMIZERS_POLICIES_ASSIGNMENT_DECODING_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

#include "learning/assignments/value_view.h"
#include "learning/models/assignment_model.h"
#include "space/domains.h"

namespace hone::optimizers::policies {

// Returns what a policy decides on after the assignment `start`, then after
// that, and so on: the likeliest values under the constraints, the surest
// first. Ends after `rounds`, with the first assignment that is not new, or
// where the constraints let none be found. Each round takes time linear in the
// variables, but for sorting them. Leaves `domains` as they were.
// Source: Zhou et al., "Transferable Graph Optimizers for ML Compilers", 2020,
// section 3 (non-autoregressive decoding in iterations).
std::vector<std::vector<int32_t>> DecodeInRounds(
    const learning::AssignmentModel& model, const learning::ValueView& view,
    absl::Span<const int32_t> start, int rounds, space::Domains& domains);

}  // namespace hone::optimizers::policies

#endif  // HONE_OPTIMIZERS_POLICIES_ASSIGNMENT_DECODING_H_
