#include "daemon/fleet/kernel_canary.h"

#include <iostream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child_process.h"
#include "tests/support/status_matchers.h"

namespace hone::daemon {
namespace {

using ::testing::HasSubstr;

void SetTiming(v1::KernelTiming& timing, double ratio, double low,
               double high) {
  timing.set_outcome(v1::KernelTiming::OK);
  timing.set_ns(1000 * ratio);
  timing.clear_samples_ns();
  timing.add_samples_ns(1000 * ratio);
  timing.set_ratio(ratio);
  timing.set_ratio_low(low);
  timing.set_ratio_high(high);
}

// The report of an honest worker.
v1::Completion Honest() {
  v1::Completion completion;
  v1::KernelReport& report = *completion.mutable_kernel();
  SetTiming(*report.add_candidates(), 1.001, 0.99, 1.01);
  SetTiming(*report.add_candidates(), 12, 11, 13);
  report.add_candidates()->set_outcome(v1::KernelTiming::INVALID);
  return completion;
}

TEST(KernelCanary, AnHonestReportPasses) {
  EXPECT_EQ(KernelCanary().judge(Honest()).verdict, CanaryVerdict::kPassed);
}

TEST(KernelCanary, SmallErrorsAreChanceLargeOnesNoise) {
  const struct {
    double ratio, low, high;
    CanaryVerdict verdict;
  } cases[] = {
      {1.015, 1.01, 1.02, CanaryVerdict::kPassed},
      {1.05, 0.95, 1.15, CanaryVerdict::kPassed},
      {1.05, 1.02, 1.15, CanaryVerdict::kNoisy},
      {0.94, 0.92, 0.97, CanaryVerdict::kNoisy},
      {1.2, 0.9, 1.5, CanaryVerdict::kNoisy},
  };
  for (const auto& c : cases) {
    v1::Completion completion = Honest();
    SetTiming(*completion.mutable_kernel()->mutable_candidates(0), c.ratio,
              c.low, c.high);
    EXPECT_EQ(KernelCanary().judge(completion).verdict, c.verdict) << c.ratio;
  }
}

void ExpectVerdict(const v1::Completion& completion, CanaryVerdict verdict,
                   const std::string& detail) {
  const Fleet::CanaryResult result = KernelCanary().judge(completion);
  EXPECT_EQ(result.verdict, verdict);
  EXPECT_THAT(result.detail, HasSubstr(detail));
}

TEST(KernelCanary, InventedReportsAreLies) {
  const auto expect_lie = [](const v1::Completion& completion,
                             const std::string& detail) {
    ExpectVerdict(completion, CanaryVerdict::kWrong, detail);
  };
  v1::Completion completion = Honest();
  SetTiming(*completion.mutable_kernel()->mutable_candidates(2), 1, 1, 1);
  expect_lie(completion, "reported as ok, expected invalid");
  completion = Honest();
  SetTiming(*completion.mutable_kernel()->mutable_candidates(1), 0.5, 0.4, 0.6);
  expect_lie(completion, "a slow schedule takes 0.500");
  completion = Honest();
  completion.mutable_kernel()->mutable_candidates(0)->set_outcome(
      v1::KernelTiming::WRONG_RESULT);
  expect_lie(completion, "wrong_result, expected ok");
  completion = Honest();
  completion.mutable_kernel()->mutable_candidates(0)->set_ns(-1);
  expect_lie(completion, "not positive");
  completion = Honest();
  completion.mutable_kernel()->mutable_candidates()->RemoveLast();
  expect_lie(completion, "2 candidates, expected 3");
}

TEST(KernelCanary, NoReportIsNoLie) {
  v1::Completion completion = Honest();
  completion.mutable_kernel()->mutable_candidates(0)->set_outcome(
      v1::KernelTiming::CRASHED);
  ExpectVerdict(completion, CanaryVerdict::kFailed, "crashed, expected ok");
  completion.mutable_error()->set_message("disk full");
  ExpectVerdict(completion, CanaryVerdict::kFailed, "disk full");
}

// What a real worker's process makes of it. How noisy this machine is does not
// matter here.
TEST(KernelCanary, ARealMeasurementIsNoLie) {
  int to[2];
  int from[2];
  ASSERT_EQ(pipe2(to, O_CLOEXEC), 0);
  ASSERT_EQ(pipe2(from, O_CLOEXEC), 0);
  std::string hone = HONED_BINARY;
  hone.pop_back();  // hone is beside honed.
  HONE_ASSERT_OK_AND_ASSIGN(const pid_t pid,
                            StartChildProcess({.program = hone,
                                               .arguments = {"measure"},
                                               .input = to[0],
                                               .output = from[1]}));
  close(to[0]);
  close(from[1]);
  const std::string work = KernelCanary().make(7).SerializeAsString();
  const uint64_t length = work.size();
  ASSERT_EQ(write(to[1], &length, sizeof(length)), 8);
  ASSERT_EQ(write(to[1], work.data(), work.size()),
            static_cast<ssize_t>(work.size()));
  close(to[1]);
  std::string received;
  char buffer[4096];
  for (ssize_t n; (n = read(from[0], buffer, sizeof(buffer))) > 0;) {
    received.append(buffer, static_cast<size_t>(n));
  }
  close(from[0]);
  waitpid(pid, nullptr, 0);
  ASSERT_GT(received.size(), 8u);
  v1::Completion completion;
  ASSERT_TRUE(completion.ParseFromString(received.substr(8)));
  const Fleet::CanaryResult result = KernelCanary().judge(completion);
  EXPECT_NE(result.verdict, CanaryVerdict::kWrong) << result.detail;
  if (result.verdict == CanaryVerdict::kNoisy) {
    std::cout << "this machine is noisy: " << result.detail << "\n";
  }
}

}  // namespace
}  // namespace hone::daemon
