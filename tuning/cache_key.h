#ifndef HONE_TUNING_CACHE_KEY_H_
#define HONE_TUNING_CACHE_KEY_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "tuning/task.h"

namespace hone::tuning {

// Parses the options that Task::OptionsKey wrote as `key`: "name=value" joined
// by ";". Errors: InvalidArgument for anything else.
absl::StatusOr<TaskOptions> ParseOptionsKey(absl::string_view key);

}  // namespace hone::tuning

#endif  // HONE_TUNING_CACHE_KEY_H_
