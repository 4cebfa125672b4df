#include "daemon/server.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

#include "storage/memory_store.h"
#include "tests/daemon/daemon_fixture.h"
#include "tests/support/status_matchers.h"

namespace hone::testing {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

class ServerTest : public DaemonTest {};

// Runs a command line; its exit status and what it printed.
std::pair<int, std::string> RunCommand(const std::string& command) {
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  std::string output;
  for (int c; (c = fgetc(pipe)) != EOF;) output += static_cast<char>(c);
  const int status = pclose(pipe);
  return {WEXITSTATUS(status), output};
}

TEST_F(ServerTest, AllServicesAreHealthyAndReflected) {
  Start();
  const std::vector<std::string> services = {
      "google.longrunning.Operations", "hone.v1.AdminService",
      "hone.v1.CacheService",          "hone.v1.CompileService",
      "hone.v1.EnvironmentService",    "hone.v1.ModuleService",
      "hone.v1.TuningService",         "hone.v1.WorkerService"};
  // ServerReflectionRequest{list_services = 7: ""}.
  HONE_ASSERT_OK_AND_ASSIGN(
      const std::string reflected,
      CallRaw("/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
              std::string("\x3a\x00", 2)));
  EXPECT_TRUE(Healthy(""));
  for (const std::string& service : services) {
    EXPECT_TRUE(Healthy(service)) << service;
    EXPECT_THAT(reflected, HasSubstr(service));
  }
  EXPECT_EQ(
      CallRaw("/grpc.health.v1.Health/Check", "\x0a\x01x").status().code(),
      absl::StatusCode::kNotFound);
}

TEST_F(ServerTest, ServerInfoListsWhatThereIs) {
  Start();
  grpc::ClientContext context;
  v1::GetServerInfoResponse info;
  HONE_EXPECT_GRPC_OK(admin_->GetServerInfo(&context, {}, &info));
  EXPECT_NE(info.version(), "");
  ASSERT_EQ(info.tasks_size(), 9);
  EXPECT_EQ(info.tasks(0).name(), "fusion");
  EXPECT_EQ(info.tasks(1).name(), "joint");
  EXPECT_EQ(info.tasks(2).name(), "kernel");
  EXPECT_EQ(info.tasks(2).target(), "cpu");
  EXPECT_EQ(info.tasks(3).name(), "module");
  EXPECT_EQ(info.tasks(3).target(), "cpu");
  EXPECT_EQ(info.tasks(3).default_optimizer(), "parts");
  EXPECT_EQ(info.tasks(4).name(), "partition");
  EXPECT_EQ(info.tasks(4).target(), "mcm");
  EXPECT_EQ(info.tasks(5).name(), "pass_order");
  EXPECT_EQ(info.tasks(5).target(), "xla-cpu");
  EXPECT_EQ(info.tasks(5).default_optimizer(), "guided");
  EXPECT_EQ(info.tasks(6).name(), "placement");
  EXPECT_EQ(info.tasks(6).default_optimizer(), "annealing");
  EXPECT_EQ(info.tasks(7).name(), "schedule");
  EXPECT_EQ(info.tasks(7).target(), "cluster");
  EXPECT_EQ(info.tasks(8).name(), "tile");
  EXPECT_EQ(info.tasks(8).target(), "tpu");
  EXPECT_EQ(info.tasks(8).default_optimizer(), "xtat");
  EXPECT_GT(info.optimizers_size(), 3);
  EXPECT_GT(info.passes_size(), 5);
  EXPECT_EQ(info.limits().max_message_bytes(), 16 << 20);
  EXPECT_EQ(info.limits().environment_idle_timeout().seconds(), 600);
  EXPECT_FALSE(info.draining());
}

TEST_F(ServerTest, HttpServesOperators) {
  Start();
  EXPECT_EQ(Get("/healthz"), (std::pair<int, std::string>{200, "ok\n"}));
  EXPECT_EQ(Get("/readyz"), (std::pair<int, std::string>{200, "ready\n"}));
  EXPECT_THAT(Get("/").second, HasSubstr("/metrics"));
  EXPECT_EQ(Get("/nothing").first, 404);
}

TEST_F(ServerTest, MetricsPassPromtool) {
  // promtool is in the Debian package prometheus; ./test.sh installs it.
  ASSERT_EQ(RunCommand("promtool --version").first, 0);
  Start();
  TuneToEnd(kModule);
  const TemporaryDirectory directory;
  std::filesystem::create_directories(directory.path());
  const std::string path = directory.path() + "/metrics";
  std::ofstream(path) << Get("/metrics").second;
  const auto [status, output] = RunCommand("promtool check metrics < " + path);
  EXPECT_EQ(status, 0) << output;
  EXPECT_EQ(output, "");
}

TEST_F(ServerTest, MetricsFollowWhatHappens) {
  Start();
  EXPECT_EQ(Metric("hone_cache_entries"), 0);
  EXPECT_EQ(Metric("hone_candidates_total{outcome=\"ok\"}"), 0);
  TuneToEnd(kModule);
  EXPECT_EQ(Metric("hone_cache_entries"), 1);
  EXPECT_GT(Metric("hone_candidates_total{outcome=\"ok\"}"), 0);
  EXPECT_EQ(Metric("hone_rpcs_started_total{method=\"hone.v1.TuningService/"
                   "Tune\"}"),
            1);
  EXPECT_EQ(Metric("hone_rpcs_handled_total{code=\"OK\",method=\"hone.v1."
                   "TuningService/Tune\"}"),
            1);
  EXPECT_EQ(Metric("hone_rpc_in_flight{method=\"hone.v1.TuningService/Tune\"}"),
            0);
  EXPECT_EQ(Metric("hone_tuning_speedup_ratio_count"), 1);
  EXPECT_GT(Metric("hone_db_commit_duration_seconds_count"), 0);
  EXPECT_GT(Metric("process_resident_memory_bytes"), 1e6);
  EXPECT_GT(Metric("process_open_fds"), 3);
}

TEST_F(ServerTest, APortThatIsTakenIsAnError) {
  Start();
  daemon::Config second = config_;
  second.listen = {server_->grpc_address()};
  EXPECT_THAT(
      daemon::Server::Start(second, std::make_unique<storage::MemoryStore>()),
      StatusIs(absl::StatusCode::kUnavailable,
               HasSubstr("cannot listen on " + second.listen[0])));
  second = config_;
  second.http = server_->http_address();
  EXPECT_THAT(
      daemon::Server::Start(second, std::make_unique<storage::MemoryStore>()),
      StatusIs(absl::StatusCode::kUnavailable,
               HasSubstr("cannot listen on " + second.http)));
  second = config_;
  second.listen = {"nowhere"};
  EXPECT_THAT(
      daemon::Server::Start(second, std::make_unique<storage::MemoryStore>()),
      StatusIs(absl::StatusCode::kInvalidArgument,
               HasSubstr("expected unix:PATH or HOST:PORT")));
}

TEST_F(ServerTest, DrainTellsWatchersAndRefusesNothingElse) {
  Start();
  const std::string name = TuneWithoutEnd(1);
  const std::string queued = TuneWithoutEnd(2);
  std::vector<std::unique_ptr<grpc::ClientContext>> contexts;
  std::vector<std::unique_ptr<grpc::ClientReader<v1::WatchTuningResponse>>>
      readers;
  for (int i = 0; i < 20; ++i) {
    contexts.push_back(std::make_unique<grpc::ClientContext>());
    v1::WatchTuningRequest request;
    request.set_name(i % 2 == 0 ? name : queued);
    readers.push_back(tunings_->WatchTuning(contexts.back().get(), request));
    v1::WatchTuningResponse update;
    ASSERT_TRUE(readers.back()->Read(&update));
  }
  // A call that waits for what will not come.
  grpc::Status waited;
  google::longrunning::Operation operation;
  std::thread waiter([&] {
    grpc::ClientContext context;
    google::longrunning::WaitOperationRequest request;
    request.set_name(OperationOf(name));
    waited = operations_->WaitOperation(&context, request, &operation);
  });
  while (Metric("hone_rpc_in_flight{method=\"google.longrunning.Operations/"
                "WaitOperation\"}") != 1) {
    std::this_thread::yield();
  }
  EXPECT_TRUE(server_->Drain());
  waiter.join();
  HONE_EXPECT_GRPC_OK(waited);
  EXPECT_FALSE(operation.done());
  for (auto& reader : readers) {
    v1::WatchTuningResponse update;
    while (reader->Read(&update)) {
    }
    EXPECT_TRUE(update.server_draining());
    const grpc::Status status = reader->Finish();
    EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
    EXPECT_EQ(ErrorInfoOf(status).reason(), "DRAINING");
    EXPECT_TRUE(HasRetryInfo(status));
  }
}

TEST_F(ServerTest, HealthTurnsBeforeAnythingIsRefused) {
  config_.drain_delay = absl::Seconds(2);
  Start();
  std::thread drain([&] { server_->Drain(); });
  // Within the delay, requests are still served.
  while (Healthy("")) std::this_thread::yield();
  EXPECT_FALSE(Healthy("hone.v1.TuningService"));
  EXPECT_EQ(Get("/readyz").first, 503);
  EXPECT_EQ(Get("/healthz").first, 200);
  v1::TuneRequest request;
  request.mutable_module()->set_content(std::string(kModule));
  Tune(request);
  drain.join();
}

TEST_F(ServerTest, HealthTurnsBeforeTheLocalWorkerEnds) {
  config_.local_worker = true;
  config_.drain_delay = absl::Seconds(2);
  Start();
  const auto workers = [this] {
    grpc::ClientContext context;
    v1::ListWorkersResponse list;
    HONE_EXPECT_GRPC_OK(admin_->ListWorkers(&context, {}, &list));
    return list.workers_size();
  };
  while (workers() == 0) std::this_thread::yield();
  std::thread drain([&] { server_->Drain(); });
  while (Healthy("")) std::this_thread::yield();
  EXPECT_EQ(workers(), 1);
  drain.join();
}

TEST_F(ServerTest, UnfinishedTuningsGoOnAfterARestart) {
  const TemporaryDirectory state;
  StartOnDisk(state.path());
  const std::string endless = TuneWithoutEnd(1);
  v1::TuneRequest request;
  request.mutable_module()->set_content(std::string(kModule));
  const std::string queued = Tune(request).name();
  ASSERT_NE(queued, "");
  server_.reset();

  StartOnDisk(state.path());
  {
    grpc::ClientContext context;
    v1::CancelTuningRequest cancel;
    cancel.set_name(endless);
    v1::CancelTuningResponse response;
    HONE_EXPECT_GRPC_OK(tunings_->CancelTuning(&context, cancel, &response));
  }
  EXPECT_TRUE(WaitFor(queued).has_response());
  server_.reset();

  StartOnDisk(state.path());
  EXPECT_TRUE(Tune(request).done());
}

class HonedTest : public ::testing::Test {
 protected:
  static std::string Honed(const std::string& flags) {
    return absl::StrCat(HONED_BINARY " --listen 127.0.0.1:0 --http 127.0.0.1:0",
                        " --log-level off ", flags);
  }
};

TEST_F(HonedTest, BadUsageIsOneLineAndExitStatus2) {
  const TemporaryDirectory state;
  std::filesystem::create_directories(state.path());
  const std::string config = state.path() + "/hone.toml";
  std::ofstream(config) << "[server]\nport = 1\n";
  const auto [status, output] = RunCommand(Honed("--config " + config));
  EXPECT_EQ(status, 2);
  EXPECT_EQ(output,
            absl::StrCat("honed: ", config,
                         ":2:1: unknown key \"port\" in [server], expected one "
                         "of: http, http_hosts, listen, reflection, "
                         "state\n"));
  const auto [nonsense_status, nonsense] = RunCommand(Honed("--nonsense"));
  EXPECT_EQ(nonsense_status, 2);
  EXPECT_EQ(std::count(nonsense.begin(), nonsense.end(), '\n'), 1) << nonsense;
  EXPECT_THAT(nonsense, AllOf(StartsWith("honed: "), HasSubstr("--nonsense"),
                              EndsWith("(see honed --help)\n")));
  EXPECT_EQ(RunCommand(Honed("--listen nowhere --state " + state.path())).first,
            2);
}

TEST_F(HonedTest, AStoreInUseIsOneLineAndExitStatus3) {
  const TemporaryDirectory state;
  daemon::Config config;
  config.state = state.path();
  HONE_ASSERT_OK_AND_ASSIGN(const auto store, daemon::OpenStore(config));
  const auto [status, output] = RunCommand(Honed("--state " + state.path()));
  EXPECT_EQ(status, 3);
  EXPECT_EQ(std::count(output.begin(), output.end(), '\n'), 1) << output;
  EXPECT_THAT(output, HasSubstr(state.path()));
}

TEST_F(HonedTest, SigtermEndsItWithStatus0) {
  const TemporaryDirectory state;
  // The shell becomes honed, so that its pid is honed's.
  FILE* pipe = popen(absl::StrCat("echo $$; exec ", HONED_BINARY,
                                  " --listen 127.0.0.1:0 --http 127.0.0.1:0 "
                                  "--log-json --state ",
                                  state.path(), " 2>&1")
                         .c_str(),
                     "r");
  char line[4096];
  ASSERT_NE(fgets(line, sizeof(line), pipe), nullptr);
  const pid_t pid = static_cast<pid_t>(std::strtol(line, nullptr, 10));
  // Both say when they serve, in either order: honed, and its worker, which
  // writes to the same log.
  std::string log;
  while (!absl::StrContains(log, R"("message":"honed )") ||
         !absl::StrContains(log, R"("message":"worker )")) {
    ASSERT_NE(fgets(line, sizeof(line), pipe), nullptr) << log;
    log += line;
    EXPECT_THAT(line,
                MatchesRegex(R"re(\{"time":"[0-9T:.+-]+","level":"[a-z]+",)re"
                             R"re("message":".*"\})re"
                             "\n"));
  }
  ASSERT_EQ(kill(pid, SIGTERM), 0);
  while (fgets(line, sizeof(line), pipe) != nullptr) {
  }
  EXPECT_THAT(line, HasSubstr("drained"));
  EXPECT_EQ(pclose(pipe), 0);
}

}  // namespace
}  // namespace hone::testing
