#include "work/work_pool.h"

#include <thread>
#include <vector>

#include "absl/synchronization/notification.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/work/work_fixture.h"

namespace hone::work {
namespace {

using ::hone::testing::StatusIs;
using ::testing::HasSubstr;

constexpr absl::Duration kLong = absl::Minutes(5);

TEST(WorkPool, JobsOfManyThreadsAreDone) {
  WorkPool pool(TestOptions(), 2);
  HONE_ASSERT_OK(pool.Start());
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 10; ++k) {
        const auto result =
            pool.Run(DescribeJob(tuning::kSimplifiable), {}, kLong);
        HONE_ASSERT_OK(result.status());
        EXPECT_EQ(result->described().name(), "simplifiable");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(WorkPool, WhoWaitsForAProcessCanStopAndHasALimit) {
  WorkPool pool(TestOptions(), 1);
  absl::Notification begun;
  absl::Notification end;
  std::thread user([&] {
    ProcessSearcher searcher(pool, nullptr);
    EXPECT_THAT(searcher.Search(SearchOf(tuning::kSimplifiable, 1'000'000'000),
                                {.stop = [&] { return end.HasBeenNotified(); },
                                 .on_trial =
                                     [&](const space::Trial& trial) {
                                       if (trial.id == 0) begun.Notify();
                                       return absl::OkStatus();
                                     }}),
                StatusIs(absl::StatusCode::kCancelled, "stopped"));
  });
  begun.WaitForNotification();
  EXPECT_THAT(pool.Run(DescribeJob(tuning::kSimplifiable),
                       {.search = {.stop = [] { return true; }}}, kLong),
              StatusIs(absl::StatusCode::kCancelled, "stopped"));
  EXPECT_THAT(
      pool.Run(DescribeJob(tuning::kSimplifiable), {}, absl::Milliseconds(1)),
      StatusIs(absl::StatusCode::kDeadlineExceeded, HasSubstr("busy")));
  end.Notify();
  user.join();
  HONE_EXPECT_OK(pool.Run(DescribeJob(tuning::kSimplifiable), {}, kLong));
}

}  // namespace
}  // namespace hone::work
