#ifndef HONE_DAEMON_ACCESS_UNIX_LISTENER_H_
#define HONE_DAEMON_ACCESS_UNIX_LISTENER_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace hone::daemon {

// Accepts connections on a Unix socket from the daemon's own user and root, by
// the credentials that the kernel has of the connecting process. Others are
// closed without a byte.
//
// It exists because gRPC's own Unix sockets do not show who connects.
class UnixListener {
 public:
  // Listens at `path`, which only this user may then write to (mode 0600); a
  // folder that does not exist is made (mode 0700). A socket that a daemon has
  // left behind is replaced.
  // `accepted` is called from a thread of the listener for each connection and
  // owns its descriptor, which does not block.
  // Errors: Unavailable if a process listens there; InvalidArgument if `path`
  // is too long, no socket, or cannot be made.
  static absl::StatusOr<std::unique_ptr<UnixListener>> Start(
      const std::string& path, std::function<void(int fd)> accepted);

  // Stops accepting, and removes the socket unless another has taken its place.
  virtual ~UnixListener() = default;
};

}  // namespace hone::daemon

#endif  // HONE_DAEMON_ACCESS_UNIX_LISTENER_H_
