#include "backends/cpu/kernel_runtime.h"

#include <atomic>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

namespace hone::backends {
namespace {

struct Visits {
  explicit Visits(int64_t count) : times(static_cast<size_t>(count)) {}
  std::vector<std::atomic<int>> times;
  std::atomic<int> calls = 0;

  bool AllOnce() const {
    for (const auto& n : times) {
      if (n != 1) return false;
    }
    return true;
  }
};

void Visit(void* context, int64_t begin, int64_t end) {
  auto* visits = static_cast<Visits*>(context);
  ++visits->calls;
  for (int64_t i = begin; i < end; ++i) {
    ++visits->times[static_cast<size_t>(i)];
  }
}

TEST(KernelRuntimeTest, EveryIndexOnce) {
  for (int threads : {1, 2, 3, 8, 2, 13}) {
    hone_kernel_set_threads(threads);
    EXPECT_EQ(hone_kernel_threads(), threads);
    for (int64_t count : {0, 1, 2, 3, 7, 8, 9, 100, 1001}) {
      Visits visits(count);
      hone_kernel_parallel_for(&Visit, &visits, count);
      EXPECT_TRUE(visits.AllOnce()) << threads << " threads, " << count;
      EXPECT_LE(visits.calls, threads);
    }
  }
}

int CoresOfThisThread() {
  cpu_set_t cores;
  return sched_getaffinity(0, sizeof(cores), &cores) == 0 ? CPU_COUNT(&cores)
                                                          : 0;
}

// Stores the cores of the thread that runs each index.
void CountCores(void* context, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    static_cast<int*>(context)[i] = CoresOfThisThread();
  }
}

// In a child, whose pool has had no more than one worker.
TEST(KernelRuntimeTest, WorkersLeaveTheCallersCoreToIt) {
  const int cores = CoresOfThisThread();
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    hone_kernel_set_threads(2);
    int counts[2] = {0, 0};
    hone_kernel_parallel_for(&CountCores, counts, 2);
    const bool as_expected =
        counts[0] == cores && counts[1] == (cores > 1 ? cores - 1 : cores);
    _exit(as_expected && CoresOfThisThread() == cores ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(KernelRuntimeTest, ManyCallsInARow) {
  hone_kernel_set_threads(3);
  Visits visits(5);
  for (int i = 0; i < 2000; ++i) {
    hone_kernel_parallel_for(&Visit, &visits, 5);
  }
  for (const auto& n : visits.times) EXPECT_EQ(n, 2000);
}

void Nest(void* context, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    hone_kernel_parallel_for(&Visit, static_cast<Visits**>(context)[i], 17);
  }
}

TEST(KernelRuntimeTest, NestedCallsRunOnTheirThread) {
  hone_kernel_set_threads(4);
  Visits a(17);
  Visits b(17);
  Visits c(17);
  Visits* all[] = {&a, &b, &c};
  hone_kernel_parallel_for(&Nest, all, 3);
  for (const Visits* visits : all) {
    EXPECT_TRUE(visits->AllOnce());
    EXPECT_EQ(visits->calls, 1);
  }
}

TEST(KernelRuntimeTest, CallersAtTheSameTime) {
  hone_kernel_set_threads(3);
  std::vector<std::thread> callers;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t) {
    callers.emplace_back([&wrong] {
      for (int i = 0; i < 500; ++i) {
        Visits visits(40);
        hone_kernel_parallel_for(&Visit, &visits, 40);
        wrong += !visits.AllOnce();
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

TEST(KernelRuntimeTest, WorksInAForkedChild) {
  hone_kernel_set_threads(3);
  Visits before(10);
  hone_kernel_parallel_for(&Visit, &before, 10);
  const pid_t child = fork();
  if (child == 0) {
    Visits visits(10);
    hone_kernel_parallel_for(&Visit, &visits, 10);
    _exit(visits.AllOnce() ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(KernelRuntimeTest, MemoryIsAlignedAndUsedAgain) {
  void* a = hone_kernel_allocate(1000);
  void* b = hone_kernel_allocate(1000);
  EXPECT_NE(a, b);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(a) % 64, 0u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(b) % 64, 0u);
  std::memset(a, 1, 1000);
  std::memset(b, 2, 1000);
  hone_kernel_free(a);
  EXPECT_EQ(hone_kernel_allocate(1000), a);
  hone_kernel_free(a);
  hone_kernel_free(b);
  void* none = hone_kernel_allocate(0);
  EXPECT_NE(none, nullptr);
  hone_kernel_free(none);
  hone_kernel_free(nullptr);
}

TEST(KernelRuntimeTest, SmallBlocksLeaveLargeOnesAlone) {
  void* large = hone_kernel_allocate(1 << 20);
  hone_kernel_free(large);
  void* small = hone_kernel_allocate(64);
  EXPECT_NE(small, large);
  EXPECT_EQ(hone_kernel_allocate(1 << 20), large);
  hone_kernel_free(small);
  hone_kernel_free(large);
}

}  // namespace
}  // namespace hone::backends
