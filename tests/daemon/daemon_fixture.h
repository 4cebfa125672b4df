#ifndef HONE_TESTS_DAEMON_DAEMON_FIXTURE_H_
#define HONE_TESTS_DAEMON_DAEMON_FIXTURE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "google/longrunning/operations.grpc.pb.h"
#include "google/rpc/error_details.pb.h"
#include "gtest/gtest.h"
#include <grpcpp/grpcpp.h>

#include "base/temporary_directory.h"
#include "daemon/config.h"
#include "daemon/server.h"
#include "hone/v1/admin_service.grpc.pb.h"
#include "hone/v1/cache_service.grpc.pb.h"
#include "hone/v1/compile_service.grpc.pb.h"
#include "hone/v1/environment_service.grpc.pb.h"
#include "hone/v1/module_service.grpc.pb.h"
#include "hone/v1/tuning_service.grpc.pb.h"
#include "tests/support/fake_clock.h"

namespace hone::testing {

// A module with something to do for every order of passes.
inline constexpr absl::string_view kModule = R"(HloModule tiny

ENTRY main {
  x = f32[4]{0} parameter(0)
  zero = f32[] constant(0)
  zeros = f32[4]{0} broadcast(zero), dimensions={}
  sum = f32[4]{0} add(x, zeros)
  same = f32[4]{0} add(x, zeros)
  twice = f32[4]{0} add(sum, same)
  dead = f32[4]{0} multiply(twice, x)
  ROOT out = (f32[4]{0}, f32[4]{0}) tuple(twice, sum)
}
)";

// Another module of the same kind; each `n` has a different fingerprint.
std::string NumberedModule(int n);

// A daemon in this process on free ports, and a real client of it.
class DaemonTest : public ::testing::Test {
 protected:
  DaemonTest();

  // Starts the daemon on a store in memory.
  void Start();
  // Starts it on the store in `state`, which it keeps for the next start.
  void StartOnDisk(const std::string& state);
  void StartOn(std::unique_ptr<storage::Store> store);
  // Makes the client one of `address`.
  void Connect(const std::string& address,
               const std::shared_ptr<grpc::ChannelCredentials>& credentials);

  // Tunes with a small budget unless the request has one; returns the
  // operation.
  google::longrunning::Operation Tune(v1::TuneRequest request);
  // Starts a tuning that does not end by itself.
  std::string TuneWithoutEnd(int n);
  // Waits for the end of an operation.
  google::longrunning::Operation WaitFor(const std::string& name);
  // Tunes `module` to its end.
  v1::Record TuneToEnd(absl::string_view module);

  // The body of an HTTP GET, and its status.
  std::pair<int, std::string> Get(const std::string& path);
  // The value of a series in /metrics, e.g. `hone_queue_depth`; -1 without it.
  double Metric(const std::string& series);

  // Calls a unary method without generated code, with a token unless it is
  // empty; returns the response's bytes.
  absl::StatusOr<std::string> CallRaw(const std::string& method,
                                      const std::string& request,
                                      const std::string& token = "");
  // Returns true if grpc.health.v1 says SERVING.
  bool Healthy(const std::string& service);

  daemon::Config config_;
  // The clock by which environments expire; tunings run by the system's.
  FakeClock clock_;
  std::unique_ptr<daemon::Server> server_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<google::longrunning::Operations::Stub> operations_;
  std::unique_ptr<v1::AdminService::Stub> admin_;
  std::unique_ptr<v1::CacheService::Stub> cache_;
  std::unique_ptr<v1::CompileService::Stub> compile_;
  std::unique_ptr<v1::EnvironmentService::Stub> environments_;
  std::unique_ptr<v1::ModuleService::Stub> modules_;
  std::unique_ptr<v1::TuningService::Stub> tunings_;
};

// The google.rpc.ErrorInfo of an error; empty when it has none.
google::rpc::ErrorInfo ErrorInfoOf(const grpc::Status& status);
// Returns true if the status carries google.rpc.RetryInfo.
bool HasRetryInfo(const grpc::Status& status);

// The name of an operation's tuning, and of a tuning's operation.
std::string TuningOf(const google::longrunning::Operation& operation);
std::string OperationOf(absl::string_view tuning);

#define HONE_EXPECT_GRPC_OK(expr)                                           \
  do {                                                                      \
    const grpc::Status hone_status = (expr);                                \
    EXPECT_TRUE(hone_status.ok())                                           \
        << hone_status.error_code() << ": " << hone_status.error_message(); \
  } while (false)

}  // namespace hone::testing

#endif  // HONE_TESTS_DAEMON_DAEMON_FIXTURE_H_
