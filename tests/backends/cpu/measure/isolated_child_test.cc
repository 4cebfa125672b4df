#include "backends/cpu/measure/isolated_child.h"

#include <csignal>
#include <cstdint>
#include <cstring>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/support/status_matchers.h"

namespace hone::backends {
namespace {

using ::hone::testing::StatusIs;
using ::testing::HasSubstr;

TEST(IsolatedChild, LeavesItsResultInSharedMemory) {
  HONE_ASSERT_OK_AND_ASSIGN(const auto memory, SharedMemory::Create(8));
  EXPECT_EQ(memory->data()[0], std::byte{0});
  int own = 0;
  HONE_ASSERT_OK_AND_ASSIGN(const ChildOutcome outcome,
                            RunInChild(
                                [&] {
                                  own = 1;
                                  std::memcpy(memory->data(), "1234567", 8);
                                },
                                {}));
  EXPECT_EQ(outcome.end, ChildEnd::kDone);
  EXPECT_STREQ(reinterpret_cast<const char*>(memory->data()), "1234567");
  EXPECT_EQ(own, 0);
}

TEST(IsolatedChild, CannotWriteWhatIsReadOnly) {
  HONE_ASSERT_OK_AND_ASSIGN(const auto memory, SharedMemory::Create(5000));
  memory->data()[0] = std::byte{1};
  memory->MakeReadOnly();
  for (const int at : {0, 4999}) {
    HONE_ASSERT_OK_AND_ASSIGN(
        const ChildOutcome outcome,
        RunInChild([&] { memory->data()[at] = std::byte{2}; }, {}));
    EXPECT_EQ(outcome.end, ChildEnd::kCrashed);
  }
  EXPECT_EQ(memory->data()[0], std::byte{1});
}

TEST(IsolatedChild, ACrashIsAnOutcome) {
  HONE_ASSERT_OK_AND_ASSIGN(const ChildOutcome outcome,
                            RunInChild([] { raise(SIGSEGV); }, {}));
  EXPECT_EQ(outcome.end, ChildEnd::kCrashed);
  EXPECT_THAT(outcome.message, HasSubstr("signal 11"));
}

TEST(IsolatedChild, HandlersOfThisProcessDoNotHideACrash) {
  const auto before = signal(SIGSEGV, [](int) {});
  const auto outcome = RunInChild([] { raise(SIGSEGV); }, {});
  signal(SIGSEGV, before);
  HONE_ASSERT_OK(outcome);
  EXPECT_EQ(outcome->end, ChildEnd::kCrashed);
}

TEST(IsolatedChild, SoIsAnExit) {
  HONE_ASSERT_OK_AND_ASSIGN(const ChildOutcome outcome,
                            RunInChild([] { _exit(7); }, {}));
  EXPECT_EQ(outcome.end, ChildEnd::kCrashed);
  EXPECT_EQ(outcome.message, "exit status 7");
}

TEST(IsolatedChild, AHangEndsWithItsTime) {
  HONE_ASSERT_OK_AND_ASSIGN(const ChildOutcome outcome,
                            RunInChild(
                                [] {
                                  for (;;) pause();
                                },
                                {.timeout = absl::Milliseconds(20)}));
  EXPECT_EQ(outcome.end, ChildEnd::kTimeout);
}

TEST(IsolatedChild, MemoryIsLimited) {
  HONE_ASSERT_OK_AND_ASSIGN(const auto got, SharedMemory::Create(1));
  HONE_ASSERT_OK_AND_ASSIGN(
      const ChildOutcome outcome,
      RunInChild(
          [&] {
            void* const large =
                mmap(nullptr, size_t{1} << 30, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            got->data()[0] = std::byte{large != MAP_FAILED};
          },
          {.memory_bytes = int64_t{256} << 20}));
  EXPECT_EQ(outcome.end, ChildEnd::kDone);
  EXPECT_EQ(got->data()[0], std::byte{0});
}

// It must not be taken for one that hangs.
TEST(IsolatedChild, WithoutAWayToWaitThereIsAnError) {
  rlimit files;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &files), 0);
  const int lowest_free = dup(STDERR_FILENO);
  ASSERT_GE(lowest_free, 0);
  close(lowest_free);
  const rlimit none_left = {static_cast<rlim_t>(lowest_free), files.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none_left), 0);
  const auto outcome = RunInChild([] {}, {});
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &files), 0);
  EXPECT_THAT(outcome, StatusIs(absl::StatusCode::kResourceExhausted,
                                HasSubstr("cannot wait")));
}

TEST(SharedMemory, WritingPastItsEndIsACrash) {
  for (int64_t bytes :
       {int64_t{1}, int64_t{64}, int64_t{4096}, int64_t{5000}}) {
    HONE_ASSERT_OK_AND_ASSIGN(const auto memory, SharedMemory::Create(bytes));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory->data()) % 64, 0u);
    HONE_ASSERT_OK_AND_ASSIGN(
        const ChildOutcome inside,
        RunInChild(
            [&] { std::memset(memory->data(), 1, static_cast<size_t>(bytes)); },
            {}));
    EXPECT_EQ(inside.end, ChildEnd::kDone) << bytes;
    HONE_ASSERT_OK_AND_ASSIGN(
        const ChildOutcome past,
        RunInChild([&] { memory->data()[bytes + 63] = std::byte{1}; }, {}));
    EXPECT_EQ(past.end, ChildEnd::kCrashed) << bytes;
  }
}

}  // namespace
}  // namespace hone::backends
