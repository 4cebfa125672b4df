#include "base/may_block.h"

#include <string>
#include <thread>

#include "gtest/gtest.h"

#include "base/hash.h"
#include "base/thread_pool.h"

namespace hone {
namespace {

TEST(MayBlockDeathTest, AScopeForbidsItToItsThread) {
  AssertMayBlock("before");
  {
    const NonBlockingScope outer;
    { const NonBlockingScope inner; }
    EXPECT_DEATH(AssertMayBlock("the disk"), "the disk blocks a thread that");
    std::thread([] { AssertMayBlock("another thread"); }).join();
  }
  AssertMayBlock("after");
}

TEST(MayBlockDeathTest, BlockingCallsAsk) {
  ThreadPool pool(1);
  const NonBlockingScope scope;
  pool.Schedule([] {});
  EXPECT_DEATH(pool.ParallelFor(2, 1, [](int64_t, int64_t) {}), "ParallelFor");
  EXPECT_DEATH(Sha256Hex(std::string(2 << 20, 'x')), "hashing");
  Sha256Hex("a token");
  // Its end waits for the task.
}

}  // namespace
}  // namespace hone
