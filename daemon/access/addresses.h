#ifndef HONE_DAEMON_ACCESS_ADDRESSES_H_
#define HONE_DAEMON_ACCESS_ADDRESSES_H_

#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace hone::daemon {

// Splits "HOST:PORT" or "[HOST]:PORT".
// Errors: InvalidArgument.
absl::StatusOr<std::pair<std::string, int>> SplitAddress(
    const std::string& address);

// Returns the path of "unix:PATH"; nothing for other addresses.
std::optional<std::string> UnixPath(absl::string_view address);

// Returns true for the hosts that only this machine can reach: 127.0.0.0/8, ::1
// and localhost. A name that merely begins like one is none.
bool IsLoopbackHost(absl::string_view host);

// Returns true for the numeric form of an IPv4 or IPv6 address.
bool IsIpAddress(absl::string_view host);

}  // namespace hone::daemon

#endif  // HONE_DAEMON_ACCESS_ADDRESSES_H_
