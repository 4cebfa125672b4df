#ifndef HONE_BACKENDS_CPU_EXPORT_H_
#define HONE_BACKENDS_CPU_EXPORT_H_

#include <string>

#include "absl/status/status.h"

#include "hlo/ir/module.h"
#include "loops/lowering/module_plan.h"
#include "loops/program.h"

namespace hone::backends {

// Whether `path` can be that of a library.
// Errors: InvalidArgument unless it ends in ".so".
absl::Status CheckLibraryPath(const std::string& path);

// Writes `program` as a shared object that defines the functions of
// exported_names.h, and a C header beside it that says what the entry takes,
// the program as a comment in it. Errors: those of CheckLibraryPath, the
// compiler, WriteSharedObject and, for the header, WriteFileAtomically.
absl::Status ExportKernel(const loops::Program& program,
                          const std::string& path);

// Likewise for `plan`, which was made of `module` and whose kernels are
// scheduled: it takes the arrays of the entry computation's parameters, and of
// its result, tuples flattened.
absl::Status ExportModule(const hlo::Module& module,
                          const loops::ModulePlan& plan,
                          const std::string& path);

}  // namespace hone::backends

#endif  // HONE_BACKENDS_CPU_EXPORT_H_
