#ifndef HONE_BACKENDS_CPU_COMPILER_H_
#define HONE_BACKENDS_CPU_COMPILER_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "backends/cpu/host.h"
#include "loops/lowering/module_plan.h"
#include "loops/program.h"

namespace hone::backends {

// What a compiled entry looks like from C: arguments and results in order,
// dense and row-major, of any alignment.
using EntryFunction = void (*)(const void* const* arguments,
                               void* const* results);

struct CompileOptions {
  // LLVM's names; of the host by default.
  std::string cpu = DetectHost().name;
  std::string features = DetectHost().features;
};

// Native code for `program` as a relocatable object that defines the
// EntryFunction `symbol` and needs the functions of kernel_runtime.h.
// Threads: thread-safe.
// Errors: InvalidArgument for a program that does not verify; Unimplemented for
// what the emitter cannot express, naming it.
absl::StatusOr<std::string> CompileProgram(const loops::Program& program,
                                           const std::string& symbol,
                                           const CompileOptions& options = {});

// Likewise for a whole module, control flow included.
absl::StatusOr<std::string> CompilePlan(const loops::ModulePlan& plan,
                                        const std::string& symbol,
                                        const CompileOptions& options = {});

// LLVM IR as text, before and after its optimisation: for people.
absl::StatusOr<std::string> EmitLlvmText(const loops::Program& program,
                                         const std::string& symbol,
                                         bool optimized,
                                         const CompileOptions& options = {});

}  // namespace hone::backends

#endif  // HONE_BACKENDS_CPU_COMPILER_H_
