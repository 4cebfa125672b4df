#ifndef HONE_LEARNING_ASSIGNMENTS_SAMPLE_H_
#define HONE_LEARNING_ASSIGNMENTS_SAMPLE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"

#include "base/rng.h"
#include "learning/assignments/value_view.h"
#include "space/domains.h"

namespace hone::learning {

// An assignment that was drawn variable by variable under the constraints.
struct AssignmentSample {
  std::vector<int32_t> values;  // [variables]
  // [variables]: the values that a variable was drawn from; none if
  // propagation, or a conflict after the draw, decided it.
  std::vector<uint64_t> choice;
  // [variables]: the logarithm of the probability of the value among `choice`;
  // 0 for variables that were not drawn.
  std::vector<float> log_probability;
};

// Draws an assignment with probabilities in proportion to the exponentials of
// `scores` (as ValueView numbers them), each variable among the values that the
// constraints leave it, in the order given. Leaves `domains` as they were.
// Returns nothing where space::Complete does.
std::optional<AssignmentSample> SampleAssignment(
    const ValueView& view, absl::Span<const float> scores,
    absl::Span<const int32_t> order, space::Domains& domains, Rng& rng);

// The same with the likeliest value each time, the lowest of equal ones.
std::optional<AssignmentSample> DecodeAssignment(
    const ValueView& view, absl::Span<const float> scores,
    absl::Span<const int32_t> order, space::Domains& domains);

// Returns `order` with the variables first whose likeliest value is the most
// probable, so that the constraints of the surest decisions shape the others.
// Equal ones stay in their order.
std::vector<int32_t> SurestFirst(const ValueView& view,
                                 absl::Span<const float> scores,
                                 std::vector<int32_t> order);

// Adds `keep` to the scores of the values of an assignment: how reluctant a
// policy is to change them.
void PreferValues(const ValueView& view, absl::Span<const int32_t> values,
                  float keep, std::vector<float>& scores);

// Returns the `keep` by which, with equal scores otherwise, a sample changes
// about `changes` variables.
float KeepForChanges(const space::AssignmentProblem& problem, double changes);

}  // namespace hone::learning

#endif  // HONE_LEARNING_ASSIGNMENTS_SAMPLE_H_
