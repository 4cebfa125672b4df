// More calls than the daemon can run.

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/daemon/access/blocking_store.h"
#include "tests/daemon/access/flood.h"
#include "tests/daemon/access/token_file.h"
#include "tests/daemon/daemon_fixture.h"

namespace hone::testing {
namespace {

// More than a pool's threads and places of a client.
constexpr int kFlood = 1000;

class OverloadTest : public DaemonTest {
 protected:
  OverloadTest() {
    std::filesystem::create_directories(folder_.path());
    config_.tokens = absl::StrCat(folder_.path(), "/tokens");
    WriteTokens(config_.tokens, {{"a", "admin"}, {"b", "admin"}});
  }

  // Calls with the token of a client and a generous deadline.
  template <typename Request, typename Response, typename Stub>
  grpc::Status Call(Stub& stub,
                    grpc::Status (Stub::*method)(grpc::ClientContext*,
                                                 const Request&, Response*),
                    const Request& request, const std::string& token) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() +
                         std::chrono::seconds(60));
    context.AddMetadata("authorization", absl::StrCat("Bearer ", token));
    Response response;
    return (stub.*method)(&context, request, &response);
  }

  const TemporaryDirectory folder_;
};

TEST_F(OverloadTest, AFloodOfTuningsDelaysNothingElse) {
  Gate gate;
  StartOn(
      std::make_unique<BlockingStore>(BlockingStore::Gates{.put_blob = &gate}));
  v1::TuneRequest request;
  request.mutable_module()->set_content(std::string(kModule));
  Flood flood(channel_);
  for (int i = 0; i < kFlood; ++i) {
    flood.Call("/hone.v1.TuningService/Tune", request.SerializeAsString(),
               "secret-a");
  }
  // Those beyond the client's places are refused while the others wait.
  const grpc::Status refused = flood.Next();
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(ErrorInfoOf(refused).reason(), "OVERLOADED");
  EXPECT_TRUE(HasRetryInfo(refused));
  while (gate.arrived() == 0) std::this_thread::yield();

  // Control and lookups, of the same client.
  HONE_EXPECT_GRPC_OK(Call(*admin_, &v1::AdminService::Stub::GetServerInfo,
                           v1::GetServerInfoRequest(), "secret-a"));
  v1::CancelTuningRequest cancel;
  cancel.set_name("projects/default/tunings/nothing");
  EXPECT_EQ(Call(*tunings_, &v1::TuningService::Stub::CancelTuning, cancel,
                 "secret-a")
                .error_code(),
            grpc::StatusCode::NOT_FOUND);
  v1::LookupRequest lookup;
  lookup.set_module_fingerprint("nothing");
  EXPECT_EQ(Call(*cache_, &v1::CacheService::Stub::Lookup, lookup, "secret-a")
                .error_code(),
            grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(Get("/healthz").first, 200);

  // Another client finds a place, and all that were let in are answered.
  flood.Call("/hone.v1.TuningService/Tune", request.SerializeAsString(),
             "secret-b");
  gate.Open();
  int served = 0;
  for (int i = 0; i < kFlood; ++i) {
    const grpc::Status status = flood.Next();
    if (status.ok()) {
      ++served;
    } else {
      EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
    }
  }
  server_.reset();
  // Half of the places are for one client.
  EXPECT_GE(served, 513);
  EXPECT_LT(served, kFlood - 1);
}

TEST_F(OverloadTest, ACancellationReachesTheWork) {
  Gate gate;
  StartOn(
      std::make_unique<BlockingStore>(BlockingStore::Gates{.has_blob = &gate}));
  v1::QueryModulesRequest request;
  for (int i = 0; i < 1000; ++i) request.add_digests(std::string("d"));
  grpc::ClientContext context;
  context.AddMetadata("authorization", "Bearer secret-a");
  grpc::Status status;
  std::thread client([&] {
    v1::QueryModulesResponse response;
    status = modules_->QueryModules(&context, request, &response);
  });
  while (gate.arrived() == 0) std::this_thread::yield();
  context.TryCancel();
  client.join();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::CANCELLED);
  // The daemon hears of it a moment later; the work goes on until then.
  while (Metric("hone_rpc_in_flight{method=\"hone.v1.ModuleService/"
                "QueryModules\"}") != 0) {
    gate.Allow();
  }
  EXPECT_LT(gate.arrived(), 1000);
  EXPECT_EQ(
      Metric("hone_rpcs_handled_total{code=\"CANCELLED\",method=\"hone.v1."
             "ModuleService/QueryModules\"}"),
      1);
  gate.Open();
  server_.reset();
}

TEST_F(OverloadTest, ADeadlineReachesTheWork) {
  Gate gate;
  StartOn(
      std::make_unique<BlockingStore>(BlockingStore::Gates{.has_blob = &gate}));
  v1::QueryModulesRequest request;
  for (int i = 0; i < 1000; ++i) request.add_digests(std::string("d"));
  grpc::ClientContext context;
  context.AddMetadata("authorization", "Bearer secret-a");
  context.set_deadline(std::chrono::system_clock::now() +
                       std::chrono::seconds(2));
  v1::QueryModulesResponse response;
  EXPECT_EQ(modules_->QueryModules(&context, request, &response).error_code(),
            grpc::StatusCode::DEADLINE_EXCEEDED);
  // The daemon's own deadline is a moment later.
  while (Metric("hone_rpc_in_flight{method=\"hone.v1.ModuleService/"
                "QueryModules\"}") != 0) {
    gate.Allow();
  }
  EXPECT_LT(gate.arrived(), 1000);
  gate.Open();
  server_.reset();
}

TEST_F(OverloadTest, AStoreThatHangsDoesNotDelayAScrape) {
  Gate gate;
  StartOn(
      std::make_unique<BlockingStore>(BlockingStore::Gates{.stats = &gate}));
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(Get("/metrics").second,
                ::testing::HasSubstr("hone_build_info"));
  }
  EXPECT_EQ(gate.arrived(), 1);
  gate.Open();
  // It uses the gate.
  server_.reset();
}

}  // namespace
}  // namespace hone::testing
