#ifndef HONE_DAEMON_SERVICES_OPERATION_H_
#define HONE_DAEMON_SERVICES_OPERATION_H_

#include "google/longrunning/operations.pb.h"

#include "daemon/tuning_executor.h"

namespace hone::daemon {

// Returns a tuning as a long-running operation. `cached`: its result was
// published before the request.
google::longrunning::Operation OperationOf(const TuningUpdate& update,
                                           bool cached = false);

}  // namespace hone::daemon

#endif  // HONE_DAEMON_SERVICES_OPERATION_H_
