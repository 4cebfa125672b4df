#include "daemon/errors.h"

#include "absl/strings/cord.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "google/rpc/error_details.pb.h"
#include <google/protobuf/message.h>

#include "base/check.h"
#include "base/excerpt.h"
#include "daemon/limits.h"

namespace hone::daemon {
namespace {

constexpr absl::string_view kDomain = "hone.v1";
constexpr absl::string_view kTypePrefix = "type.googleapis.com/";

template <typename Detail>
std::string TypeUrl() {
  return absl::StrCat(kTypePrefix, Detail::descriptor()->full_name());
}

template <typename Detail>
void SetDetail(absl::Status& status, const Detail& detail) {
  status.SetPayload(TypeUrl<Detail>(), absl::Cord(detail.SerializeAsString()));
}

google::rpc::ErrorInfo InfoOf(const absl::Status& status) {
  google::rpc::ErrorInfo info;
  const auto payload = status.GetPayload(TypeUrl<google::rpc::ErrorInfo>());
  if (payload.has_value()) info.ParseFromString(std::string(*payload));
  return info;
}

absl::StatusCode CodeNamed(absl::string_view name) {
  for (int code = 0;
       code <= static_cast<int>(absl::StatusCode::kUnauthenticated); ++code) {
    if (absl::StatusCodeToString(static_cast<absl::StatusCode>(code)) == name) {
      return static_cast<absl::StatusCode>(code);
    }
  }
  return absl::StatusCode::kUnknown;
}

}  // namespace

absl::Status WithReason(absl::Status status, absl::string_view reason,
                        const ErrorMetadata& metadata) {
  google::rpc::ErrorInfo info;
  info.set_reason(std::string(reason));
  info.set_domain(std::string(kDomain));
  for (const auto& [key, value] : metadata) {
    (*info.mutable_metadata())[key] = BoundedMessage(value);
  }
  SetDetail(status, info);
  return status;
}

bool HasReason(const absl::Status& status) {
  return !InfoOf(status).reason().empty();
}

absl::Status WithRetryDelay(absl::Status status, absl::Duration delay) {
  google::rpc::RetryInfo info;
  info.mutable_retry_delay()->set_seconds(absl::ToInt64Seconds(delay));
  info.mutable_retry_delay()->set_nanos(
      static_cast<int32_t>(absl::ToInt64Nanoseconds(delay % absl::Seconds(1))));
  SetDetail(status, info);
  return status;
}

absl::Status InvalidField(absl::string_view field,
                          absl::string_view description) {
  absl::Status status =
      absl::InvalidArgumentError(absl::StrCat(field, ": ", description));
  google::rpc::BadRequest details;
  auto* violation = details.add_field_violations();
  violation->set_field(std::string(field));
  violation->set_description(BoundedMessage(description));
  SetDetail(status, details);
  return WithReason(std::move(status), "INVALID_FIELD",
                    {{"field", std::string(field)}});
}

absl::Status InField(absl::string_view field, absl::Status status) {
  if (!absl::IsInvalidArgument(status) || HasReason(status)) return status;
  return InvalidField(field, status.message());
}

absl::Status InPage(int32_t page_size, absl::Status status) {
  return InField(page_size < 0 ? "page_size" : "page_token", std::move(status));
}

absl::Status ResourceNotFound(absl::string_view type, absl::string_view name) {
  absl::Status status =
      absl::NotFoundError(absl::StrCat("no ", type, " \"", name, "\""));
  google::rpc::ResourceInfo info;
  info.set_resource_type(std::string(type));
  info.set_resource_name(BoundedMessage(name));
  SetDetail(status, info);
  return WithReason(std::move(status), "NOT_FOUND",
                    {{"type", std::string(type)}, {"name", std::string(name)}});
}

absl::Status AtLimit(absl::string_view limit, absl::string_view message) {
  const Limit* const known = FindLimit(limit);
  HONE_CHECK(known != nullptr && "it is in daemon/limits.def");
  return WithLimit(
      WithReason(absl::Status(CodeNamed(known->code), message), known->reason),
      limit);
}

absl::Status OverloadedAt(absl::string_view limit, absl::string_view message) {
  return WithRetryDelay(AtLimit(limit, message), absl::Seconds(1));
}

absl::Status WithLimit(absl::Status status, absl::string_view limit) {
  google::rpc::ErrorInfo info = InfoOf(status);
  (*info.mutable_metadata())["limit"] = std::string(limit);
  SetDetail(status, info);
  return status;
}

std::string LimitOf(const absl::Status& status) {
  const google::rpc::ErrorInfo info = InfoOf(status);
  const auto limit = info.metadata().find("limit");
  return limit == info.metadata().end() ? "" : limit->second;
}

absl::Status DrainingError() {
  return WithRetryDelay(
      WithReason(absl::UnavailableError("the daemon shuts down"), "DRAINING"),
      absl::Seconds(5));
}

google::rpc::Status ToRpcStatus(const absl::Status& status) {
  google::rpc::Status result;
  if (status.ok()) return result;
  if (!status.GetPayload(TypeUrl<google::rpc::ErrorInfo>()).has_value()) {
    return ToRpcStatus(
        WithReason(status, absl::StatusCodeToString(status.code())));
  }
  result.set_code(static_cast<int>(status.code()));
  result.set_message(BoundedMessage(status.message()));
  status.ForEachPayload([&](absl::string_view type, const absl::Cord& value) {
    if (!absl::StartsWith(type, kTypePrefix)) return;
    auto* detail = result.add_details();
    detail->set_type_url(std::string(type));
    detail->set_value(std::string(value));
  });
  return result;
}

grpc::Status ToGrpcStatus(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  const google::rpc::Status details = ToRpcStatus(status);
  return {static_cast<grpc::StatusCode>(details.code()), details.message(),
          details.SerializeAsString()};
}

std::string CodeName(grpc::StatusCode code) {
  // The codes of gRPC and Abseil are the same, and so are their names.
  return absl::StatusCodeToString(static_cast<absl::StatusCode>(code));
}

}  // namespace hone::daemon
