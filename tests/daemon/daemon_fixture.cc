#include "tests/daemon/daemon_fixture.h"

#include <filesystem>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "google/rpc/status.pb.h"
#include <grpcpp/generic/generic_stub.h>
#include <httplib.h>

#include "base/hash.h"
#include "daemon/telemetry/logging.h"
#include "storage/memory_store.h"
#include "tests/support/status_matchers.h"

namespace hone::testing {

using google::longrunning::Operation;

std::string NumberedModule(int n) {
  return absl::StrReplaceAll(
      kModule, {{"constant(0)", absl::StrCat("constant(", n, ")")}});
}

DaemonTest::DaemonTest() {
  config_.listen = {"127.0.0.1:0"};
  config_.http = "127.0.0.1:0";
  config_.max_running_tunings = 1;
  config_.default_trials = 20;
  config_.drain_grace = absl::Seconds(20);
  config_.log_level = "off";
  // Workers are what a test makes them.
  config_.local_worker = false;
  daemon::SetUpLogging(config_);
}

void DaemonTest::Start() { StartOn(std::make_unique<storage::MemoryStore>()); }

void DaemonTest::StartOnDisk(const std::string& state) {
  config_.state = state;
  HONE_ASSERT_OK_AND_ASSIGN(std::unique_ptr<storage::Store> store,
                            daemon::OpenStore(config_));
  StartOn(std::move(store));
}

void DaemonTest::StartOn(std::unique_ptr<storage::Store> store) {
  HONE_ASSERT_OK_AND_ASSIGN(
      server_, daemon::Server::Start(config_, std::move(store), clock_));
  Connect(server_->grpc_address(), grpc::InsecureChannelCredentials());
}

void DaemonTest::Connect(
    const std::string& address,
    const std::shared_ptr<grpc::ChannelCredentials>& credentials) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetMaxReceiveMessageSize(-1);
  channel_ = grpc::CreateCustomChannel(address, credentials, arguments);
  operations_ = google::longrunning::Operations::NewStub(channel_);
  admin_ = v1::AdminService::NewStub(channel_);
  cache_ = v1::CacheService::NewStub(channel_);
  compile_ = v1::CompileService::NewStub(channel_);
  environments_ = v1::EnvironmentService::NewStub(channel_);
  modules_ = v1::ModuleService::NewStub(channel_);
  tunings_ = v1::TuningService::NewStub(channel_);
}

Operation DaemonTest::Tune(v1::TuneRequest request) {
  grpc::ClientContext context;
  Operation operation;
  HONE_EXPECT_GRPC_OK(tunings_->Tune(&context, request, &operation));
  return operation;
}

std::string DaemonTest::TuneWithoutEnd(int n) {
  v1::TuneRequest request;
  request.mutable_module()->set_content(NumberedModule(n));
  request.mutable_spec()->set_optimizer("random");
  request.mutable_spec()->mutable_budget()->set_trials(1'000'000'000);
  return TuningOf(Tune(request));
}

Operation DaemonTest::WaitFor(const std::string& name) {
  grpc::ClientContext context;
  google::longrunning::WaitOperationRequest request;
  request.set_name(name);
  Operation operation;
  HONE_EXPECT_GRPC_OK(
      operations_->WaitOperation(&context, request, &operation));
  return operation;
}

v1::Record DaemonTest::TuneToEnd(absl::string_view module) {
  v1::TuneRequest request;
  request.mutable_module()->set_content(std::string(module));
  const Operation operation = WaitFor(Tune(request).name());
  EXPECT_TRUE(operation.has_response()) << operation.DebugString();
  v1::TuneResponse response;
  operation.response().UnpackTo(&response);
  return response.record();
}

std::pair<int, std::string> DaemonTest::Get(const std::string& path) {
  httplib::Client client("http://" + server_->http_address());
  const httplib::Result result = client.Get(path);
  if (!result) return {0, httplib::to_string(result.error())};
  return {result->status, result->body};
}

double DaemonTest::Metric(const std::string& series) {
  const std::string text = Get("/metrics").second;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    double value = 0;
    if (absl::ConsumePrefix(&line, series) && absl::ConsumePrefix(&line, " ") &&
        absl::SimpleAtod(line, &value)) {
      return value;
    }
  }
  return -1;
}

absl::StatusOr<std::string> DaemonTest::CallRaw(const std::string& method,
                                                const std::string& request,
                                                const std::string& token) {
  grpc::GenericStub stub(channel_);
  grpc::ClientContext context;
  if (!token.empty()) {
    context.AddMetadata("authorization", "Bearer " + token);
  }
  grpc::CompletionQueue queue;
  grpc::Slice slice(request);
  const grpc::ByteBuffer message(&slice, 1);
  auto call = stub.PrepareUnaryCall(&context, method, message, &queue);
  call->StartCall();
  grpc::ByteBuffer response;
  grpc::Status status;
  int tag = 0;
  call->Finish(&response, &status, &tag);
  void* got = nullptr;
  bool ok = false;
  queue.Next(&got, &ok);
  if (!status.ok()) {
    return absl::Status(static_cast<absl::StatusCode>(status.error_code()),
                        status.error_message());
  }
  grpc::Slice bytes;
  response.DumpToSingleSlice(&bytes);
  return std::string(reinterpret_cast<const char*>(bytes.begin()),
                     bytes.size());
}

bool DaemonTest::Healthy(const std::string& service) {
  // HealthCheckRequest{service = 1}, HealthCheckResponse{status = 1}.
  const std::string request = absl::StrCat(
      "\x0a", std::string(1, static_cast<char>(service.size())), service);
  return *CallRaw("/grpc.health.v1.Health/Check", request) == "\x08\x01";
}

google::rpc::ErrorInfo ErrorInfoOf(const grpc::Status& status) {
  google::rpc::Status details;
  details.ParseFromString(status.error_details());
  google::rpc::ErrorInfo info;
  for (const auto& detail : details.details()) {
    if (detail.UnpackTo(&info)) return info;
  }
  return info;
}

bool HasRetryInfo(const grpc::Status& status) {
  google::rpc::Status details;
  details.ParseFromString(status.error_details());
  for (const auto& detail : details.details()) {
    if (detail.Is<google::rpc::RetryInfo>()) return true;
  }
  return false;
}

std::string TuningOf(const Operation& operation) {
  return absl::StrReplaceAll(operation.name(), {{"/operations/", "/tunings/"}});
}

std::string OperationOf(absl::string_view tuning) {
  return absl::StrReplaceAll(tuning, {{"/tunings/", "/operations/"}});
}

}  // namespace hone::testing
