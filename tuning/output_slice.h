#ifndef HONE_TUNING_OUTPUT_SLICE_H_
#define HONE_TUNING_OUTPUT_SLICE_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "hlo/ir/module.h"

namespace hone::tuning {

// Elements of the entry computation's root; 1 when it is no tuple.
int64_t OutputCount(const hlo::Module& module);

// `module` reduced to some of its outputs and what they need: the root is the
// tuple of the root's elements `outputs`. Parameters all stay, so that the same
// arguments fit.
// Errors: FailedPrecondition when the root is no tuple.
absl::StatusOr<hlo::Module> SliceOutputs(const hlo::Module& module,
                                         absl::Span<const int64_t> outputs);

}  // namespace hone::tuning

#endif  // HONE_TUNING_OUTPUT_SLICE_H_
