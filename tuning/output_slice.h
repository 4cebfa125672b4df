#ifndef HONE_TUNING_OUTPUT_SLICE_H_
#define HONE_TUNING_OUTPUT_SLICE_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "hlo/ir/module.h"

namespace hone::tuning {

// Returns the number of elements of the entry computation's root; 1 if it is no
// tuple.
int64_t OutputCount(const hlo::Module& module);

// Returns the root's elements that can be evaluated, as far as that shows
// before (hlo/evaluator/evaluable.h).
std::vector<int64_t> EvaluableOutputs(const hlo::Module& module);

// Returns `module` reduced to some of its outputs and their operands: its root
// is the tuple of the root's elements `outputs`. All parameters stay, so that
// the same arguments fit. Errors: FailedPrecondition if the root is no tuple.
absl::StatusOr<hlo::Module> SliceOutputs(const hlo::Module& module,
                                         absl::Span<const int64_t> outputs);

}  // namespace hone::tuning

#endif  // HONE_TUNING_OUTPUT_SLICE_H_
