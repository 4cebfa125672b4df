#include "base/thread_pool.h"

#include <atomic>
#include <cstdint>
#include <latch>
#include <thread>
#include <vector>

#include "absl/synchronization/notification.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hone {
namespace {

TEST(ThreadPool, RunsWhatIsQueuedBeforeItJoins) {
  std::atomic<int> done = 0;
  {
    ThreadPool pool(3);
    EXPECT_EQ(pool.size(), 3);
    for (int i = 0; i < 100; ++i) pool.Schedule([&] { ++done; });
  }
  EXPECT_EQ(done, 100);
}

TEST(ThreadPool, OneThreadRunsInOrder) {
  std::vector<int> order;
  {
    ThreadPool pool(1);
    for (int i = 0; i < 10; ++i)
      pool.Schedule([&order, i] { order.push_back(i); });
  }
  EXPECT_THAT(order, ::testing::ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
}

TEST(ThreadPool, RunsTasksAtTheSameTime) {
  ThreadPool pool(2);
  // Each task waits for the other: one thread alone would never end.
  std::latch started(2);
  std::latch ended(2);
  for (int i = 0; i < 2; ++i) {
    pool.Schedule([&] {
      started.arrive_and_wait();
      ended.count_down();
    });
  }
  ended.wait();
}

TEST(ThreadPool, CountsWaitingTasks) {
  absl::Notification started, release;
  ThreadPool pool(1);
  pool.Schedule([&] {
    started.Notify();
    release.WaitForNotification();
  });
  started.WaitForNotification();
  EXPECT_EQ(pool.queued(), 0);
  pool.Schedule([] {});
  pool.Schedule([] {});
  EXPECT_EQ(pool.queued(), 2);
  release.Notify();
}

TEST(ThreadPool, ParallelForCoversTheRangeOnce) {
  ThreadPool pool(2);
  for (int64_t n : {0, 1, 5, 1000}) {
    for (int64_t grain : {1, 7, 5000}) {
      std::vector<std::atomic<int>> visits(static_cast<size_t>(n));
      pool.ParallelFor(n, grain, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) ++visits[static_cast<size_t>(i)];
      });
      for (const auto& count : visits) EXPECT_EQ(count, 1);
    }
  }
}

TEST(ThreadPool, ParallelForKeepsPiecesAtTheGrain) {
  ThreadPool pool(4);
  std::atomic<int> pieces = 0;
  pool.ParallelFor(100, 50, [&](int64_t begin, int64_t end) {
    EXPECT_GE(end - begin, 50);
    ++pieces;
  });
  EXPECT_EQ(pieces, 2);
  // Too little for two pieces: on the caller's own thread.
  const std::thread::id caller = std::this_thread::get_id();
  pool.ParallelFor(100, 100, [&](int64_t begin, int64_t end) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    EXPECT_EQ(begin, 0);
    EXPECT_EQ(end, 100);
  });
}

}  // namespace
}  // namespace hone
