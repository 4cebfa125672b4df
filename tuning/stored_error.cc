#include "tuning/stored_error.h"

#include <array>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace hone::tuning {
namespace {

// Codes that say that the input is at fault, or does not fit.
constexpr std::array kCodes = {
    absl::StatusCode::kInvalidArgument, absl::StatusCode::kNotFound,
    absl::StatusCode::kFailedPrecondition, absl::StatusCode::kOutOfRange,
    absl::StatusCode::kUnimplemented};

std::string Prefix(absl::StatusCode code) {
  return absl::StrCat(absl::StatusCodeToString(code), ": ");
}

}  // namespace

std::string StoredError(const absl::Status& status) {
  for (const absl::StatusCode code : kCodes) {
    if (status.code() == code) {
      return absl::StrCat(Prefix(code), status.message());
    }
  }
  return std::string(status.message());
}

absl::Status ParseStoredError(absl::string_view text) {
  for (const absl::StatusCode code : kCodes) {
    absl::string_view message = text;
    if (absl::ConsumePrefix(&message, Prefix(code))) {
      return absl::Status(code, message);
    }
  }
  return absl::InternalError(text);
}

}  // namespace hone::tuning
