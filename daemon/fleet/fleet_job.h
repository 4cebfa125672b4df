#ifndef HONE_DAEMON_FLEET_FLEET_JOB_H_
#define HONE_DAEMON_FLEET_FLEET_JOB_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/fleet/fleet.h"

namespace hone::daemon {

// A piece of work from its submission to its end, guarded by the fleet's mutex;
// only for the fleet's own files.
struct Fleet::Job {
  std::string id;
  Request request;
  // The bytes of a module that the work names by its digest.
  std::shared_ptr<const std::string> module;
  // A canary has no caller, and is never queued.
  bool is_canary = false;

  int attempts = 0;
  // How often a worker gave it back as it left.
  int returns = 0;
  // Machines that lost or spoiled this work, once for each time. Others are
  // preferred.
  std::vector<std::string> avoided;
  std::vector<std::string> lost_by;
  // Machines whose own errors ended this work, with the last error.
  std::map<std::string, std::string> failed_by;
  // An error of the work, according to this machine alone.
  std::optional<absl::Status> claim;
  std::string claimed_by;

  // While it is leased; 0 otherwise.
  int64_t fence = 0;
  std::string worker;
  size_t device = 0;  // in the worker's slots
  absl::Duration granted;
  absl::Duration lease_end;
  bool started = false;
  // The waiter that was woken for it.
  int64_t woken = 0;

  // Once it has ended.
  std::optional<absl::StatusOr<Result>> result;
};

}  // namespace hone::daemon

#endif  // HONE_DAEMON_FLEET_FLEET_JOB_H_
