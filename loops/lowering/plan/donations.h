#ifndef HONE_LOOPS_LOWERING_PLAN_DONATIONS_H_
#define HONE_LOOPS_LOWERING_PLAN_DONATIONS_H_

#include <vector>

#include "absl/status/statusor.h"

#include "hlo/ir/module.h"
#include "loops/lowering/plan/module_plan.h"

namespace hone::loops {

// Returns the pairs of the header's input_output_alias, without `in_place`.
// Errors: InvalidArgument if the header cannot be read, or names no array.
absl::StatusOr<std::vector<Donation>> DonationsOf(const hlo::Module& module);

}  // namespace hone::loops

#endif  // HONE_LOOPS_LOWERING_PLAN_DONATIONS_H_
