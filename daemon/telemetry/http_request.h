#ifndef HONE_DAEMON_TELEMETRY_HTTP_REQUEST_H_
#define HONE_DAEMON_TELEMETRY_HTTP_REQUEST_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace hone::daemon {

// The head of a request.
struct HttpRequest {
  bool is_head = false;  // HEAD, else GET
  std::string path;      // without the query
};

// The names by which a server may be addressed. A page of another site cannot
// read the server by pointing its own name at the server's address (DNS
// rebinding), as browsers send the name that they were given.
class AllowedHosts {
 public:
  // `listening` is the host that the server listens on, `others` are names that
  // an operator allows. Loopback names are allowed always, and any numeric
  // address if the server listens on all.
  AllowedHosts(std::string listening, std::vector<std::string> others);

  // `host` is the value of the header: a name with or without a port.
  bool Allow(absl::string_view host) const;
  // `origin` is the value of the header Origin: "http://HOST:PORT".
  bool AllowOrigin(absl::string_view origin) const;

 private:
  std::string listening_;
  std::vector<std::string> others_;
};

// Parses a request's head, up to and without the empty line. Returns the HTTP
// status: 200, or that of the error to answer (400, 403, 405, 505).
int ParseHttpRequest(absl::string_view head, const AllowedHosts& hosts,
                     HttpRequest& request);

}  // namespace hone::daemon

#endif  // HONE_DAEMON_TELEMETRY_HTTP_REQUEST_H_
