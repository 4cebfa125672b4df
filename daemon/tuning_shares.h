#ifndef HONE_DAEMON_TUNING_SHARES_H_
#define HONE_DAEMON_TUNING_SHARES_H_

#include <set>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace hone::daemon {

// A request's claim that a tuning goes on.
struct Share {
  std::string caller;
  // Empty: the caller's requests without an id, which have one share together.
  std::string request_id;
};

// The requests that share a tuning.
class TuningShares {
 public:
  // Adds a share that may be there already.
  // Errors: ResourceExhausted (TOO_MANY_SHARES).
  absl::Status Add(const Share& share);

  // Removes a share, or all of the caller if it has no request id. Nobody needs
  // a share to leave a tuning that has none.
  // Errors: FailedPrecondition (NO_SHARE) if only others have shares.
  absl::Status Remove(const Share& share);

  int size() const { return static_cast<int>(shares_.size()); }

 private:
  std::set<std::pair<std::string, std::string>> shares_;
};

}  // namespace hone::daemon

#endif  // HONE_DAEMON_TUNING_SHARES_H_
