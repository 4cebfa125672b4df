#include "daemon/access/addresses.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include <arpa/inet.h>
#include <netinet/in.h>

#include "base/excerpt.h"

namespace hone::daemon {

absl::StatusOr<std::pair<std::string, int>> SplitAddress(
    const std::string& address) {
  const size_t colon = address.rfind(':');
  int port = -1;
  absl::string_view host(address.data(),
                         colon == std::string::npos ? 0 : colon);
  if (absl::StartsWith(host, "[") && absl::EndsWith(host, "]")) {
    host = host.substr(1, host.size() - 2);
  }
  if (host.empty() ||
      !absl::SimpleAtoi(absl::string_view(address).substr(colon + 1), &port) ||
      port < 0 || port > 65535) {
    return absl::InvalidArgumentError(absl::StrCat(
        "bad address \"", Excerpt(address), "\", expected HOST:PORT"));
  }
  return std::make_pair(std::string(host), port);
}

std::optional<std::string> UnixPath(absl::string_view address) {
  if (!absl::ConsumePrefix(&address, "unix:")) return std::nullopt;
  return std::string(address);
}

bool IsLoopbackHost(absl::string_view host) {
  if (absl::EqualsIgnoreCase(host, "localhost")) return true;
  const std::string text(host);
  in_addr v4 = {};
  if (inet_pton(AF_INET, text.c_str(), &v4) == 1) {
    return ntohl(v4.s_addr) >> 24 == 127;
  }
  in6_addr v6 = {};
  return inet_pton(AF_INET6, text.c_str(), &v6) == 1 &&
         IN6_IS_ADDR_LOOPBACK(&v6);
}

bool IsIpAddress(absl::string_view host) {
  const std::string text(host);
  in6_addr address = {};
  return inet_pton(AF_INET, text.c_str(), &address) == 1 ||
         inet_pton(AF_INET6, text.c_str(), &address) == 1;
}

}  // namespace hone::daemon
