#ifndef HONE_BACKENDS_CPU_EXPORT_EXPORT_H_
#define HONE_BACKENDS_CPU_EXPORT_EXPORT_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"

#include "hlo/ir/module.h"
#include "loops/ir/program.h"
#include "loops/lowering/plan/module_plan.h"

namespace hone::backends {

// Returns InvalidArgument unless `path` ends in ".so".
absl::Status CheckLibraryPath(const std::string& path);

// Writes `program`, scheduled for `threads`, as a shared object that defines
// the functions of exported_names.h, and beside it a C header that declares
// them, describes arguments and results, and has the program as a comment.
// Errors: those of CheckLibraryPath, the compiler, WriteSharedObject and, for
// the header, WriteFileAtomically.
absl::Status ExportKernel(const loops::Program& program, int32_t threads,
                          const std::string& path);

// Writes `plan`, which was lowered from `module` and then scheduled, in the
// same way. Its arguments are the arrays of the entry computation's parameters,
// and its results those of the root, with tuples flattened. An argument
// and a result may be one array if the module's input_output_alias says so.
absl::Status ExportModule(const hlo::Module& module,
                          const loops::ModulePlan& plan, int32_t threads,
                          const std::string& path);

}  // namespace hone::backends

#endif  // HONE_BACKENDS_CPU_EXPORT_EXPORT_H_
