// Tunings whose device is not there.

#include <csignal>
#include <string>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child_process.h"
#include "tests/daemon/daemon_fixture.h"
#include "tests/support/status_matchers.h"

namespace hone::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr absl::string_view kRows = R"(HloModule rows

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT sum = f32[] add(a, b)
}

ENTRY main {
  x = f32[5,37]{1,0} parameter(0)
  zero = f32[] constant(0)
  ROOT sums = f32[5]{0} reduce(x, zero), dimensions={1}, to_apply=add
}
)";

// A worker process, which ends with this.
class Worker {
 public:
  explicit Worker(const std::string& address) {
    int input[2];
    EXPECT_EQ(pipe2(input, O_CLOEXEC), 0);
    const absl::StatusOr<pid_t> pid = StartChildProcess(
        {.program = HONE_BINARY,
         .arguments = {"worker", "--connect", address, "--until-eof"},
         .input = input[0]});
    HONE_EXPECT_OK(pid.status());
    pid_ = pid.value_or(-1);
    close(input[0]);
    input_ = input[1];
  }
  ~Worker() {
    close(input_);
    waitpid(pid_, nullptr, 0);
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

 private:
  pid_t pid_ = -1;
  int input_ = -1;
};

class WaitingTest : public DaemonTest {
 protected:
  google::longrunning::Operation TuneKernel(
      uint64_t seed, int64_t trials = 3, const std::string& request_id = "") {
    v1::TuneRequest request;
    request.mutable_module()->set_content(std::string(kRows));
    request.mutable_spec()->set_task("kernel");
    request.mutable_spec()->set_seed(seed);
    request.mutable_spec()->mutable_budget()->set_trials(trials);
    request.set_request_id(request_id);
    return Tune(request);
  }

  // Watches until the tuning waits; returns for what.
  std::string AwaitWaiting(const std::string& name) {
    grpc::ClientContext context;
    v1::WatchTuningRequest request;
    request.set_name(name);
    const auto reader = tunings_->WatchTuning(&context, request);
    v1::WatchTuningResponse update;
    while (reader->Read(&update)) {
      if (update.progress().phase() == v1::TuningProgress::WAITING) break;
    }
    context.TryCancel();
    reader->Finish();
    return update.progress().waiting_for();
  }
};

TEST_F(WaitingTest, ATuningWaitsForItsDeviceAndGoesOnWhenOneComes) {
  Start();
  const google::longrunning::Operation operation = TuneKernel(1);
  const std::string name = TuningOf(operation);
  EXPECT_THAT(AwaitWaiting(name), HasSubstr("no worker offers a device"));
  // It takes no turn.
  TuneToEnd(kModule);

  const Worker worker(server_->grpc_address());
  const google::longrunning::Operation ended = WaitFor(operation.name());
  v1::TuneResponse response;
  EXPECT_TRUE(ended.response().UnpackTo(&response)) << ended.DebugString();
  EXPECT_THAT(response.record().key().target(), StartsWith("cpu:"));
}

// Its key has another target then than the one it was listed with.
TEST_F(WaitingTest, ARequestJoinsATuningThatHasWaited) {
  Start();
  const google::longrunning::Operation operation = TuneKernel(1, 1000);
  const std::string name = TuningOf(operation);
  AwaitWaiting(name);
  const Worker worker(server_->grpc_address());
  v1::GetTuningRequest get;
  get.set_name(name);
  v1::Tuning tuning;
  while (tuning.trials() == 0) {
    grpc::ClientContext context;
    HONE_EXPECT_GRPC_OK(tunings_->GetTuning(&context, get, &tuning));
  }
  EXPECT_EQ(TuneKernel(1, 1000, "second").name(), operation.name());
  EXPECT_EQ(Metric("hone_inflight_deduplications_total"), 1);
  const auto leave = [&](const std::string& request_id) {
    v1::CancelTuningRequest cancel;
    cancel.set_name(name);
    cancel.set_request_id(request_id);
    v1::CancelTuningResponse response;
    grpc::ClientContext context;
    HONE_EXPECT_GRPC_OK(tunings_->CancelTuning(&context, cancel, &response));
    return response.shares_left();
  };
  EXPECT_EQ(leave("second"), 1);
  EXPECT_EQ(leave(""), 0);
  EXPECT_EQ(WaitFor(operation.name()).error().code(),
            grpc::StatusCode::CANCELLED);
}

// Whoever else could run in its turn does: it does not wait in it.
TEST_F(WaitingTest, ATuningOfADeviceThatIsGoneTakesNoTurn) {
  config_.max_running_tunings = 1;
  Start();
  const Worker worker(server_->grpc_address());
  v1::TuneRequest request;
  request.mutable_module()->set_content(std::string(kRows));
  request.mutable_spec()->set_task("kernel");
  request.mutable_spec()->set_target("cpu:0123456789abcdef");
  const std::string name = TuningOf(Tune(request));
  EXPECT_THAT(AwaitWaiting(name), HasSubstr("cpu:0123456789abcdef"));
  EXPECT_EQ(Metric("hone_candidates_total{outcome=\"ok\"}"), 0);
  // Its search has not begun: no process was asked.
  v1::GetTuningRequest get;
  get.set_name(name);
  v1::Tuning tuning;
  grpc::ClientContext context;
  HONE_EXPECT_GRPC_OK(tunings_->GetTuning(&context, get, &tuning));
  EXPECT_EQ(tuning.state(), v1::Tuning::PENDING);
  TuneToEnd(kModule);
}

TEST_F(WaitingTest, AWaitingTuningIsListedAndCanBeCancelled) {
  Start();
  const google::longrunning::Operation operation = TuneKernel(1);
  const std::string name = TuningOf(operation);
  AwaitWaiting(name);
  // The same request joins it.
  EXPECT_EQ(TuneKernel(1).name(), operation.name());
  while (Metric("hone_tunings_active{state=\"pending\"}") != 1) {
    std::this_thread::yield();
  }
  EXPECT_EQ(Metric("hone_queue_depth"), 0);
  v1::CancelTuningRequest cancel;
  cancel.set_name(name);
  v1::CancelTuningResponse response;
  grpc::ClientContext context;
  HONE_EXPECT_GRPC_OK(tunings_->CancelTuning(&context, cancel, &response));
  EXPECT_EQ(response.tuning().state(), v1::Tuning::CANCELLED);
  EXPECT_EQ(WaitFor(operation.name()).error().code(),
            grpc::StatusCode::CANCELLED);
}

TEST_F(WaitingTest, AWaitingTuningStillWaitsAfterARestart) {
  const TemporaryDirectory state;
  StartOnDisk(state.path());
  const google::longrunning::Operation operation = TuneKernel(1);
  const std::string name = TuningOf(operation);
  AwaitWaiting(name);
  server_.reset();
  StartOnDisk(state.path());
  EXPECT_THAT(AwaitWaiting(name), HasSubstr("no worker offers a device"));
}

}  // namespace
}  // namespace hone::testing
