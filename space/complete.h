#ifndef HONE_SPACE_COMPLETE_H_
#define HONE_SPACE_COMPLETE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "absl/types/span.h"

#include "base/rng.h"
#include "space/domains.h"

namespace hone::space {

// Chooses one of the values in `left`, a set with at least two.
using ValueChooser = std::function<int32_t(int32_t variable, uint64_t left)>;

// Returns a uniformly drawn value of a set that is not empty.
int32_t DrawValue(uint64_t values, Rng& rng);

// The conflicts after which a completion gives up: 2 per variable and 100 more.
int64_t UsualConflicts(const Domains& domains);

// A few: where choices are random, and so is their order, most draws meet fewer
// conflicts than this or do not end, and a new draw costs less.
inline constexpr int64_t kFewConflicts = 32;

// Gives each variable a value, in the order given, which names each variable
// once. Values that the constraints leave no choice about are not asked for.
// Conflicts are undone chronologically, at most `max_conflicts`. Leaves
// `domains` as they were.
// Returns nothing if the limit is reached, there is no assignment, or `stop`,
// polled at each conflict and now and then, returns true.
std::optional<std::vector<int32_t>> Complete(Domains& domains,
                                             absl::Span<const int32_t> order,
                                             const ValueChooser& choose,
                                             const std::function<bool()>& stop,
                                             int64_t max_conflicts);
// The same with the usual limit.
std::optional<std::vector<int32_t>> Complete(
    Domains& domains, absl::Span<const int32_t> order,
    const ValueChooser& choose, const std::function<bool()>& stop = nullptr);

// Returns an assignment that satisfies the constraints and keeps as many of
// `values` as come first in `order`; others are drawn. Leaves `domains` as they
// were. Returns nothing as Complete does.
std::optional<std::vector<int32_t>> Repair(Domains& domains,
                                           absl::Span<const int32_t> order,
                                           absl::Span<const int32_t> values,
                                           Rng& rng);

}  // namespace hone::space

#endif  // HONE_SPACE_COMPLETE_H_
