#include "daemon/errors.h"

#include "google/rpc/error_details.pb.h"
#include "gtest/gtest.h"

namespace hone::daemon {
namespace {

template <typename Detail>
Detail DetailOf(const google::rpc::Status& status) {
  Detail result;
  int found = 0;
  for (const auto& any : status.details()) found += any.UnpackTo(&result);
  EXPECT_EQ(found, 1) << status.DebugString();
  return result;
}

TEST(Errors, OkStaysOk) { EXPECT_TRUE(ToGrpcStatus(absl::OkStatus()).ok()); }

TEST(Errors, CodeMessageAndDetailsReachTheClient) {
  const grpc::Status wire = ToGrpcStatus(
      WithReason(absl::NotFoundError("gone"), "CACHE_MISS", {{"a", "b"}}));
  EXPECT_EQ(wire.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(wire.error_message(), "gone");
  google::rpc::Status details;
  ASSERT_TRUE(details.ParseFromString(wire.error_details()));
  EXPECT_EQ(details.code(), 5);
  EXPECT_EQ(details.message(), "gone");
  const auto info = DetailOf<google::rpc::ErrorInfo>(details);
  EXPECT_EQ(info.reason(), "CACHE_MISS");
  EXPECT_EQ(info.domain(), "hone.v1");
  EXPECT_EQ(info.metadata().at("a"), "b");
}

TEST(Errors, EveryErrorHasAReason) {
  const auto info = DetailOf<google::rpc::ErrorInfo>(
      ToRpcStatus(absl::DataLossError("broken")));
  EXPECT_EQ(info.reason(), "DATA_LOSS");
}

TEST(Errors, ALaterReasonReplacesTheFirst) {
  const auto info = DetailOf<google::rpc::ErrorInfo>(
      ToRpcStatus(WithReason(ResourceNotFound("module", "x"), "GONE")));
  EXPECT_EQ(info.reason(), "GONE");
}

TEST(Errors, RetryDelaysKeepFractions) {
  const auto retry = DetailOf<google::rpc::RetryInfo>(ToRpcStatus(
      WithRetryDelay(absl::UnavailableError("busy"), absl::Seconds(1.5))));
  EXPECT_EQ(retry.retry_delay().seconds(), 1);
  EXPECT_EQ(retry.retry_delay().nanos(), 500'000'000);
}

TEST(Errors, InvalidFieldsAreNamed) {
  const google::rpc::Status status =
      ToRpcStatus(InvalidField("spec.optimizer", "unknown"));
  const auto details = DetailOf<google::rpc::BadRequest>(status);
  ASSERT_EQ(details.field_violations_size(), 1);
  EXPECT_EQ(details.field_violations(0).field(), "spec.optimizer");
  EXPECT_EQ(status.message(), "spec.optimizer: unknown");
}

}  // namespace
}  // namespace hone::daemon
