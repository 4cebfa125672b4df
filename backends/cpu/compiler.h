#ifndef HONE_BACKENDS_CPU_COMPILER_H_
#define HONE_BACKENDS_CPU_COMPILER_H_

#include <string>

#include "absl/status/statusor.h"

#include "backends/cpu/host.h"
#include "loops/ir/program.h"
#include "loops/lowering/plan/module_plan.h"

namespace hone::backends {

// The C signature of a compiled entry: arguments and results in order, dense
// and row-major, of any alignment.
using EntryFunction = void (*)(const void* const* arguments,
                               void* const* results);

struct CompileOptions {
  // LLVM's names of processor and features; the host by default.
  std::string cpu = DetectHost().name;
  std::string features = DetectHost().features;
};

// Compiles `program` to a relocatable object that defines the EntryFunction
// `symbol` and requires the functions of kernel_runtime.h. Thread-safe. Returns
// InvalidArgument if the program does not verify, and Unimplemented, naming the
// operation, if the emitter does not support one.
absl::StatusOr<std::string> CompileProgram(const loops::Program& program,
                                           const std::string& symbol,
                                           const CompileOptions& options = {});

// Compiles a whole module, including control flow, in the same way.
absl::StatusOr<std::string> CompilePlan(const loops::ModulePlan& plan,
                                        const std::string& symbol,
                                        const CompileOptions& options = {});

// Returns the LLVM IR of a program as text, before or after optimization, for
// display.
absl::StatusOr<std::string> EmitLlvmText(const loops::Program& program,
                                         const std::string& symbol,
                                         bool optimized,
                                         const CompileOptions& options = {});

}  // namespace hone::backends

#endif  // HONE_BACKENDS_CPU_COMPILER_H_
