// Environments whose process is stuck, and what their users are told.

#include "daemon/environment_registry.h"

#include <atomic>
#include <csignal>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "daemon/errors.h"
#include "daemon/names.h"
#include "tests/daemon/child_processes.h"
#include "tests/daemon/daemon_fixture.h"
#include "tests/support/fake_clock.h"
#include "tests/support/status_matchers.h"
#include "tuning/registry.h"
#include "tuning/search.h"
#include "tuning/task.h"

namespace hone::daemon {
namespace {

using ::hone::testing::ChildProcesses;
using ::hone::testing::FakeClock;
using ::hone::testing::StatusIs;
using ::testing::_;
using ::testing::HasSubstr;

bool Never() { return false; }
bool Always() { return true; }

class EnvironmentRegistryTest : public ::testing::Test {
 protected:
  void Start(absl::Duration stop_grace) {
    registry_ = std::make_unique<EnvironmentRegistry>(
        clock_, metrics_, work::WorkProcessOptions{.program = HONE_BINARY},
        EnvironmentRegistry::Limits{.max_environments = 100,
                                    .memory_bytes = int64_t{1} << 30,
                                    .idle = absl::Hours(1),
                                    .processes = 1,
                                    .stop_grace = stop_grace});
  }
  static internal::EnvironmentCall::Open Opening() {
    internal::EnvironmentCall::Open open;
    open.set_problem("problem");
    open.set_module(std::string(testing::kModule));
    open.set_task("pass_order");
    open.set_task_options(
        tuning::FindTask("pass_order").value()->OptionsKey({}).value());
    return open;
  }
  // Returns the name.
  absl::StatusOr<std::string> Open() {
    absl::StatusOr<internal::EnvironmentAnswer> answer =
        registry_->Open(Opening(), Never);
    if (!answer.ok()) return answer.status();
    return answer->opened().environment().name();
  }
  absl::Status Step(const std::string& name,
                    const EnvironmentRegistry::StopPredicate& stop) {
    v1::StepRequest request;
    request.set_name(name);
    request.add_actions(0);
    return registry_->Step({&request}, stop)[0].status();
  }
  absl::Status Fork(const std::string& name) {
    return registry_->Fork(EnvironmentId(name).value(), Never).status();
  }
  static void Signal(int signal) {
    const std::vector<pid_t> children = ChildProcesses();
    ASSERT_EQ(children.size(), 1);
    kill(children[0], signal);
  }

  FakeClock clock_;
  Metrics metrics_;
  std::unique_ptr<EnvironmentRegistry> registry_;
};

TEST_F(EnvironmentRegistryTest, AProcessThatDoesNotStopIsKilled) {
  Start(absl::ZeroDuration());
  HONE_ASSERT_OK_AND_ASSIGN(const std::string one, Open());
  HONE_ASSERT_OK_AND_ASSIGN(const std::string other, Open());
  Signal(SIGSTOP);
  EXPECT_THAT(Step(one, Always), StatusIs(absl::StatusCode::kCancelled, _));
  EXPECT_EQ(metrics_.environments_open.Value(), 0);
  for (const std::string& name : {one, other}) {
    // Each time that it is asked for.
    for (int i = 0; i < 2; ++i) {
      EXPECT_THAT(Step(name, Never), StatusIs(absl::StatusCode::kAborted,
                                              HasSubstr("is lost: stopped")));
    }
    EXPECT_THAT(Fork(name), StatusIs(absl::StatusCode::kAborted, _));
    HONE_EXPECT_OK(registry_->Close(EnvironmentId(name).value()));
  }
  HONE_ASSERT_OK_AND_ASSIGN(const std::string next, Open());
  HONE_EXPECT_OK(Step(next, Never));
}

// A stuck process must not keep the daemon from its end.
TEST_F(EnvironmentRegistryTest, AProcessThatDoesNotStopIsKilledByADrain) {
  Start(absl::InfiniteDuration());
  HONE_ASSERT_OK_AND_ASSIGN(const std::string one, Open());
  Signal(SIGSTOP);
  std::atomic<bool> has_asked = false;
  std::thread step([&] {
    EXPECT_THAT(Step(one,
                     [&] {
                       has_asked = true;
                       return true;
                     }),
                StatusIs(absl::StatusCode::kCancelled, _));
  });
  while (!has_asked) std::this_thread::yield();
  registry_->Drain();
  step.join();
  EXPECT_EQ(ChildProcesses().size(), 0);
}

TEST_F(EnvironmentRegistryTest, ACallThatWaitsForAStuckProcessCanStop) {
  Start(absl::InfiniteDuration());
  HONE_ASSERT_OK_AND_ASSIGN(const std::string one, Open());
  HONE_ASSERT_OK_AND_ASSIGN(const std::string other, Open());
  Signal(SIGSTOP);
  std::atomic<bool> has_asked = false;
  std::thread first([&] {
    HONE_EXPECT_OK(Step(one, [&] {
      has_asked = true;
      return false;
    }));
  });
  // Only who has the process or waits for it asks.
  while (!has_asked) std::this_thread::yield();
  EXPECT_THAT(Step(other, Always), StatusIs(absl::StatusCode::kCancelled, _));
  Signal(SIGCONT);
  first.join();
  HONE_EXPECT_OK(Step(other, Never));
}

TEST_F(EnvironmentRegistryTest, CallsThatWaitForAProcessThatEndsAreLost) {
  Start(absl::InfiniteDuration());
  HONE_ASSERT_OK_AND_ASSIGN(const std::string one, Open());
  HONE_ASSERT_OK_AND_ASSIGN(const std::string other, Open());
  Signal(SIGSTOP);
  std::vector<std::thread> threads;
  std::atomic<int> asking = 0;
  for (const std::string& name : {one, other}) {
    threads.emplace_back([&, name] {
      std::atomic<bool> has_asked = false;
      EXPECT_THAT(Step(name,
                       [&] {
                         if (!has_asked.exchange(true)) ++asking;
                         return false;
                       }),
                  StatusIs(absl::StatusCode::kAborted, HasSubstr("signal 9")));
    });
  }
  while (asking < 2) std::this_thread::yield();
  Signal(SIGKILL);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(metrics_.process_failures.Value(), 1);
  HONE_EXPECT_OK(Open());
}

TEST_F(EnvironmentRegistryTest, AProcessThatTakesNoJobIsKilled) {
  Start(absl::ZeroDuration());
  HONE_ASSERT_OK(Open());
  Signal(SIGSTOP);
  internal::EnvironmentCall::Open large = Opening();
  // More than a socket holds.
  large.set_module(std::string(8 << 20, ' ') + std::string(testing::kModule));
  const absl::Status status = registry_->Open(large, Always).status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kCancelled, _));
  EXPECT_TRUE(tuning::IsProcessFailure(status));
  HONE_EXPECT_OK(Open());
}

// What a process opened for a caller that is gone does not stay.
TEST_F(EnvironmentRegistryTest, AnOpeningThatIsStoppedIsClosed) {
  Start(absl::InfiniteDuration());
  HONE_ASSERT_OK_AND_ASSIGN(const std::string kept, Open());
  Signal(SIGSTOP);
  std::atomic<int> asked = 0;
  std::thread opening([&] {
    EXPECT_THAT(registry_
                    ->Open(Opening(),
                           [&] {
                             ++asked;
                             return true;
                           })
                    .status(),
                StatusIs(absl::StatusCode::kCancelled, _));
  });
  while (asked == 0) std::this_thread::yield();
  Signal(SIGCONT);
  opening.join();
  // One call to close it, and what is open goes on.
  HONE_EXPECT_OK(Step(kept, Never));
  EXPECT_EQ(metrics_.environments_open.Value(), 1);
}

// The module is to blame, which Quarantine counts.
TEST_F(EnvironmentRegistryTest, AnOpeningWhoseProcessEndsIsAFailureOfIt) {
  Start(absl::InfiniteDuration());
  HONE_ASSERT_OK(Open());
  Signal(SIGSTOP);
  std::atomic<bool> has_asked = false;
  std::thread opening([&] {
    const absl::Status status = registry_
                                    ->Open(Opening(),
                                           [&] {
                                             has_asked = true;
                                             return false;
                                           })
                                    .status();
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kAborted, _));
    EXPECT_TRUE(tuning::IsProcessFailure(status));
  });
  while (!has_asked) std::this_thread::yield();
  Signal(SIGKILL);
  opening.join();
  EXPECT_EQ(metrics_.process_failures.Value(), 0);
}

}  // namespace
}  // namespace hone::daemon
