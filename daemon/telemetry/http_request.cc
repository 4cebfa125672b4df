#include "daemon/telemetry/http_request.h"

#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

#include "daemon/access/addresses.h"

namespace hone::daemon {
namespace {

// Returns the host of "HOST", "HOST:PORT" or "[HOST]:PORT".
absl::string_view HostOf(absl::string_view authority) {
  if (absl::ConsumePrefix(&authority, "[")) {
    return authority.substr(0, authority.find(']'));
  }
  return authority.substr(0, authority.find(':'));
}

}  // namespace

AllowedHosts::AllowedHosts(std::string listening,
                           std::vector<std::string> others)
    : listening_(std::move(listening)), others_(std::move(others)) {}

bool AllowedHosts::Allow(absl::string_view host) const {
  host = HostOf(host);
  if (IsLoopbackHost(host) || absl::EqualsIgnoreCase(host, listening_)) {
    return true;
  }
  for (const std::string& other : others_) {
    if (absl::EqualsIgnoreCase(host, other)) return true;
  }
  return (listening_ == "0.0.0.0" || listening_ == "::") && IsIpAddress(host);
}

bool AllowedHosts::AllowOrigin(absl::string_view origin) const {
  return (absl::ConsumePrefix(&origin, "http://") ||
          absl::ConsumePrefix(&origin, "https://")) &&
         Allow(origin);
}

int ParseHttpRequest(absl::string_view head, const AllowedHosts& hosts,
                     HttpRequest& request) {
  const std::vector<absl::string_view> lines = absl::StrSplit(head, "\r\n");
  const std::vector<absl::string_view> words =
      absl::StrSplit(lines.front(), ' ');
  if (words.size() != 3 || !absl::StartsWith(words[1], "/")) return 400;
  if (words[2] != "HTTP/1.1" && words[2] != "HTTP/1.0") return 505;
  std::optional<absl::string_view> host;
  for (size_t i = 1; i < lines.size(); ++i) {
    const size_t colon = lines[i].find(':');
    if (colon == 0 || colon == absl::string_view::npos) return 400;
    const absl::string_view name = lines[i].substr(0, colon);
    const absl::string_view value =
        absl::StripAsciiWhitespace(lines[i].substr(colon + 1));
    if (absl::EqualsIgnoreCase(name, "host")) {
      if (host.has_value()) return 400;
      host = value;
    } else if (absl::EqualsIgnoreCase(name, "origin") &&
               !hosts.AllowOrigin(value)) {
      return 403;
    }
  }
  // Only HTTP/1.0, which no browser speaks, may leave it out.
  if (!host.has_value() && words[2] == "HTTP/1.1") return 400;
  if (host.has_value() && !hosts.Allow(*host)) return 403;
  if (words[0] != "GET" && words[0] != "HEAD") return 405;
  request.is_head = words[0] == "HEAD";
  request.path = std::string(words[1].substr(0, words[1].find('?')));
  return 200;
}

}  // namespace hone::daemon
