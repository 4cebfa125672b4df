#ifndef HONE_PROTO_GRPC_STATUS_H_
#define HONE_PROTO_GRPC_STATUS_H_

#include "absl/status/status.h"
#include <grpcpp/support/status.h>

namespace hone {

// Returns the status of a call as a client sees it. Both sides number the codes
// alike.
inline absl::Status ToStatus(const grpc::Status& status) {
  return absl::Status(static_cast<absl::StatusCode>(status.error_code()),
                      status.error_message());
}

}  // namespace hone

#endif  // HONE_PROTO_GRPC_STATUS_H_
