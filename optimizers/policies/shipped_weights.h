#ifndef HONE_OPTIMIZERS_POLICIES_SHIPPED_WEIGHTS_H_
#define HONE_OPTIMIZERS_POLICIES_SHIPPED_WEIGHTS_H_

#include "absl/strings/string_view.h"

namespace hone::optimizers::policies {

// The bytes of models/NAME.pt as built in, for Problem::policy_name; empty when
// there are none.
absl::string_view ShippedWeights(absl::string_view name);

}  // namespace hone::optimizers::policies

#endif  // HONE_OPTIMIZERS_POLICIES_SHIPPED_WEIGHTS_H_
