#ifndef HONE_HLO_INFERENCE_ALIASES_H_
#define HONE_HLO_INFERENCE_ALIASES_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "hlo/ir/module.h"

namespace hone::hlo::inference {

// Returns the header's count of that name (num_partitions, replica_count); 1
// where the header has none.
absl::StatusOr<int64_t> HeaderCount(const Module& module,
                                    absl::string_view name);

// Checks the header's input_output_alias and buffer_donor: every output and
// parameter that they name is an array of the entry computation, none is
// aliased twice, an output has the size of its parameter, and no donor has an
// alias. The entry computation must have a root and all its parameters.
absl::Status VerifyAliases(const Module& module);

}  // namespace hone::hlo::inference

#endif  // HONE_HLO_INFERENCE_ALIASES_H_
