// Limits of tunings, environments and workers.
#include <algorithm>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "daemon/fleet/fleet.h"
#include "tests/daemon/child_processes.h"
#include "tests/daemon/limits_fixture.h"
#include "tests/support/status_matchers.h"

namespace hone::testing {

void LimitsTest::RunningTunings() {
  Start();
  TuneWithoutEnd(0);
  TuneWithoutEnd(1);
  while (Metric("hone_tunings_active{state=\"running\"}") < 1)
    std::this_thread::yield();
  EXPECT_EQ(Metric("hone_tunings_active{state=\"running\"}"), 1);
  EXPECT_EQ(Metric("hone_queue_depth"), 1);
}

void LimitsTest::QueuedTunings() {
  config_.max_queued_tunings = 0;
  Start();
  TuneWithoutEnd(1);
  ExpectRefused(TryTune({}));
}

void LimitsTest::BudgetTrials() {
  config_.max_budget_trials = 10;
  Start();
  v1::TuningSpec spec;
  spec.mutable_budget()->set_trials(11);
  ExpectRefused(TryTune(spec));
  // The default is within it.
  EXPECT_LE(TuneToEnd(kModule).trials(), 10);
}

void LimitsTest::BudgetTime() {
  config_.max_budget = absl::Seconds(100);
  Start();
  v1::TuningSpec spec;
  spec.mutable_budget()->mutable_time()->set_seconds(101);
  ExpectRefused(TryTune(spec));
  v1::GetTuningRequest get;
  get.set_name(TuneWithoutEnd(0));
  grpc::ClientContext context;
  v1::Tuning tuning;
  HONE_EXPECT_GRPC_OK(tunings_->GetTuning(&context, get, &tuning));
  EXPECT_EQ(tuning.budget().time().seconds(), 100);
}

void LimitsTest::EvaluationFlops() {
  config_.max_evaluation_flops = 10;
  Start();
  const grpc::Status status = TryTune({});
  ExpectRefused(status);
  EXPECT_THAT(status.error_message(),
              ::testing::HasSubstr("most of them for sum"));
  EXPECT_EQ(Metric("hone_queue_depth"), 0);
}

void LimitsTest::EvaluationBytes() {
  config_.max_evaluation_bytes = 100;
  Start();
  const grpc::Status status = TryTune({});
  ExpectRefused(status);
  EXPECT_THAT(status.error_message(),
              ::testing::HasSubstr("largest instruction"));
}

void LimitsTest::ProcessMemory() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  // The sanitizers' shadow memory would count, so there is no limit.
  return;
#endif
  config_.process_memory_bytes = 256 << 20;
  Start();
  // Parsing repeats the comment several times.
  const std::string module =
      absl::StrCat("// ", std::string(150 << 20, 'x'), "\n", kModule);
  const std::string digest = Sha256Hex(module);
  Upload& upload = uploads_.emplace_back();
  upload.writer = modules_->Upload(&upload.context, &upload.response);
  v1::UploadRequest part;
  part.mutable_header()->set_digest(digest);
  part.mutable_header()->set_size_bytes(static_cast<int64_t>(module.size()));
  upload.writer->Write(part);
  for (size_t at = 0; at < module.size(); at += 1 << 20) {
    part.set_chunk(module.substr(at, 1 << 20));
    upload.writer->Write(part);
  }
  upload.writer->WritesDone();
  HONE_EXPECT_GRPC_OK(upload.writer->Finish());
  v1::TuneRequest request;
  request.mutable_module()->set_digest(digest);
  grpc::ClientContext context;
  google::longrunning::Operation operation;
  const grpc::Status status = tunings_->Tune(&context, request, &operation);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(status.error_message(),
              ::testing::HasSubstr("more than 256 MiB"));
}

void LimitsTest::Environments() {
  config_.max_environments = 1;
  Start();
  HONE_EXPECT_GRPC_OK(Open(kModule));
  EXPECT_EQ(Metric("hone_environments_open"), 1);
  ExpectRefused(Open(kModule));
}

std::vector<pid_t> LimitsTest::StartEnvironments() {
  // Starts the processes that others need.
  HONE_EXPECT_GRPC_OK(TryTune({}));
  const std::vector<pid_t> others = ChildProcesses();
  HONE_EXPECT_GRPC_OK(Open(kModule));
  std::vector<pid_t> stuck = ChildProcesses();
  stuck.erase(std::remove_if(stuck.begin(), stuck.end(),
                             [&](pid_t pid) {
                               return std::count(others.begin(), others.end(),
                                                 pid) > 0;
                             }),
              stuck.end());
  return stuck;
}

void LimitsTest::EnvironmentCalls() {
  Start();
  const std::vector<pid_t> stuck = StartEnvironments();
  // An environment in another process.
  const size_t processes = ChildProcesses().size();
  v1::StepRequest elsewhere;
  elsewhere.add_actions(0);
  for (int i = 1; ChildProcesses().size() == processes; ++i) {
    ASSERT_LT(i, 100);
    std::string name;
    HONE_EXPECT_GRPC_OK(Open(NumberedModule(i), &name));
    elsewhere.set_name(name);
  }
  for (const pid_t pid : stuck) kill(pid, SIGSTOP);
  std::vector<std::thread> threads;
  std::vector<grpc::Status> statuses(9);
  for (grpc::Status& status : statuses) {
    threads.emplace_back([&] { status = Open(kModule); });
  }
  const std::string refusals =
      "hone_limit_refusals_total{limit=\"environment_calls\"}";
  while (Metric(refusals) < 1) std::this_thread::yield();
  // Others get their answers.
  HONE_EXPECT_GRPC_OK(TryTune({}));
  Upload& upload = StartUpload(1, 1);
  upload.writer->WritesDone();
  HONE_EXPECT_GRPC_OK(upload.writer->Finish());
  HONE_EXPECT_GRPC_OK(Step(elsewhere));
  for (const pid_t pid : stuck) kill(pid, SIGCONT);
  for (std::thread& thread : threads) thread.join();
  int refused = 0;
  for (const grpc::Status& status : statuses) {
    if (status.ok()) continue;
    ++refused;
    ExpectRefused(status);
  }
  EXPECT_EQ(refused, 1);
}

void LimitsTest::RequestIdWaits() {
  Start();
  const std::vector<pid_t> stuck = StartEnvironments();
  for (const pid_t pid : stuck) kill(pid, SIGSTOP);
  std::vector<std::thread> threads;
  std::vector<grpc::Status> statuses(3);
  for (grpc::Status& status : statuses) {
    threads.emplace_back([&] { status = Open(kModule, nullptr, "id"); });
  }
  const std::string refusals =
      "hone_limit_refusals_total{limit=\"request_id_waits\"}";
  while (Metric(refusals) < 1) std::this_thread::yield();
  for (const pid_t pid : stuck) kill(pid, SIGCONT);
  for (std::thread& thread : threads) thread.join();
  int refused = 0;
  for (const grpc::Status& status : statuses) {
    if (status.ok()) continue;
    ++refused;
    ExpectRefused(status);
  }
  EXPECT_EQ(refused, 1);
}

void LimitsTest::EnvironmentMemory() {
  config_.environment_memory_bytes = 1 << 20;
  Start();
  std::string numbers = "1";
  for (int i = 1; i < 400'000; ++i) numbers += ",1";
  // More than half of the memory, for the constant alone.
  ExpectRefused(Open(absl::StrCat(
      "HloModule m\n\nENTRY main {\n  a = s32[400000]{0} constant({", numbers,
      "})\n  b = s32[400000]{0} parameter(0)\n"
      "  ROOT sum = s32[400000]{0} add(a, b)\n}\n")));
  HONE_EXPECT_GRPC_OK(Open(kModule));
}

void LimitsTest::EnvironmentIdle() {
  Start();
  std::string opened;
  HONE_EXPECT_GRPC_OK(Open(kModule, &opened));
  clock_.Advance(config_.environment_idle);
  v1::StepRequest request;
  request.set_name(opened);
  request.add_actions(0);
  EXPECT_EQ(Step(request).error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(Metric("hone_environments_expired_total"), 1);
}

void LimitsTest::BatchSteps() {
  Start();
  v1::StepBatchRequest request;
  for (int i = 0; i <= 4096; ++i) {
    request.add_requests()->set_name(absl::StrCat("environments/", i));
  }
  grpc::ClientContext context;
  v1::StepBatchResponse response;
  ExpectRefused(environments_->StepBatch(&context, request, &response));
}

void LimitsTest::Workers() {
  // Eleven clients, which one machine is not for a daemon.
  daemon::Metrics metrics;
  daemon::Fleet fleet(clock_, metrics, {.lease = absl::Seconds(15)});
  for (int i = 0; i < 10'000; ++i) {
    HONE_ASSERT_OK(
        fleet.Synchronize(From(absl::StrCat("w", i)),
                          {.address = absl::StrCat("client", i / 1000)}));
  }
  const absl::Status refused =
      fleet.Synchronize(From("other"), {.address = "client10"}).status();
  EXPECT_EQ(absl::StatusCodeToString(refused.code()), limit().code);
  EXPECT_EQ(daemon::LimitOf(refused), limit().name);
  EXPECT_EQ(ErrorInfoOf(daemon::ToGrpcStatus(refused)).reason(),
            limit().reason);
}

void LimitsTest::WorkersPerClient() {
  Start();
  v1::SynchronizeRequest request = From("w");
  for (int i = 0; i < 1000; ++i) {
    request.set_worker_id(absl::StrCat("w", i));
    HONE_EXPECT_GRPC_OK(Synchronize(request));
  }
  request.set_worker_id("other");
  ExpectRefused(Synchronize(request));
  EXPECT_EQ(Metric("hone_workers"), 1000);
}

void LimitsTest::WorkerName() {
  Start();
  ExpectRefused(Synchronize(From(std::string(129, 'w'))));
}

void LimitsTest::DeviceText() {
  Start();
  v1::SynchronizeRequest request = From("a");
  request.mutable_devices(0)->set_isa(std::string((16 << 10) + 1, 'i'));
  ExpectRefused(Synchronize(request));
}

void LimitsTest::WorkerDevices() {
  Start();
  v1::SynchronizeRequest request = From("a");
  for (int i = 0; i < 64; ++i) *request.add_devices() = request.devices(0);
  ExpectRefused(Synchronize(request));
}

void LimitsTest::WorkerCapabilities() {
  Start();
  v1::SynchronizeRequest request = From("a");
  while (request.capabilities_size() < 33) request.add_capabilities("kind");
  ExpectRefused(Synchronize(request));
}

void LimitsTest::Completions() {
  Start();
  v1::SynchronizeRequest request = From("a");
  for (int i = 0; i < 5; ++i) request.add_completions();
  ExpectRefused(Synchronize(request));
}

void LimitsTest::WorkCandidates() {
  v1::Completion completion;
  for (int i = 0; i < 1025; ++i) completion.mutable_kernel()->add_candidates();
  ExpectReportRefused(completion);
}

void LimitsTest::TimingSamples() {
  v1::Completion completion;
  for (int i = 0; i < 1025; ++i) {
    completion.mutable_kernel()->mutable_baseline()->add_samples_ns(1);
  }
  ExpectReportRefused(completion);
}

void LimitsTest::CalibrationLevels() {
  v1::Completion completion;
  for (int i = 0; i < 65; ++i) {
    completion.mutable_kernel()->mutable_calibration()->add_levels();
  }
  ExpectReportRefused(completion);
}

void LimitsTest::OutcomeMessage() {
  v1::Completion completion;
  completion.mutable_kernel()->mutable_baseline()->set_message(
      std::string((4 << 10) + 1, 'm'));
  ExpectReportRefused(completion);
}

void LimitsTest::WorkError() {
  v1::Completion completion;
  completion.mutable_error()->set_message(std::string((16 << 10) + 1, 'm'));
  ExpectReportRefused(completion);
}

}  // namespace hone::testing
