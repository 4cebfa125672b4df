#ifndef HONE_OPTIMIZERS_POLICIES_SPEC_DIGEST_H_
#define HONE_OPTIMIZERS_POLICIES_SPEC_DIGEST_H_

#include <string>
#include <vector>

#include "absl/types/span.h"

#include "learning/assignments/value_view.h"
#include "space/observation.h"

namespace hone::optimizers::policies {

// Returns a digest of all names and counts that the weights and the solutions
// of a training refer to by index: those of what a policy sees, and further
// lists of names.
std::string DigestOf(const space::ObservationSpec& spec,
                     absl::Span<const std::vector<std::string>> lists);

// The same for a policy for assignments.
std::string DigestOf(const learning::AssignmentSpec& spec);

}  // namespace hone::optimizers::policies

#endif  // HONE_OPTIMIZERS_POLICIES_SPEC_DIGEST_H_
