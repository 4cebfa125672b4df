#include "base/out_of_memory.h"

#include <cstdio>
#include <new>
#include <stdexcept>
#include <system_error>
#include <thread>

#include <gtest/gtest.h>
#include <unistd.h>

namespace hone {
namespace {

void End(const char* what) {
  std::fprintf(stderr, "%s\n", what);
  _exit(7);
}

void SetHandler() { SetOutOfMemoryHandler(End); }

// Sanitizers end the process by themselves.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(OutOfMemoryDeathTest, EndsTheProcessFromAnyThread) {
  EXPECT_EXIT(
      {
        SetHandler();
        std::thread([] {
          // More than there are addresses.
          [[maybe_unused]] void* volatile memory =
              ::operator new (size_t{1} << 62);
        }).join();
      },
      testing::ExitedWithCode(7), "^memory ran out\n$");
}
#endif

TEST(OutOfMemoryDeathTest, KnowsExceptionsThatNobodyCatches) {
  const auto end_by = [](auto exception) {
    SetHandler();
    std::thread([&] { throw exception; }).join();
  };
  EXPECT_EXIT(end_by(std::bad_alloc()), testing::ExitedWithCode(7),
              "^memory ran out\n$");
  EXPECT_EXIT(end_by(std::system_error(std::make_error_code(
                  std::errc::resource_unavailable_try_again))),
              testing::ExitedWithCode(7), "^memory or threads ran out\n$");
  EXPECT_EXIT(end_by(std::logic_error("a defect")),
              testing::KilledBySignal(SIGABRT), "a defect");
}

}  // namespace
}  // namespace hone
