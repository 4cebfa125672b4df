#ifndef HONE_WORK_READ_MODULE_H_
#define HONE_WORK_READ_MODULE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "hlo/ir/module.h"
#include "hone/v1/module.pb.h"

namespace hone::work {

// Parses and verifies a module, HLO text or a proto.
// Errors: InvalidArgument, with file:line:column.
absl::StatusOr<hlo::Module> ReadModule(absl::string_view bytes,
                                       absl::string_view file_name);

// Writes it in a format.
absl::StatusOr<std::string> WriteModule(const hlo::Module& module,
                                        v1::ModuleFormat format);

}  // namespace hone::work

#endif  // HONE_WORK_READ_MODULE_H_
