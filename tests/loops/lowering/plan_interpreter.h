#ifndef HONE_TESTS_LOOPS_LOWERING_PLAN_INTERPRETER_H_
#define HONE_TESTS_LOOPS_LOWERING_PLAN_INTERPRETER_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "hlo/ir/literal.h"
#include "loops/lowering/plan/module_plan.h"

namespace hone::loops {

// Interprets a plan with the memory layout of the plan, so that slots which
// share bytes wrongly show. Arenas are full of garbage at first.
// Errors: as Interpret; Internal for kernels whose results overlap what they
// read, and slots out of their arena.
absl::StatusOr<std::vector<hlo::Literal>> InterpretPlan(
    const ModulePlan& plan, absl::Span<const hlo::Literal> arguments);

}  // namespace hone::loops

#endif  // HONE_TESTS_LOOPS_LOWERING_PLAN_INTERPRETER_H_
