#include "bench/faults/documented_status.h"

#include "absl/strings/match.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"

namespace hone::bench {
namespace {

bool HasReason(const grpc::Status& status) {
  google::rpc::Status details;
  if (!details.ParseFromString(status.error_details())) return false;
  for (const auto& detail : details.details()) {
    google::rpc::ErrorInfo info;
    if (detail.UnpackTo(&info)) return !info.reason().empty();
  }
  return false;
}

}  // namespace

bool IsOfGrpc(const grpc::Status& status) {
  switch (status.error_code()) {
    case grpc::StatusCode::DEADLINE_EXCEEDED:
    case grpc::StatusCode::CANCELLED:
      return true;
    case grpc::StatusCode::UNIMPLEMENTED:
      return status.error_message().empty();
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
      return absl::StartsWith(status.error_message(),
                              "Received message larger than max");
    default:
      return false;
  }
}

bool IsDocumented(const grpc::Status& status) {
  if (status.ok() || IsOfGrpc(status)) return true;
  const grpc::StatusCode code = status.error_code();
  return code != grpc::StatusCode::UNKNOWN &&
         code != grpc::StatusCode::INTERNAL &&
         code != grpc::StatusCode::DATA_LOSS && HasReason(status);
}

}  // namespace hone::bench
