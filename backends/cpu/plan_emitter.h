#ifndef HONE_BACKENDS_CPU_PLAN_EMITTER_H_
#define HONE_BACKENDS_CPU_PLAN_EMITTER_H_

#include <string>

#include "absl/status/status.h"

#include "backends/llvm/emitter.h"
#include "loops/lowering/plan/module_plan.h"

namespace llvm {
class Module;
}  // namespace llvm

namespace hone::backends {

// Adds `void symbol(ptr arguments, ptr results)`, which runs the plan's entry,
// and the functions that it calls to `module`. Errors: as EmitProgram.
absl::Status EmitPlan(const loops::ModulePlan& plan, const std::string& symbol,
                      const EmitTarget& target, llvm::Module& module);

}  // namespace hone::backends

#endif  // HONE_BACKENDS_CPU_PLAN_EMITTER_H_
