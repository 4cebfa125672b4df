#ifndef HONE_LOOPS_LOWERING_LOWERING_H_
#define HONE_LOOPS_LOWERING_LOWERING_H_

#include "absl/status/statusor.h"

#include "hlo/ir/module.h"
#include "loops/ir/program.h"
#include "loops/lowering/plan/module_plan.h"

namespace hone::loops {

// Lowers the entry computation to one kernel. Its arguments and results are
// those of the module, in order (a tuple root gives a result per element).
// Calls and fusions are inlined.
//
// Elementwise and data movement producers are fused into their consumers if
// that repeats no expensive work; every other value gets a buffer and a loop
// nest.
//
// Returns Unimplemented for control flow, and for an opcode or element type
// without a lowering; the message names opcode and instruction.
absl::StatusOr<Program> LowerToProgram(const hlo::Module& module);

// Lowers the whole module, including control flow, to kernels and the functions
// that call them. Errors: as LowerToProgram, but control flow is supported.
absl::StatusOr<ModulePlan> LowerToPlan(const hlo::Module& module);

}  // namespace hone::loops

#endif  // HONE_LOOPS_LOWERING_LOWERING_H_
