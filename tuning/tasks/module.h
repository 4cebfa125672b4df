#ifndef HONE_TUNING_TASKS_MODULE_H_
#define HONE_TUNING_TASKS_MODULE_H_

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "loops/transforms/transform.h"

namespace hone::tuning {

// Schedules by the fingerprint of their kernel (loops/text/canonical.h).
using KernelScripts =
    absl::flat_hash_map<std::string, std::vector<loops::Step>>;

// Returns the schedules of a decision of the task `module`; kernels that keep
// their default are not among them. Errors: InvalidArgument if it is none.
absl::StatusOr<KernelScripts> ScriptsOfModuleDecision(absl::string_view json);

}  // namespace hone::tuning

#endif  // HONE_TUNING_TASKS_MODULE_H_
