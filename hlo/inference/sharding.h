#ifndef HONE_HLO_INFERENCE_SHARDING_H_
#define HONE_HLO_INFERENCE_SHARDING_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

#include "hlo/ir/shape.h"

namespace hone::hlo::inference {

// Checks the sharding of an instruction of that shape; see VerifyAnnotations.
absl::Status VerifySharding(absl::string_view text, const Shape& shape,
                            int64_t partitions);

}  // namespace hone::hlo::inference

#endif  // HONE_HLO_INFERENCE_SHARDING_H_
