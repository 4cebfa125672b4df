#ifndef HONE_TUNING_STORED_ERROR_H_
#define HONE_TUNING_STORED_ERROR_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace hone::tuning {

// Returns the text that a failed tuning is stored with: the message, and before
// it a code that says that the input is at fault or does not fit,
// "INVALID_ARGUMENT: bert: the weights take …". `status` is not OK.
std::string StoredError(const absl::Status& status);

// Returns the error that such a text stands for: Internal if it names no code,
// as texts of earlier versions do.
absl::Status ParseStoredError(absl::string_view text);

}  // namespace hone::tuning

#endif  // HONE_TUNING_STORED_ERROR_H_
