#include <chrono>
#include <future>
#include <memory>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "hone/v1/worker_service.grpc.pb.h"
#include "tests/daemon/daemon_fixture.h"

namespace hone::testing {
namespace {

using ::testing::HasSubstr;

class WorkerServiceTest : public DaemonTest {
 protected:
  void SetUp() override {
    Start();
    workers_ = v1::WorkerService::NewStub(channel_);
    grpc::ClientContext context;
    v1::GetServerInfoResponse info;
    HONE_EXPECT_GRPC_OK(admin_->GetServerInfo(&context, {}, &info));
    request_.set_worker_id("a");
    request_.set_version(info.version());
    request_.mutable_device()->set_kind("cpu");
    request_.mutable_device()->set_model("a machine");
    request_.mutable_device()->set_fingerprint("f");
    request_.mutable_device()->set_threads(2);
    request_.mutable_device()->mutable_machine()->set_l1_bytes(1 << 15);
    request_.mutable_device()->mutable_machine()->set_l2_bytes(1 << 19);
    request_.mutable_device()->mutable_machine()->set_cache_line_bytes(64);
    request_.mutable_device()->mutable_machine()->set_vector_bytes(32);
    request_.mutable_device()->mutable_machine()->set_vector_registers(16);
    request_.mutable_idle();
  }

  grpc::Status Synchronize(v1::SynchronizeResponse* response) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() +
                         std::chrono::seconds(60));
    return workers_->Synchronize(&context, request_, response);
  }

  std::unique_ptr<v1::WorkerService::Stub> workers_;
  v1::SynchronizeRequest request_;
};

TEST_F(WorkerServiceTest, AWorkerThatCallsIsListed) {
  v1::SynchronizeResponse response;
  HONE_EXPECT_GRPC_OK(Synchronize(&response));
  EXPECT_TRUE(response.has_idle());
  EXPECT_EQ(response.lease_duration().seconds(), 15);
  grpc::ClientContext context;
  v1::ListWorkersResponse list;
  HONE_EXPECT_GRPC_OK(admin_->ListWorkers(&context, {}, &list));
  ASSERT_EQ(list.workers_size(), 1);
  EXPECT_EQ(list.workers(0).device().model(), "a machine");
  EXPECT_FALSE(list.workers(0).busy());
  EXPECT_EQ(Metric("hone_workers"), 1);
}

TEST_F(WorkerServiceTest, AnotherVersionIsRefusedBothNamed) {
  request_.set_version("0.0.0-none");
  v1::SynchronizeResponse response;
  const grpc::Status status = Synchronize(&response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(ErrorInfoOf(status).reason(), "WORKER_VERSION");
  EXPECT_THAT(status.error_message(), HasSubstr("0.0.0-none"));
  EXPECT_THAT(status.error_message(), HasSubstr("expected"));
}

TEST_F(WorkerServiceTest, AnIdleCallIsHeldUntilTheDaemonDrains) {
  request_.mutable_longest_wait()->set_seconds(30);
  v1::SynchronizeResponse response;
  auto status =
      std::async(std::launch::async, [&] { return Synchronize(&response); });
  v1::ListWorkersResponse list;
  while (list.workers().empty()) {
    grpc::ClientContext context;
    HONE_EXPECT_GRPC_OK(admin_->ListWorkers(&context, {}, &list));
  }
  server_->Drain();
  EXPECT_EQ(status.get().error_code(), grpc::StatusCode::UNAVAILABLE);
}

class LocalWorkerTest : public DaemonTest {};

TEST_F(LocalWorkerTest, TheDaemonStartsOneThatServesIt) {
  config_.local_worker = true;
  Start();
  v1::ListWorkersResponse list;
  while (list.workers().empty()) {
    grpc::ClientContext context;
    HONE_EXPECT_GRPC_OK(admin_->ListWorkers(&context, {}, &list));
  }
  EXPECT_EQ(list.workers(0).device().kind(), "cpu");
  EXPECT_FALSE(list.workers(0).device().model().empty());
  EXPECT_GE(list.workers(0).device().threads(), 1);
  EXPECT_TRUE(server_->Drain());
}

}  // namespace
}  // namespace hone::testing
