#ifndef HONE_DAEMON_FLEET_CHECK_REQUEST_H_
#define HONE_DAEMON_FLEET_CHECK_REQUEST_H_

#include "absl/status/status.h"

#include "hone/v1/worker_service.pb.h"

namespace hone::daemon {

// Checks everything in a worker's request that does not depend on the state of
// the fleet. A worker is another program, perhaps a hostile one: each text has
// a longest length and an alphabet, each number a range (limits.h), each list a
// longest length.
// Errors: those of WorkerService.Synchronize, INVALID_FIELD and WORKER_VERSION.
absl::Status CheckRequest(const v1::SynchronizeRequest& request);

}  // namespace hone::daemon

#endif  // HONE_DAEMON_FLEET_CHECK_REQUEST_H_
