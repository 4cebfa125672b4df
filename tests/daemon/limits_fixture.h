#ifndef HONE_TESTS_DAEMON_LIMITS_FIXTURE_H_
#define HONE_TESTS_DAEMON_LIMITS_FIXTURE_H_

#include <list>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"

#include "base/hash.h"
#include "daemon/errors.h"
#include "daemon/limits.h"
#include "hone/v1/worker_service.grpc.pb.h"
#include "tests/daemon/daemon_fixture.h"
#include "tests/daemon/fleet/requests.h"

namespace hone::testing {

// A case for each limit of daemon/limits.def, with what they share.
class LimitsTest : public DaemonTest,
                   public ::testing::WithParamInterface<daemon::Limit> {
 protected:
  // An upload that is under way.
  struct Upload {
    grpc::ClientContext context;
    v1::UploadResponse response;
    std::unique_ptr<grpc::ClientWriter<v1::UploadRequest>> writer;
  };

  // The table's line of the limit under test.
  const daemon::Limit& limit() const { return GetParam(); }
  std::string name() const { return std::string(limit().name); }
  double Used() {
    return Metric(absl::StrCat("hone_limit_used{limit=\"", name(), "\"}"));
  }

  void ExpectRefused(const grpc::Status& status) {
    EXPECT_EQ(daemon::CodeName(status.error_code()), limit().code)
        << status.error_message();
    EXPECT_EQ(ErrorInfoOf(status).reason(), limit().reason);
    const auto metadata = ErrorInfoOf(status).metadata();
    ASSERT_TRUE(metadata.contains("limit")) << status.error_message();
    EXPECT_EQ(metadata.at("limit"), limit().name);
    EXPECT_EQ(Metric(absl::StrCat("hone_limit_refusals_total{limit=\"", name(),
                                  "\"}")),
              1);
  }

  grpc::Status Query(const v1::QueryModulesRequest& request) {
    grpc::ClientContext context;
    v1::QueryModulesResponse response;
    return modules_->QueryModules(&context, request, &response);
  }
  // A request of that size.
  grpc::Status QueryOf(size_t bytes) {
    v1::QueryModulesRequest request;
    request.add_digests(std::string(bytes, 'd'));
    return Query(request);
  }

  Upload& StartUpload(int64_t bytes, size_t chunk = 0) {
    Upload& upload = uploads_.emplace_back();
    upload.writer = modules_->Upload(&upload.context, &upload.response);
    v1::UploadRequest part;
    part.mutable_header()->set_digest(Sha256Hex("x"));
    part.mutable_header()->set_size_bytes(bytes);
    upload.writer->Write(part);
    if (chunk > 0) {
      part.set_chunk(std::string(chunk, 'x'));
      upload.writer->Write(part);
    }
    return upload;
  }
  grpc::Status UploadOf(int64_t bytes, size_t chunk = 0) {
    const grpc::Status status = StartUpload(bytes, chunk).writer->Finish();
    uploads_.pop_back();
    return status;
  }
  void EndUploads() {
    for (Upload& upload : uploads_) upload.context.TryCancel();
    for (Upload& upload : uploads_) upload.writer->Finish();
  }

  grpc::Status TryTune(const v1::TuningSpec& spec) {
    grpc::ClientContext context;
    v1::TuneRequest request;
    request.mutable_module()->set_content(std::string(kModule));
    *request.mutable_spec() = spec;
    google::longrunning::Operation operation;
    return tunings_->Tune(&context, request, &operation);
  }

  grpc::Status Open(absl::string_view module, std::string* opened = nullptr,
                    const std::string& request_id = "") {
    grpc::ClientContext context;
    v1::OpenEnvironmentRequest request;
    request.set_request_id(request_id);
    request.mutable_module()->set_content(std::string(module));
    v1::OpenEnvironmentResponse response;
    const grpc::Status status =
        environments_->OpenEnvironment(&context, request, &response);
    if (opened != nullptr) *opened = response.environment().name();
    return status;
  }
  grpc::Status Step(const v1::StepRequest& request) {
    grpc::ClientContext context;
    v1::StepResponse response;
    return environments_->Step(&context, request, &response);
  }

  grpc::Status Synchronize(const v1::SynchronizeRequest& request) {
    grpc::ClientContext context;
    v1::SynchronizeResponse response;
    return v1::WorkerService::NewStub(channel_)->Synchronize(&context, request,
                                                             &response);
  }
  // A worker's call with one completion.
  void ExpectReportRefused(v1::Completion completion) {
    Start();
    completion.mutable_lease()->set_work_id("w");
    completion.mutable_lease()->set_fence(1);
    v1::SynchronizeRequest request = From("a");
    *request.add_completions() = std::move(completion);
    ExpectRefused(Synchronize(request));
    EXPECT_EQ(Metric("hone_workers"), 0);
  }

  std::list<Upload> uploads_;

 public:
  using Case = void (LimitsTest::*)();
  // The cases, by the name of the limit.
  static const std::map<std::string, Case>& Cases();

 private:
  // limits_of_calls.cc
  void MessageBytes();
  void BytesInFlight();
  void ClientBytesInFlight();
  void RpcMemory();
  void StreamsPerConnection();
  void OpenCalls();
  void WaitingCalls();
  void RequestId();
  void QueryDigests();
  void PageSize();
  void ModuleBytes();
  void SmallChunk();
  void LargeChunk();
  void Uploads();
  void UploadBytes();
  void IdleUpload();
  void CompileTasks();
  // limits_of_connections.cc
  void HttpConnections();
  void HttpHead();
  void Token();
  // limits_of_work.cc
  void RunningTunings();
  void QueuedTunings();
  void BudgetTrials();
  void BudgetTime();
  void EvaluationFlops();
  void EvaluationBytes();
  void ProcessMemory();
  void Environments();
  void EnvironmentMemory();
  // Opens one and returns its process.
  std::vector<pid_t> StartEnvironments();
  void EnvironmentCalls();
  void RequestIdWaits();
  void EnvironmentIdle();
  void BatchSteps();
  void Workers();
  void WorkersPerClient();
  void WorkerName();
  void DeviceText();
  void WorkerDevices();
  void WorkerCapabilities();
  void Completions();
  void WorkCandidates();
  void TimingSamples();
  void CalibrationLevels();
  void OutcomeMessage();
  void WorkError();
};

}  // namespace hone::testing

#endif  // HONE_TESTS_DAEMON_LIMITS_FIXTURE_H_
