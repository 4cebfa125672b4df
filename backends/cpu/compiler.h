#ifndef HONE_BACKENDS_CPU_COMPILER_H_
#define HONE_BACKENDS_CPU_COMPILER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

#include "backends/cpu/entry_emitter.h"
#include "backends/cpu/host.h"
#include "backends/cpu/kernel_abi.h"
#include "loops/ir/program.h"
#include "loops/lowering/plan/module_plan.h"

namespace hone::backends {

// The C signature of a compiled entry: arguments and results in order, dense
// and row-major, of any alignment. `context` may be null. Returns HONE_OK, or
// the code of an error (kernel_abi.h).
using EntryFunction = int32_t (*)(const hone_context* context,
                                  const void* const* arguments,
                                  void* const* results);

struct CompileOptions {
  // LLVM's names of processor and features; the host by default.
  std::string cpu = DetectHost().name;
  std::string features = DetectHost().features;
  // For hone_info: threads that the code was scheduled for, and, of a program,
  // pairs of an argument and a result that callers want to give one address.
  // Those that may not (in_place.h) are left out.
  int32_t threads = DetectHost().machine.threads;
  std::vector<EntryAlias> aliases = {};
};

// Compiles `program` to a relocatable object that defines the EntryFunction
// `symbol` and its descriptor (entry_emitter.h), and requires the functions of
// kernel_runtime.h. Thread-safe. Returns
// InvalidArgument if the program does not verify, and Unimplemented, naming the
// operation, if the emitter does not support one.
absl::StatusOr<std::string> CompileProgram(const loops::Program& program,
                                           const std::string& symbol,
                                           const CompileOptions& options = {});

// Compiles a whole module, including control flow, in the same way. Callers may
// give the arguments and results of its donations one address.
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
