// Limits of calls, their bytes, and uploads.
#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "storage/memory_store.h"
#include "tests/daemon/access/blocking_store.h"
#include "tests/daemon/access/flood.h"
#include "tests/daemon/limits_fixture.h"
#include "tests/support/status_matchers.h"

namespace hone::testing {

void LimitsTest::MessageBytes() {
  Start();
  ExpectRefused(QueryOf((16 << 20) + 1));
  HONE_EXPECT_GRPC_OK(QueryOf(15 << 20));
}

void LimitsTest::BytesInFlight() {
  config_.max_module_bytes = 1 << 20;
  config_.max_bytes_in_flight = 1 << 20;
  Start();
  ExpectRefused(QueryOf(2 << 20));
  HONE_EXPECT_GRPC_OK(QueryOf(1 << 19));
  EXPECT_EQ(Used(), 0);
}

void LimitsTest::ClientBytesInFlight() {
  config_.max_module_bytes = 1 << 20;
  config_.max_client_bytes_in_flight = 1 << 20;
  Gate gate;
  StartOn(
      std::make_unique<BlockingStore>(BlockingStore::Gates{.has_blob = &gate}));
  grpc::Status first;
  std::thread client([&] { first = QueryOf(700'000); });
  while (gate.arrived() == 0) std::this_thread::yield();
  EXPECT_GT(Metric("hone_limit_used{limit=\"max_bytes_in_flight\"}"), 700'000);
  ExpectRefused(QueryOf(700'000));
  gate.Open();
  client.join();
  HONE_EXPECT_GRPC_OK(first);
  HONE_EXPECT_GRPC_OK(QueryOf(700'000));
  server_.reset();
}

void LimitsTest::RpcMemory() {
  config_.rpc_memory_bytes = 64 << 20;
  Start();
  Flood flood(channel_);
  v1::QueryModulesRequest request;
  request.add_digests(std::string(15 << 20, 'd'));
  for (int i = 0; i < 8; ++i) {
    flood.Call("/hone.v1.ModuleService/QueryModules",
               request.SerializeAsString());
  }
  // Twice the limit: they are read one after the other, or refused, or gRPC
  // closes their connection.
  for (int i = 0; i < 8; ++i) {
    const grpc::Status status = flood.Next();
    EXPECT_TRUE(status.ok() ||
                status.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED ||
                status.error_code() == grpc::StatusCode::UNAVAILABLE)
        << status.error_message();
  }
  Connect(server_->grpc_address(), grpc::InsecureChannelCredentials());
  HONE_EXPECT_GRPC_OK(QueryOf(1));
}

void LimitsTest::StreamsPerConnection() {
  config_.max_streams_per_connection = 1;
  Start();
  const std::string tuning = TuneWithoutEnd(0);
  grpc::ClientContext watching;
  v1::WatchTuningRequest watch;
  watch.set_name(tuning);
  auto reader = tunings_->WatchTuning(&watching, watch);
  v1::WatchTuningResponse update;
  ASSERT_TRUE(reader->Read(&update));
  v1::GetTuningRequest get;
  get.set_name(tuning);
  v1::Tuning proto;
  {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() +
                         std::chrono::milliseconds(200));
    EXPECT_EQ(tunings_->GetTuning(&context, get, &proto).error_code(),
              grpc::StatusCode::DEADLINE_EXCEEDED);
  }
  EXPECT_EQ(Metric("hone_rpcs_started_total{method=\"hone.v1.TuningService/"
                   "GetTuning\"}"),
            0);
  watching.TryCancel();
  reader->Finish();
  grpc::ClientContext context;
  HONE_EXPECT_GRPC_OK(tunings_->GetTuning(&context, get, &proto));
}

void LimitsTest::OpenCalls() {
  constexpr int kOpen = 256;  // daemon/access/methods.cc
  config_.max_uploads = kOpen;
  Start();
  for (int i = 0; i < kOpen; ++i) StartUpload(1);
  while (Metric("hone_rpc_in_flight{method=\"hone.v1.ModuleService/"
                "Upload\"}") < kOpen) {
    std::this_thread::yield();
  }
  ExpectRefused(UploadOf(1));
  EndUploads();
}

void LimitsTest::WaitingCalls() {
  config_.max_waiting_calls = 2;
  Gate gate;
  StartOn(
      std::make_unique<BlockingStore>(BlockingStore::Gates{.has_blob = &gate}));
  v1::QueryModulesRequest request;
  request.add_digests(std::string("d"));
  Flood flood(channel_);
  // More than there are threads.
  constexpr int kCalls = 200;
  for (int i = 0; i < kCalls; ++i) {
    flood.Call("/hone.v1.ModuleService/QueryModules",
               request.SerializeAsString());
  }
  const grpc::Status refused = flood.Next();
  EXPECT_EQ(daemon::CodeName(refused.error_code()), limit().code);
  EXPECT_EQ(ErrorInfoOf(refused).reason(), limit().reason);
  EXPECT_EQ(ErrorInfoOf(refused).metadata().at("limit"), limit().name);
  EXPECT_TRUE(HasRetryInfo(refused));
  gate.Open();
  int count = 1;
  for (int i = 1; i < kCalls; ++i) count += !flood.Next().ok();
  EXPECT_LT(count, kCalls);
  EXPECT_EQ(Metric("hone_limit_refusals_total{limit=\"max_waiting_calls\"}"),
            count);
  server_.reset();
}

void LimitsTest::RequestId() {
  Start();
  v1::StepRequest request;
  request.set_name("environments/none");
  request.add_actions(0);
  request.set_request_id(std::string(129, 'i'));
  ExpectRefused(Step(request));
}

void LimitsTest::QueryDigests() {
  Start();
  v1::QueryModulesRequest request;
  for (int i = 0; i <= 10'000; ++i) request.add_digests(std::string("d"));
  ExpectRefused(Query(request));
}

void LimitsTest::PageSize() {
  auto store = std::make_unique<storage::MemoryStore>();
  for (int i = 0; i <= 1000; ++i) {
    storage::Record record;
    record.key.module_fingerprint = absl::StrCat(i);
    HONE_ASSERT_OK(store->Publish(record));
  }
  StartOn(std::move(store));
  v1::ListRecordsRequest request;
  request.set_page_size(2000);
  grpc::ClientContext context;
  v1::ListRecordsResponse page;
  HONE_EXPECT_GRPC_OK(cache_->List(&context, request, &page));
  EXPECT_EQ(page.records_size(), 1000);
}

void LimitsTest::ModuleBytes() {
  config_.max_module_bytes = 100;
  Start();
  ExpectRefused(UploadOf(101));
}

void LimitsTest::CompileTasks() {
  Start();
  v1::CompileRequest request;
  request.mutable_module()->set_content(std::string(kModule));
  for (int i = 0; i < 9; ++i) request.add_specs();
  grpc::ClientContext context;
  v1::CompileResponse response;
  ExpectRefused(compile_->Compile(&context, request, &response));
}

void LimitsTest::SmallChunk() {
  Start();
  ExpectRefused(UploadOf(1 << 20, (64 << 10) - 1));
}

void LimitsTest::LargeChunk() {
  Start();
  ExpectRefused(UploadOf(4 << 20, (1 << 20) + 1));
}

void LimitsTest::Uploads() {
  config_.max_uploads = 1;
  Start();
  StartUpload(1);
  while (Used() < 1) std::this_thread::yield();
  ExpectRefused(UploadOf(1));
  EndUploads();
  while (Used() > 0) std::this_thread::yield();
}

void LimitsTest::UploadBytes() {
  config_.max_module_bytes = 1 << 20;
  config_.max_upload_bytes = 1 << 20;
  Start();
  StartUpload(1 << 20, 700'000);
  while (Used() < 700'000) std::this_thread::yield();
  ExpectRefused(UploadOf(1 << 20, 700'000));
  EndUploads();
  while (Used() > 0) std::this_thread::yield();
}

void LimitsTest::IdleUpload() {
  config_.upload_idle = absl::Seconds(1);
  Start();
  ExpectRefused(UploadOf(1 << 20, 700'000));
  while (Used() > 0) std::this_thread::yield();
}

}  // namespace hone::testing
