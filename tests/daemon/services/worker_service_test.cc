#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <memory>
#include <string>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "hone/v1/worker_service.grpc.pb.h"
#include "proto/worker_protocol.h"
#include "tests/daemon/daemon_fixture.h"
#include "tests/daemon/fleet/requests.h"

namespace hone::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class WorkerServiceTest : public DaemonTest {
 protected:
  void SetUp() override {
    Start();
    workers_ = v1::WorkerService::NewStub(channel_);
    request_.set_worker_id("a");
    request_.set_protocol_version(kMaxWorkerProtocol);
    request_.set_version("another");
    request_.add_capabilities(kKernelWork);
    request_.add_capabilities("of_the_future");
    *request_.add_devices() = DeviceNamed("f");
    request_.mutable_devices(0)->set_model("a machine");
    request_.set_state(v1::SynchronizeRequest::ACTIVE);
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
  EXPECT_EQ(response.execute_size(), 0);
  EXPECT_EQ(response.lease_duration().seconds(), 15);
  grpc::ClientContext context;
  v1::ListWorkersResponse list;
  HONE_EXPECT_GRPC_OK(admin_->ListWorkers(&context, {}, &list));
  ASSERT_EQ(list.workers_size(), 1);
  EXPECT_EQ(list.workers(0).devices(0).model(), "a machine");
  EXPECT_EQ(list.workers(0).busy_devices_size(), 0);
  EXPECT_EQ(list.workers(0).version(), "another");
  EXPECT_EQ(list.workers(0).protocol_version(), kMaxWorkerProtocol);
  EXPECT_EQ(list.workers(0).capabilities(1), "of_the_future");
  EXPECT_EQ(Metric("hone_workers"), 1);
}

TEST_F(WorkerServiceTest, AnotherProtocolIsRefusedWithThoseThatAreNot) {
  v1::GetServerInfoResponse info;
  grpc::ClientContext context;
  HONE_EXPECT_GRPC_OK(admin_->GetServerInfo(&context, {}, &info));
  for (const int version :
       {info.min_worker_protocol() - 1, info.max_worker_protocol() + 1}) {
    request_.set_protocol_version(version);
    v1::SynchronizeResponse response;
    const grpc::Status status = Synchronize(&response);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
    EXPECT_EQ(ErrorInfoOf(status).reason(), "WORKER_VERSION");
    EXPECT_EQ(ErrorInfoOf(status).metadata().at("min_worker_protocol"),
              std::to_string(info.min_worker_protocol()));
    EXPECT_EQ(ErrorInfoOf(status).metadata().at("max_worker_protocol"),
              std::to_string(info.max_worker_protocol()));
  }
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

TEST_F(WorkerServiceTest, AWaitingWorkerIsAskedToDrain) {
  v1::DrainWorkerRequest drain;
  drain.set_id("a");
  v1::Worker worker;
  grpc::ClientContext unknown;
  EXPECT_EQ(admin_->DrainWorker(&unknown, drain, &worker).error_code(),
            grpc::StatusCode::NOT_FOUND);
  request_.mutable_longest_wait()->set_seconds(30);
  v1::SynchronizeResponse response;
  auto status =
      std::async(std::launch::async, [&] { return Synchronize(&response); });
  while (Metric("hone_workers_waiting") == 0) std::this_thread::yield();
  grpc::ClientContext context;
  HONE_EXPECT_GRPC_OK(admin_->DrainWorker(&context, drain, &worker));
  EXPECT_TRUE(worker.draining());
  HONE_EXPECT_GRPC_OK(status.get());
  EXPECT_TRUE(response.drain());
}

TEST_F(WorkerServiceTest, AQuarantineIsListedAndReleased) {
  v1::ReleaseWorkerRequest release;
  release.set_id("a");
  v1::Worker worker;
  grpc::ClientContext unknown;
  grpc::Status status = admin_->ReleaseWorker(&unknown, release, &worker);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
  v1::SynchronizeResponse response;
  HONE_EXPECT_GRPC_OK(Synchronize(&response));
  grpc::ClientContext good;
  status = admin_->ReleaseWorker(&good, release, &worker);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(ErrorInfoOf(status).reason(), "NOT_QUARANTINED");
}

TEST_F(WorkerServiceTest, ABadRequestChangesNothing) {
  request_.set_machine(std::string(1000, 'm'));
  v1::SynchronizeResponse response;
  const grpc::Status status = Synchronize(&response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(ErrorInfoOf(status).reason(), "INVALID_FIELD");
  EXPECT_EQ(Metric("hone_workers"), 0);
}

TEST_F(WorkerServiceTest, WorkHasTheTraceOfTheRequestThatStartedItsTuning) {
  constexpr char kTrace[] =
      "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  // The target of the tuning.
  request_.mutable_devices(0)->set_fingerprint("cpu:0123456789abcdef");
  v1::SynchronizeResponse response;
  HONE_EXPECT_GRPC_OK(Synchronize(&response));
  v1::TuneRequest request;
  request.mutable_module()->set_content(R"(HloModule m
ENTRY main {
  x = f32[64]{0} parameter(0)
  ROOT y = f32[64]{0} add(x, x)
}
)");
  request.mutable_spec()->set_task("kernel");
  grpc::ClientContext context;
  context.AddMetadata("traceparent", kTrace);
  google::longrunning::Operation operation;
  HONE_EXPECT_GRPC_OK(v1::TuningService::NewStub(channel_)->Tune(
      &context, request, &operation));
  request_.mutable_longest_wait()->set_seconds(1);
  while (response.execute().empty()) {
    HONE_EXPECT_GRPC_OK(Synchronize(&response));
  }
  EXPECT_EQ(response.execute(0).work().traceparent(), kTrace);
}

TEST_F(WorkerServiceTest, AModuleThatNoWorkNamesIsNotFound) {
  v1::ReadModuleRequest request;
  request.set_digest("0");
  v1::ReadModuleResponse response;
  grpc::ClientContext context;
  EXPECT_EQ(workers_->ReadModule(&context, request, &response).error_code(),
            grpc::StatusCode::NOT_FOUND);
}

class LocalWorkerTest : public DaemonTest {
 protected:
  // Returns the id of the first worker that is not `other`, once there is one.
  // Each round moves the clock by `step`.
  std::string AwaitWorker(const std::string& other, absl::Duration step) {
    for (;;) {
      grpc::ClientContext context;
      v1::ListWorkersResponse list;
      HONE_EXPECT_GRPC_OK(admin_->ListWorkers(&context, {}, &list));
      for (const v1::Worker& worker : list.workers()) {
        if (worker.id() != other) return worker.id();
      }
      clock_.Advance(step);
    }
  }
};

// Returns the process that was started with `argument`.
pid_t ProcessWith(const std::string& argument) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    pid_t pid = 0;
    if (!absl::SimpleAtoi(entry.path().filename().string(), &pid)) continue;
    std::ifstream stream(entry.path() / "cmdline");
    const std::string line((std::istreambuf_iterator<char>(stream)),
                           std::istreambuf_iterator<char>());
    if (absl::StrContains(line, argument)) return pid;
  }
  return -1;
}

TEST_F(LocalWorkerTest, TheDaemonStartsOneThatServesIt) {
  config_.local_worker = true;
  Start();
  v1::ListWorkersResponse list;
  while (list.workers().empty()) {
    grpc::ClientContext context;
    HONE_EXPECT_GRPC_OK(admin_->ListWorkers(&context, {}, &list));
  }
  EXPECT_EQ(list.workers(0).devices(0).kind(), "cpu");
  EXPECT_FALSE(list.workers(0).devices(0).model().empty());
  EXPECT_GE(list.workers(0).devices(0).threads(), 1);
  EXPECT_TRUE(server_->Drain());
}

// One that hangs is noticed by its silence, killed and replaced.
TEST_F(LocalWorkerTest, AStoppedOneIsReplaced) {
  config_.local_worker = true;
  Start();
  const std::string first = AwaitWorker("", absl::ZeroDuration());
  const pid_t pid = ProcessWith(first);
  ASSERT_GT(pid, 0);
  ASSERT_EQ(kill(pid, SIGSTOP), 0);
  // While it is stopped nothing renews its lease, however the clock moves; the
  // steps are small enough for its successor to be seen.
  EXPECT_NE(AwaitWorker(first, absl::Milliseconds(10)), first);
  EXPECT_TRUE(server_->Drain());
}

// A worker that takes what work it can get and invents impossible times.
class LiarTest : public LocalWorkerTest {
 protected:
  // Offers the device of the local worker until `stop`.
  void Lie(const v1::Device& device, const std::atomic<bool>& stop) {
    const auto workers = v1::WorkerService::NewStub(channel_);
    v1::SynchronizeRequest request;
    request.set_worker_id("liar");
    request.set_machine("liar");
    *request.add_devices() = device;
    request.set_protocol_version(kMaxWorkerProtocol);
    request.add_capabilities(kKernelWork);
    request.set_state(v1::SynchronizeRequest::ACTIVE);
    while (!stop) {
      grpc::ClientContext context;
      v1::SynchronizeResponse response;
      HONE_EXPECT_GRPC_OK(workers->Synchronize(&context, request, &response));
      request.clear_completions();
      if (response.execute().empty()) continue;
      v1::Completion& completion = *request.add_completions();
      *completion.mutable_lease() = response.execute(0).lease();
      v1::KernelReport& report = *completion.mutable_kernel();
      report.mutable_baseline()->set_outcome(v1::KernelTiming::OK);
      const int candidates =
          response.execute(0).work().kernel().candidate_scripts_size();
      for (int i = 0; i < candidates; ++i) {
        report.add_candidates()->set_outcome(v1::KernelTiming::OK);
      }
    }
  }
};

TEST_F(LiarTest, ItIsQuarantinedAndSpoilsNothing) {
  config_.local_worker = true;
  Start();
  const std::string honest = AwaitWorker("", absl::ZeroDuration());
  v1::ListWorkersResponse list;
  grpc::ClientContext listing;
  HONE_EXPECT_GRPC_OK(admin_->ListWorkers(&listing, {}, &list));
  const v1::Device device = list.workers(0).devices(0);
  std::atomic<bool> stop = false;
  std::thread liar([&] { Lie(device, stop); });
  EXPECT_EQ(AwaitWorker(honest, absl::ZeroDuration()), "liar");

  v1::TuneRequest request;
  request.mutable_module()->set_content(R"(HloModule m
ENTRY main {
  x = f32[64]{0} parameter(0)
  ROOT y = f32[64]{0} add(x, x)
}
)");
  request.mutable_spec()->set_task("kernel");
  request.mutable_spec()->mutable_budget()->set_trials(6);
  const google::longrunning::Operation operation =
      WaitFor(Tune(request).name());
  ASSERT_TRUE(operation.has_response()) << operation.DebugString();
  v1::TuneResponse response;
  operation.response().UnpackTo(&response);
  EXPECT_GT(response.record().best_cost(), 0);
  const std::string& method = response.record().verification().method();
  EXPECT_THAT(method, HasSubstr("measured by worker " + honest));
  EXPECT_THAT(method, Not(HasSubstr("liar")));

  grpc::ClientContext again;
  HONE_EXPECT_GRPC_OK(admin_->ListWorkers(&again, {}, &list));
  for (const v1::Worker& worker : list.workers()) {
    EXPECT_EQ(worker.quarantine().reason(),
              worker.id() == "liar"
                  ? v1::Worker::Quarantine::MALFORMED_REPORT
                  : v1::Worker::Quarantine::REASON_UNSPECIFIED);
  }
  EXPECT_EQ(Metric("hone_workers_quarantined"), 1);
  v1::ReleaseWorkerRequest release;
  release.set_id("liar");
  v1::Worker released;
  grpc::ClientContext releasing;
  HONE_EXPECT_GRPC_OK(admin_->ReleaseWorker(&releasing, release, &released));
  EXPECT_TRUE(released.on_probation());
  EXPECT_FALSE(released.has_quarantine());
  stop = true;
  liar.join();
  EXPECT_TRUE(server_->Drain());
}

}  // namespace
}  // namespace hone::testing
