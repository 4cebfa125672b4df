#include "work/work_process.h"

#include <csignal>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <sys/resource.h>

#include "hlo/analysis/fingerprint.h"
#include "tests/work/work_fixture.h"
#include "work/messages.h"

namespace hone::work {
namespace {

using ::hone::testing::StatusIs;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr absl::Duration kLong = absl::Minutes(5);

internal::Job JobOf(const tuning::SearchJob& search) {
  internal::Job job;
  ToProto(search, *job.mutable_search());
  return job;
}

TEST(WorkProcess, DescribesAModule) {
  WorkProcess process(TestOptions());
  HONE_ASSERT_OK_AND_ASSIGN(
      const internal::Result result,
      process.Run(DescribeJob(tuning::kSimplifiable), {}, kLong));
  EXPECT_EQ(result.described().name(), "simplifiable");
  EXPECT_EQ(result.described().fingerprint(),
            hlo::Fingerprint(tuning::ParseOrDie(tuning::kSimplifiable)));
  EXPECT_GT(result.resident_bytes(), 0);
}

TEST(WorkProcess, AnErrorOfTheJobIsTheAnswerAndTheProcessGoesOn) {
  WorkProcess process(TestOptions());
  const absl::Status status =
      process.Run(DescribeJob("HloModule m\n\nENTRY e {\n"), {}, kLong)
          .status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument,
                               StartsWith("m.hlo:")));
  EXPECT_FALSE(tuning::IsProcessFailure(status));
  const pid_t pid = OnlyChild();
  HONE_EXPECT_OK(process.Run(DescribeJob(tuning::kSimplifiable), {}, kLong));
  EXPECT_EQ(OnlyChild(), pid);
}

TEST(WorkProcess, SearchesAsThisProcessDoes) {
  const tuning::SearchJob search = SearchOf(tuning::kSimplifiable, 50);
  std::vector<space::Trial> here;
  std::vector<space::Trial> there;
  tuning::LocalSearcher local(SystemClock(), nullptr, nullptr);
  HONE_ASSERT_OK_AND_ASSIGN(const tuning::Found expected,
                            local.Search(search, {.on_trial = [&](auto& trial) {
                                           here.push_back(trial);
                                           return absl::OkStatus();
                                         }}));
  WorkProcess process(TestOptions());
  int64_t reported = 0;
  HONE_ASSERT_OK_AND_ASSIGN(
      const internal::Result result,
      process.Run(JobOf(search),
                  {.search = {.progress =
                                  [&](const tuning::Progress& progress) {
                                    reported = progress.trials;
                                  },
                              .on_trial =
                                  [&](auto& trial) {
                                    there.push_back(trial);
                                    return absl::OkStatus();
                                  }}},
                  kLong));
  const tuning::Found found = FromProto(result.found());
  EXPECT_EQ(found.decision, expected.decision);
  EXPECT_EQ(found.best_cost, expected.best_cost);
  EXPECT_EQ(found.default_cost, expected.default_cost);
  EXPECT_EQ(found.tuned_module, expected.tuned_module);
  EXPECT_EQ(found.verification, expected.verification);
  EXPECT_EQ(reported, 50);
  ASSERT_EQ(there.size(), here.size());
  for (size_t i = 0; i < here.size(); ++i) {
    EXPECT_EQ(there[i].id, here[i].id);
    EXPECT_EQ(there[i].candidate, here[i].candidate);
    EXPECT_EQ(there[i].measurement.cost, here[i].measurement.cost);
  }
}

// Has an endless search done, and sends its process a signal at each trial.
absl::Status EndlessSearchWithSignal(WorkProcess& process, int signal) {
  return process
      .Run(JobOf(SearchOf(tuning::kSimplifiable, 1'000'000'000)),
           {.search = {.on_trial =
                           [&](auto&) {
                             kill(OnlyChild(), signal);
                             return absl::OkStatus();
                           }}},
           kLong)
      .status();
}

TEST(WorkProcess, ACrashIsAnErrorOfTheJobAndTheNextJobIsDone) {
  WorkProcess process(TestOptions());
  const absl::Status status = EndlessSearchWithSignal(process, SIGSEGV);
  EXPECT_THAT(status,
              StatusIs(absl::StatusCode::kInternal, HasSubstr("signal 11")));
  EXPECT_TRUE(tuning::IsProcessFailure(status));
  HONE_EXPECT_OK(process.Run(DescribeJob(tuning::kSimplifiable), {}, kLong));
}

// One that died while it had nothing to do has failed nobody.
TEST(WorkProcess, AProcessThatDiedIdleIsReplaced) {
  WorkProcess process(TestOptions());
  HONE_ASSERT_OK(process.Start());
  kill(OnlyChild(), SIGKILL);
  siginfo_t ended;
  waitid(P_PID, static_cast<id_t>(OnlyChild()), &ended, WEXITED | WNOWAIT);
  HONE_EXPECT_OK(process.Run(DescribeJob(tuning::kSimplifiable), {}, kLong));
}

TEST(WorkProcess, AHangIsAnErrorOfTheJob) {
  WorkProcessOptions options = TestOptions();
  options.silence = absl::Milliseconds(300);
  WorkProcess process(options);
  const absl::Status status = EndlessSearchWithSignal(process, SIGSTOP);
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kDeadlineExceeded,
                               HasSubstr("hangs")));
  EXPECT_TRUE(tuning::IsProcessFailure(status));
}

TEST(WorkProcess, WorkThatTakesTooLongIsGivenUp) {
  WorkProcess process(TestOptions());
  const absl::Status status =
      process
          .Run(JobOf(SearchOf(tuning::kSimplifiable, 1'000'000'000)), {},
               absl::Milliseconds(500))
          .status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kDeadlineExceeded,
                               HasSubstr("more than 500ms")));
  EXPECT_TRUE(tuning::IsProcessFailure(status));
}

TEST(WorkProcess, AStoppedJobEndsAndTheProcessStays) {
  WorkProcess process(TestOptions());
  bool stop = false;
  const absl::Status status =
      process
          .Run(JobOf(SearchOf(tuning::kSimplifiable, 1'000'000'000)),
               {.search = {.stop = [&] { return stop; },
                           .on_trial =
                               [&](auto&) {
                                 stop = true;
                                 return absl::OkStatus();
                               }}},
               kLong)
          .status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kCancelled, "stopped"));
  EXPECT_FALSE(tuning::IsProcessFailure(status));
  HONE_EXPECT_OK(process.Run(DescribeJob(tuning::kSimplifiable), {}, kLong));
}

TEST(WorkProcess, AStoppedJobThatDoesNotEndIsKilled) {
  WorkProcess process(TestOptions());
  bool stop = false;
  const absl::Status status =
      process
          .Run(JobOf(SearchOf(tuning::kSimplifiable, 1'000'000'000)),
               {.search = {.stop = [&] { return stop; },
                           .on_trial =
                               [&](auto&) {
                                 if (!stop) kill(OnlyChild(), SIGSTOP);
                                 stop = true;
                                 return absl::OkStatus();
                               }}},
               kLong)
          .status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kCancelled, "stopped"));
  EXPECT_FALSE(process.running());
}

TEST(WorkProcess, AnErrorOfTheListenerEndsTheJob) {
  WorkProcess process(TestOptions());
  EXPECT_THAT(process
                  .Run(JobOf(SearchOf(tuning::kSimplifiable, 1'000'000'000)),
                       {.search = {.on_trial =
                                       [&](auto&) {
                                         return absl::DataLossError("no room");
                                       }}},
                       kLong)
                  .status(),
              StatusIs(absl::StatusCode::kDataLoss, "no room"));
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(WorkProcess, MemoryIsLimited) {
  WorkProcessOptions options = TestOptions();
  options.memory_bytes = int64_t{256} << 20;
  WorkProcess process(options);
  // A comment of 150 MB takes twice as much to hold and to parse.
  const std::string large = "// " + std::string(150 << 20, 'x') + "\n" +
                            std::string(tuning::kSimplifiable);
  const absl::Status status =
      process.Run(DescribeJob(large), {}, kLong).status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kResourceExhausted,
                               HasSubstr("more than 256 MiB")));
  EXPECT_TRUE(tuning::IsProcessFailure(status));
  HONE_EXPECT_OK(process.Run(DescribeJob(tuning::kSimplifiable), {}, kLong));
}

TEST(WorkProcess, MemoryThatTheSystemDoesNotHaveIsTheErrorOfTheJob) {
  WorkProcess process(TestOptions());
  // The process has the limit of the thread that starts it.
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_DATA, &before), 0);
  const rlimit scarce = {rlim_t{256} << 20, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_DATA, &scarce), 0);
  const absl::Status started = process.Start();
  ASSERT_EQ(setrlimit(RLIMIT_DATA, &before), 0);
  HONE_ASSERT_OK(started);
  const std::string large = "// " + std::string(150 << 20, 'x') + "\n" +
                            std::string(tuning::kSimplifiable);
  const absl::Status status =
      process.Run(DescribeJob(large), {}, kLong).status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kResourceExhausted,
                               HasSubstr("more memory than there is")));
  EXPECT_TRUE(tuning::IsProcessFailure(status));
}
#endif

TEST(WorkProcess, WhoHoldsMuchIsReplaced) {
  WorkProcessOptions options = TestOptions();
  options.max_idle_bytes = 1;
  WorkProcess process(options);
  HONE_EXPECT_OK(process.Run(DescribeJob(tuning::kSimplifiable), {}, kLong));
  EXPECT_FALSE(process.running());
}

TEST(WorkProcess, AProgramThatIsNotThereIsNamed) {
  WorkProcess process({.program = "/nowhere/hone"});
  EXPECT_THAT(process.Run(DescribeJob(tuning::kSimplifiable), {}, kLong),
              StatusIs(absl::StatusCode::kInternal,
                       HasSubstr("cannot start /nowhere/hone")));
}

}  // namespace
}  // namespace hone::work
