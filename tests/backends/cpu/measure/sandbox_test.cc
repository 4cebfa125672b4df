// Hostile native code in real children: each ends as an outcome, and leaves
// neither a process nor a file.

#include "backends/cpu/measure/sandbox.h"

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/cpu/kernel_runtime.h"
#include "backends/cpu/measure/isolated_child.h"
#include "base/temporary_directory.h"
#include "tests/support/status_matchers.h"

namespace hone::backends {
namespace {

using ::testing::HasSubstr;

// Deep enough for any stack; the address keeps the compiler from a loop.
int Recurse(volatile char* caller) {
  volatile char frame[4096];
  frame[0] = caller == nullptr ? char{0} : *caller;
  if (frame[0] == 1) return 0;
  return Recurse(frame) + frame[0];
}

// Returns true if the process is there and not only waits to be reaped.
bool IsRunning(pid_t pid) {
  std::ifstream stat(absl::StrCat("/proc/", pid, "/stat"));
  std::string text;
  if (!std::getline(stat, text)) return false;
  return text.substr(text.rfind(')') + 2, 1) != "Z";
}

class SandboxTest : public ::testing::Test {
 protected:
  // Runs the code in a child, in the sandbox. The child's number is in pid_.
  ChildOutcome Run(const std::function<void()>& code,
                   absl::Duration timeout = absl::Seconds(20)) {
    auto outcome = RunInChild(
        [&] {
          Shared(0) = getpid();
          if (!EnterSandbox().ok()) return;
          Shared(1) = 1;
          code();
          Shared(1) = 2;
        },
        {.timeout = timeout, .memory_bytes = int64_t{1} << 30});
    HONE_EXPECT_OK(outcome.status());
    EXPECT_GE(Shared(1), 1) << "the sandbox was not entered";
    EXPECT_FALSE(IsRunning(static_cast<pid_t>(Shared(0))));
    return outcome.ok() ? *outcome : ChildOutcome();
  }
  void ExpectForbidden(const std::function<void()>& code,
                       const std::string& name) {
    const ChildOutcome outcome = Run(code);
    EXPECT_EQ(outcome.end, ChildEnd::kCrashed) << name;
    EXPECT_THAT(outcome.message, HasSubstr("forbidden system call")) << name;
    EXPECT_EQ(Shared(1), 1) << name << " went on";
  }
  // Shared with the child.
  volatile int64_t& Shared(int i) {
    return reinterpret_cast<volatile int64_t*>(memory_->data())[i];
  }

  const std::unique_ptr<SharedMemory> memory_ =
      SharedMemory::Create(64).value();
  const TemporaryDirectory folder_;
};

TEST_F(SandboxTest, WhatKernelsNeedIsLeft) {
  const ChildOutcome outcome = Run([&] {
    hone_kernel_set_threads(2);
    std::vector<int64_t> squares(1000);
    hone_kernel_parallel_for(
        [](void* context, int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) {
            static_cast<int64_t*>(context)[i] = i * i;
          }
        },
        squares.data(), 1000);
    void* const scratch = hone_kernel_allocate(64 << 20);
    std::memset(scratch, 1, 64 << 20);
    hone_kernel_free(scratch);
    std::thread([&] { Shared(2) = squares[999]; }).join();
  });
  EXPECT_EQ(outcome.end, ChildEnd::kDone) << outcome.message;
  EXPECT_EQ(Shared(2), 999 * 999);
}

// A sanitizer would end the process before the signal.
__attribute__((no_sanitize("undefined"))) void WriteNowhere() {
  volatile int* const volatile nowhere = nullptr;
  *nowhere = 1;
}

TEST_F(SandboxTest, CrashesAreOutcomes) {
  EXPECT_THAT(Run([] { WriteNowhere(); }).message,
              HasSubstr("Segmentation fault"));
  EXPECT_THAT(Run([] { Recurse(nullptr); }).message,
              HasSubstr("Segmentation fault"));
  EXPECT_THAT(Run([] { abort(); }).message, HasSubstr("Aborted"));
}

TEST_F(SandboxTest, WhatNeverEndsIsATimeout) {
  const absl::Duration soon = absl::Milliseconds(100);
  const struct {
    const char* name;
    std::function<void()> code;
  } endless[] = {
      {"loop",
       [] {
         const volatile bool forever = true;
         while (forever) {
         }
       }},
      {"ignores SIGTERM",
       [] {
         signal(SIGTERM, SIG_IGN);
         for (;;) pause();
       }},
      {"floods its output",
       [] {
         const std::string text(4096, 'x');
         for (;;) {
           (void)!write(STDOUT_FILENO, text.data(), text.size());
           (void)!write(STDERR_FILENO, text.data(), text.size());
         }
       }},
      {"stops itself", [] { raise(SIGSTOP); }},
  };
  for (const auto& each : endless) {
    const ChildOutcome outcome = Run(each.code, soon);
    EXPECT_EQ(outcome.end, ChildEnd::kTimeout) << each.name;
    EXPECT_THAT(outcome.message, HasSubstr("not done after 100ms"));
  }
}

TEST_F(SandboxTest, NoProcessCanBeStarted) {
  ExpectForbidden(
      [] {
        for (;;) (void)!fork();
      },
      "fork bomb");
  ExpectForbidden([] { (void)!vfork(); }, "vfork");
  ExpectForbidden([] { (void)!system("true"); }, "system");
  ExpectForbidden([] { execl("/bin/true", "true", nullptr); }, "exec");
}

TEST_F(SandboxTest, NoFileCanBeChanged) {
  const std::string path = folder_.path() + "/file";
  ExpectForbidden([&] { open(path.c_str(), O_WRONLY | O_CREAT, 0600); },
                  "open to write");
  ExpectForbidden([&] { open(path.c_str(), O_RDONLY | O_CREAT, 0600); },
                  "open to create");
  ExpectForbidden([&] { std::ofstream stream(path); }, "stream");
  ExpectForbidden([&] { mkdir(path.c_str(), 0700); }, "mkdir");
  ExpectForbidden([&] { (void)!symlink("/", path.c_str()); }, "symlink");
  ExpectForbidden([&] { rmdir(folder_.path().c_str()); }, "rmdir");
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
  // Nor read.
  Run([&] { Shared(3) = open("/proc/self/environ", O_RDONLY); });
  EXPECT_EQ(Shared(3), -1);
}

TEST_F(SandboxTest, NothingIsReachedBeyondTheProcess) {
  ExpectForbidden([] { socket(AF_INET, SOCK_STREAM, 0); }, "TCP");
  ExpectForbidden([] { socket(AF_UNIX, SOCK_STREAM, 0); }, "Unix socket");
  ExpectForbidden([] { ptrace(PTRACE_ATTACH, getppid(), 0, 0); }, "ptrace");
  ExpectForbidden([] { kill(getppid(), SIGKILL); }, "kill");
}

TEST_F(SandboxTest, MemoryIsLimited) {
  Run([&] {
    void* const memory =
        mmap(nullptr, size_t{64} << 30, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    Shared(3) = memory == MAP_FAILED ? errno : 0;
  });
  EXPECT_EQ(Shared(3), ENOMEM);
  const ChildOutcome outcome = Run([] {
    for (;;) std::memset(::operator new(64 << 20), 1, 64 << 20);
  });
  EXPECT_EQ(outcome.end, ChildEnd::kCrashed);
}

TEST_F(SandboxTest, DescriptorsOfTheParentAreClosed) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  Run([&] { Shared(3) = write(ends[1], "forged", 6) < 0 ? errno : 0; });
  EXPECT_EQ(Shared(3), EBADF);
  close(ends[0]);
  close(ends[1]);
}

// Code that is not in the sandbox yet, as that of the compiler: limits hold,
// and what it starts ends with it.
TEST_F(SandboxTest, OutsideOfTheSandboxLimitsHold) {
  const std::string path = folder_.path() + "/file";
  auto outcome = RunInChild(
      [&] {
        const int fd = open(path.c_str(), O_WRONLY | O_CREAT, 0600);
        (void)!write(fd, "text", 4);
      },
      {});
  HONE_ASSERT_OK(outcome);
  EXPECT_THAT(outcome->message, HasSubstr("File size limit exceeded"));
  outcome = RunInChild(
      [&] {
        const pid_t grandchild = fork();
        if (grandchild == 0) {
          Shared(0) = getpid();
          Shared(2) = 1;
          for (;;) pause();
        }
        while (Shared(2) == 0) sched_yield();
      },
      {});
  HONE_ASSERT_OK(outcome);
  EXPECT_EQ(outcome->end, ChildEnd::kDone);
  // It has been killed; its end takes a moment.
  while (IsRunning(static_cast<pid_t>(Shared(0)))) sched_yield();
}

}  // namespace
}  // namespace hone::backends
