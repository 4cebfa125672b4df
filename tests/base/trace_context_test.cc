#include "base/trace_context.h"

#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/thread_pool.h"

namespace hone {
namespace {

constexpr char kTrace[] =
    "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

TEST(IsTraceparent, AcceptsTheStandardsForm) {
  EXPECT_TRUE(IsTraceparent(kTrace));
  EXPECT_TRUE(
      IsTraceparent("cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"));
}

TEST(IsTraceparent, RefusesOthers) {
  for (const char* text : {
           "",
           "00",
           "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
           "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-x",
           "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
           "0x-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
           "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
           "00-00000000000000000000000000000000-b7ad6b7169203331-01",
           "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
           "00-0af7651916cd43dd8448eb211c80319c-b7ad6b716920333\n-01",
           "00-0af7651916cd43dd8448eb211c80319c_b7ad6b7169203331-01",
           "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0g",
       }) {
    EXPECT_FALSE(IsTraceparent(text)) << text;
  }
}

TEST(TraceScope, BelongsToAThreadAndNests) {
  EXPECT_EQ(CurrentTraceparent(), "");
  {
    const TraceScope outer(kTrace);
    EXPECT_EQ(CurrentTraceparent(), kTrace);
    std::thread([] { EXPECT_EQ(CurrentTraceparent(), ""); }).join();
    {
      const TraceScope none("malformed");
      EXPECT_EQ(CurrentTraceparent(), "");
    }
    EXPECT_EQ(CurrentTraceparent(), kTrace);
  }
  EXPECT_EQ(CurrentTraceparent(), "");
}

TEST(TraceScope, GoesWithTheTasksOfAThreadPool) {
  std::vector<std::string> seen;
  {
    ThreadPool pool(1);
    const auto look = [&] { seen.emplace_back(CurrentTraceparent()); };
    {
      const TraceScope trace(kTrace);
      pool.Schedule(look);
    }
    pool.Schedule(look);
  }
  EXPECT_THAT(seen, ::testing::ElementsAre(kTrace, ""));
}

}  // namespace
}  // namespace hone
