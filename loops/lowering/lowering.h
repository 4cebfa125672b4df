#ifndef HONE_LOOPS_LOWERING_LOWERING_H_
#define HONE_LOOPS_LOWERING_LOWERING_H_

#include "absl/status/statusor.h"

#include "hlo/ir/module.h"
#include "loops/lowering/module_plan.h"
#include "loops/program.h"

namespace hone::loops {

// The entry computation as one kernel: arguments and results are those of the
// module, in order (a tuple root gives a result per element). Calls and fusions
// are inlined.
//
// Elementwise producers and those that only move data are fused into their
// consumers where that repeats no expensive work; every other value gets a
// buffer and a loop nest of its own.
//
// Errors: Unimplemented for an opcode or element type without a lowering,
// naming opcode and instruction; control flow is one of them.
absl::StatusOr<Program> LowerToProgram(const hlo::Module& module);

// The whole module, control flow included, as kernels and the functions that
// call them.
// Errors: as LowerToProgram, but for control flow.
absl::StatusOr<ModulePlan> LowerToPlan(const hlo::Module& module);

}  // namespace hone::loops

#endif  // HONE_LOOPS_LOWERING_LOWERING_H_
