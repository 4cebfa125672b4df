#ifndef HONE_OPTIMIZERS_POLICIES_SHIPPED_WEIGHTS_H_
#define HONE_OPTIMIZERS_POLICIES_SHIPPED_WEIGHTS_H_

#include "absl/strings/string_view.h"

namespace hone::optimizers::policies {

// Returns the built-in bytes of models/NAME.pt, for a Problem::policy_name or
// the name of a cost model; empty if there are none.
absl::string_view ShippedWeights(absl::string_view name);

}  // namespace hone::optimizers::policies

#endif  // HONE_OPTIMIZERS_POLICIES_SHIPPED_WEIGHTS_H_
