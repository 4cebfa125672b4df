#ifndef HONE_DAEMON_ERRORS_H_
#define HONE_DAEMON_ERRORS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "google/rpc/status.pb.h"
#include <grpcpp/support/status.h>

// Errors at the API. Inside the daemon they are absl::Status with typed details
// (google.rpc messages) as payloads; clients get them as
// google.rpc.Status in the trailer grpc-status-details-bin.
namespace hone::daemon {

using ErrorMetadata = std::vector<std::pair<std::string, std::string>>;

// Returns `status` with a reason for programs (google.rpc.ErrorInfo), which
// replaces an earlier one. reason: [A-Z][A-Z0-9_]+[A-Z0-9], at most 63
// characters.
absl::Status WithReason(absl::Status status, absl::string_view reason,
                        const ErrorMetadata& metadata = {});

// Returns true if it has one.
bool HasReason(const absl::Status& status);

// Returns `status` with a retry delay (google.rpc.RetryInfo).
absl::Status WithRetryDelay(absl::Status status, absl::Duration delay);

// Returns InvalidArgument about a field of the request, with reason
// INVALID_FIELD and google.rpc.BadRequest. field: its path, "spec.optimizer".
absl::Status InvalidField(absl::string_view field,
                          absl::string_view description);

// Returns InvalidArgument without a reason as InvalidField, other errors as
// they are.
absl::Status InField(absl::string_view field, absl::Status status);
// The same for an error of a listing in pages.
absl::Status InPage(int32_t page_size, absl::Status status);

// Returns NotFound with reason NOT_FOUND and google.rpc.ResourceInfo. type:
// "tuning", "module".
absl::Status ResourceNotFound(absl::string_view type, absl::string_view name);

// Returns the error of a call that a limit of limits.def refuses, with its code
// and reason there and the limit's name as metadata. The call's end counts it
// (hone_limit_refusals_total).
absl::Status AtLimit(absl::string_view limit, absl::string_view message);
// The same with a delay of a second after which to retry.
absl::Status OverloadedAt(absl::string_view limit, absl::string_view message);
// Marks an error that has a reason as one of a limit.
absl::Status WithLimit(absl::Status status, absl::string_view limit);
// Returns the limit that refused; empty if it was none.
std::string LimitOf(const absl::Status& status);

// Returns Unavailable with reason DRAINING and a retry delay.
absl::Status DrainingError();

// Converts to the form on the wire. Errors without a reason get the name of
// their code; messages are bounded (BoundedMessage), as are the texts of the
// details above.
google::rpc::Status ToRpcStatus(const absl::Status& status);
grpc::Status ToGrpcStatus(const absl::Status& status);

// "NOT_FOUND": as in metrics and logs.
std::string CodeName(grpc::StatusCode code);

}  // namespace hone::daemon

#endif  // HONE_DAEMON_ERRORS_H_
