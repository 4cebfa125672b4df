#include "daemon/fleet/fleet_kernels.h"

#include <future>
#include <string>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/daemon/fleet/requests.h"
#include "tests/support/fake_clock.h"
#include "tests/support/status_matchers.h"

namespace hone::daemon {
namespace {

using ::hone::testing::FakeClock;
using ::hone::testing::From;
using ::hone::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class FleetKernelsTest : public ::testing::Test {
 protected:
  using Result = absl::StatusOr<backends::KernelReport>;

  std::future<Result> Measure(bool confirm, bool time_baseline = false) {
    return std::async(std::launch::async, [=, this] {
      backends::KernelRequest request;
      request.time_baseline = time_baseline;
      request.module = "m";
      request.candidate_scripts = {"s"};
      request.confirm = confirm;
      return kernels_.Measure(request, "f", /*stop=*/nullptr);
    });
  }
  static v1::SynchronizeRequest OnMachine(const std::string& worker) {
    v1::SynchronizeRequest request = From(worker);
    request.set_machine("of-" + worker);
    return request;
  }
  void Connect(const std::string& worker) {
    HONE_ASSERT_OK(fleet_.Synchronize(OnMachine(worker)).status());
  }
  // The worker waits for work and reports that ratio, give or take a percent.
  void Report(const std::string& worker, double ratio,
              v1::KernelTiming::Outcome outcome = v1::KernelTiming::OK) {
    v1::SynchronizeResponse response;
    do {
      std::this_thread::yield();
      response = fleet_.Synchronize(OnMachine(worker)).value();
    } while (response.execute().empty());
    EXPECT_FALSE(response.execute(0).work().kernel().confirm());
    v1::SynchronizeRequest done = OnMachine(worker);
    v1::Completion& completion = *done.add_completions();
    *completion.mutable_lease() = response.execute(0).lease();
    v1::KernelTiming& timing = *completion.mutable_kernel()->add_candidates();
    timing.set_outcome(outcome);
    timing.set_ns(1000 * ratio);
    timing.add_samples_ns(1000 * ratio);
    timing.set_ratio(ratio);
    timing.set_ratio_low(0.99 * ratio);
    timing.set_ratio_high(1.01 * ratio);
    if (response.execute(0).work().kernel().time_baseline()) {
      *completion.mutable_kernel()->mutable_baseline() = timing;
    }
    EXPECT_TRUE(fleet_.Synchronize(done)->receipts(0).accepted());
  }

  FakeClock clock_;
  Metrics metrics_;
  Fleet fleet_{clock_, metrics_, {}};
  FleetKernels kernels_{fleet_, /*waits=*/true};
};

TEST_F(FleetKernelsTest, TheReportSaysWhoMeasured) {
  Connect("a");
  auto result = Measure(/*confirm=*/false);
  Report("a", 0.5);
  HONE_ASSERT_OK_AND_ASSIGN(const backends::KernelReport report, result.get());
  EXPECT_THAT(report.workers, ElementsAre("a"));
  EXPECT_EQ(report.candidates[0].ratio, 0.5);
}

TEST_F(FleetKernelsTest, ASecondMachineConfirms) {
  Connect("a");
  Connect("b");
  auto result = Measure(/*confirm=*/true);
  Report("a", 0.5);
  Report("b", 0.52);
  HONE_ASSERT_OK_AND_ASSIGN(const backends::KernelReport report, result.get());
  EXPECT_THAT(report.workers, ElementsAre("a", "b"));
  // The worse of both.
  EXPECT_EQ(report.candidates[0].ratio, 0.52);
  EXPECT_EQ(report.candidates[0].outcome, space::Outcome::kOk);
  EXPECT_EQ(metrics_.Confirmations("agreed").Value(), 1);
}

TEST_F(FleetKernelsTest, AloneItIsNotConfirmed) {
  Connect("a");
  auto result = Measure(/*confirm=*/true);
  Report("a", 0.5);
  HONE_ASSERT_OK_AND_ASSIGN(const backends::KernelReport report, result.get());
  EXPECT_THAT(report.workers, ElementsAre("a"));
  EXPECT_EQ(metrics_.Confirmations("alone").Value(), 1);
}

TEST_F(FleetKernelsTest, OfTwoThatDisagreeNobodyIsBelieved) {
  for (const auto outcome :
       {v1::KernelTiming::OK, v1::KernelTiming::WRONG_RESULT}) {
    Connect("liar");
    Connect("b");
    auto result = Measure(/*confirm=*/true);
    Report("liar", 0.1);
    Report("b", 1, outcome);
    HONE_ASSERT_OK_AND_ASSIGN(const backends::KernelReport report,
                              result.get());
    EXPECT_EQ(report.candidates[0].outcome, space::Outcome::kWrongResult);
    EXPECT_THAT(report.candidates[0].message,
                AllOf(HasSubstr("workers disagree"), HasSubstr("liar: 0.100"),
                      HasSubstr("b: ")));
  }
  EXPECT_EQ(metrics_.Confirmations("disagreed").Value(), 2);
  EXPECT_EQ(metrics_.WorkerFaults("disagreement").Value(), 4);
  // A third machine shows who it was.
  Connect("c");
  auto result = Measure(/*confirm=*/true);
  v1::SynchronizeRequest leaving = OnMachine("b");
  leaving.set_state(v1::SynchronizeRequest::LEAVING);
  HONE_ASSERT_OK(fleet_.Synchronize(leaving).status());
  Report("liar", 0.1);
  Report("c", 1);
  HONE_ASSERT_OK(result.get().status());
  for (const v1::Worker& worker : fleet_.Workers()) {
    EXPECT_EQ(worker.has_quarantine(), worker.id() == "liar") << worker.id();
  }
}

// A false time of the default would be the unit of all costs.
TEST_F(FleetKernelsTest, ABaselineIsBelievedIfTwoMachinesAgree) {
  for (const char* worker : {"liar", "b", "c"}) Connect(worker);
  auto result = Measure(/*confirm=*/true, /*time_baseline=*/true);
  Report("liar", 0.01);
  Report("b", 1);
  Report("c", 1);
  Report("liar", 0.01);
  // The liar has disagreed with two, and is out.
  Report("b", 1.04);
  Report("c", 1);
  HONE_ASSERT_OK_AND_ASSIGN(const backends::KernelReport report, result.get());
  EXPECT_THAT(report.workers, ElementsAre("b", "c"));
  EXPECT_EQ(report.baseline->ns, 1040);
  EXPECT_EQ(report.candidates[0].outcome, space::Outcome::kOk);
}

TEST_F(FleetKernelsTest, WithoutAgreementThereIsNoBaseline) {
  for (const char* worker : {"liar", "b"}) Connect(worker);
  auto result = Measure(/*confirm=*/true, /*time_baseline=*/true);
  for (int i = 0; i < 3; ++i) {
    Report("liar", 0.01);
    Report("b", 1);
  }
  EXPECT_THAT(result.get(),
              StatusIs(absl::StatusCode::kInternal,
                       HasSubstr("disagree about the baseline: liar: ok, 10 "
                                 "ns; b: ok, 1000 ns")));
}

}  // namespace
}  // namespace hone::daemon
