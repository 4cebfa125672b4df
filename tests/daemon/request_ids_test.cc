#include "daemon/request_ids.h"

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/status_matchers.h"

namespace hone::daemon {
namespace {

using hone::testing::StatusIs;
using ::testing::_;
using ::testing::HasSubstr;

bool Never() { return false; }

// A request that counts how often it is served.
class RequestIdsTest : public ::testing::Test {
 protected:
  absl::StatusOr<std::string> Once(RequestIds& ids, const std::string& caller,
                                   const std::string& id,
                                   const std::string& request = "r") {
    return ids.Once(caller, id, request, Never, [&] {
      ++served_;
      return absl::StrCat(caller, " ", id, " ", served_);
    });
  }

  int served_ = 0;
};

TEST_F(RequestIdsTest, ARepeatedRequestGetsTheFirstAnswer) {
  RequestIds ids;
  EXPECT_EQ(*Once(ids, "a", "1"), "a 1 1");
  EXPECT_EQ(*Once(ids, "a", "1"), "a 1 1");
  EXPECT_EQ(*Once(ids, "a", "2"), "a 2 2");
  // Ids belong to callers.
  EXPECT_EQ(*Once(ids, "b", "1"), "b 1 3");
}

TEST_F(RequestIdsTest, TheIdOfAnotherRequestIsRefused) {
  RequestIds ids;
  HONE_ASSERT_OK(Once(ids, "a", "1", "r"));
  EXPECT_THAT(Once(ids, "a", "1", "other"),
              StatusIs(absl::StatusCode::kAlreadyExists, HasSubstr("\"1\"")));
  EXPECT_EQ(served_, 1);
}

TEST_F(RequestIdsTest, ErrorsAreNotRemembered) {
  RequestIds ids;
  EXPECT_THAT(ids.Once("a", "1", "r", Never,
                       [] { return absl::UnavailableError("later"); }),
              StatusIs(absl::StatusCode::kUnavailable, _));
  // Not even as a use of the id.
  EXPECT_EQ(*Once(ids, "a", "1", "other"), "a 1 1");
}

TEST_F(RequestIdsTest, ARepetitionDuringTheFirstWaitsForIt) {
  RequestIds ids;
  absl::Notification serving;
  absl::Notification finish;
  std::thread first([&] {
    EXPECT_EQ(*ids.Once("a", "1", "r", Never,
                        [&]() -> absl::StatusOr<std::string> {
                          serving.Notify();
                          finish.WaitForNotification();
                          return "first";
                        }),
              "first");
  });
  serving.WaitForNotification();
  std::thread repeated([&] {
    EXPECT_EQ(*ids.Once("a", "1", "r", Never, [] { return "again"; }), "first");
  });
  // Another request is not held up.
  EXPECT_EQ(*Once(ids, "a", "2"), "a 2 1");
  finish.Notify();
  first.join();
  repeated.join();
}

// Each that waits has a thread, which other requests need.
TEST_F(RequestIdsTest, FewRepetitionsWaitAndOneOfACaller) {
  RequestIds ids;
  std::atomic<int> serving = 0;
  absl::Notification finish;
  std::vector<std::thread> first;
  for (const char* caller : {"a", "b", "c"}) {
    first.emplace_back([&, caller] {
      EXPECT_EQ(*ids.Once(caller, "1", "r", Never,
                          [&]() -> absl::StatusOr<std::string> {
                            ++serving;
                            finish.WaitForNotification();
                            return "first";
                          }),
                "first");
    });
  }
  while (serving < 3) std::this_thread::yield();
  std::atomic<int> waiting = 0;
  std::vector<std::thread> repeated;
  const auto repeat = [&](const char* caller) {
    return ids.Once(caller, "1", "r", Never, [] { return "again"; });
  };
  for (const char* caller : {"a", "b"}) {
    repeated.emplace_back([&, caller] {
      std::atomic<bool> has_asked = false;
      const auto stop = [&] {
        if (!has_asked.exchange(true)) ++waiting;
        return false;
      };
      EXPECT_EQ(*ids.Once(caller, "1", "r", stop, [] { return "again"; }),
                "first");
    });
    while (waiting < static_cast<int>(repeated.size())) {
      std::this_thread::yield();
    }
    // Not a second one of this caller.
    EXPECT_THAT(repeat(caller),
                StatusIs(absl::StatusCode::kResourceExhausted, _));
  }
  // Nor a third one at all.
  EXPECT_THAT(repeat("c"), StatusIs(absl::StatusCode::kResourceExhausted, _));
  finish.Notify();
  for (std::thread& thread : first) thread.join();
  for (std::thread& thread : repeated) thread.join();
  EXPECT_EQ(*repeat("c"), "first");
}

TEST_F(RequestIdsTest, ARepetitionThatIsToStopDoesNotWait) {
  RequestIds ids;
  absl::Notification serving;
  absl::Notification finish;
  std::thread first([&] {
    EXPECT_EQ(*ids.Once("a", "1", "r", Never,
                        [&]() -> absl::StatusOr<std::string> {
                          serving.Notify();
                          finish.WaitForNotification();
                          return "first";
                        }),
              "first");
  });
  serving.WaitForNotification();
  EXPECT_THAT(ids.Once(
                  "a", "1", "r", [] { return true; }, [] { return "again"; }),
              StatusIs(absl::StatusCode::kCancelled, _));
  finish.Notify();
  first.join();
  EXPECT_EQ(*ids.Once("a", "1", "r", Never, [] { return "again"; }), "first");
}

TEST_F(RequestIdsTest, ARepetitionIsServedIfTheFirstFails) {
  RequestIds ids;
  absl::Notification serving;
  absl::Notification finish;
  std::thread first([&] {
    EXPECT_FALSE(ids.Once("a", "1", "r", Never,
                          [&]() -> absl::StatusOr<std::string> {
                            serving.Notify();
                            finish.WaitForNotification();
                            return absl::CancelledError("gone");
                          })
                     .ok());
  });
  serving.WaitForNotification();
  std::thread second([&] {
    EXPECT_EQ(*ids.Once("a", "1", "r", Never, [] { return "again"; }), "again");
  });
  finish.Notify();
  first.join();
  second.join();
}

TEST_F(RequestIdsTest, ACallerWithManyIdsForgetsItsOwn) {
  RequestIds ids({.per_caller = 3, .total = 100, .bytes = 1000});
  HONE_ASSERT_OK(Once(ids, "b", "1"));
  for (int i = 0; i < 3; ++i) HONE_ASSERT_OK(Once(ids, "a", absl::StrCat(i)));
  HONE_ASSERT_OK(Once(ids, "a", "0"));  // A use.
  HONE_ASSERT_OK(Once(ids, "a", "3"));
  served_ = 0;
  for (const char* id : {"0", "2", "3"}) HONE_ASSERT_OK(Once(ids, "a", id));
  HONE_ASSERT_OK(Once(ids, "b", "1"));
  EXPECT_EQ(served_, 0);
  HONE_ASSERT_OK(Once(ids, "a", "1"));
  EXPECT_EQ(served_, 1);
}

TEST_F(RequestIdsTest, NumberAndSizeOfAnswersAreBounded) {
  RequestIds few({.per_caller = 100, .total = 2, .bytes = 1000});
  for (const char* caller : {"a", "b", "c"}) {
    HONE_ASSERT_OK(Once(few, caller, "1"));
  }
  EXPECT_EQ(*Once(few, "c", "1"), "c 1 3");
  EXPECT_EQ(*Once(few, "a", "1"), "a 1 4");

  RequestIds small({.per_caller = 100, .total = 100, .bytes = 10});
  const auto large = [] { return std::string(8, 'x'); };
  HONE_ASSERT_OK(small.Once("a", "1", "r", Never, large));
  HONE_ASSERT_OK(small.Once("a", "2", "r", Never, large));
  EXPECT_EQ(*small.Once("a", "2", "r", Never, [] { return "again"; }), large());
  EXPECT_EQ(*small.Once("a", "1", "r", Never, [] { return "again"; }), "again");
  // The newest is kept whatever its size.
  const auto huge = [] { return std::string(20, 'x'); };
  HONE_ASSERT_OK(small.Once("a", "3", "r", Never, huge));
  EXPECT_EQ(*small.Once("a", "3", "r", Never, [] { return "again"; }), huge());
}

TEST(CheckRequestIdTest, TakesPrintableCharacters) {
  HONE_EXPECT_OK(CheckRequestId("0198c4d5-6f00-7000-8000-000000000000"));
  HONE_EXPECT_OK(CheckRequestId(std::string(128, '~')));
  HONE_EXPECT_OK(CheckRequestId(""));
  for (const std::string& id :
       {std::string(129, 'a'), std::string("a\nb"), std::string("\xc3\xa9"),
        std::string(1, '\0')}) {
    EXPECT_TRUE(absl::IsInvalidArgument(CheckRequestId(id)));
  }
}

}  // namespace
}  // namespace hone::daemon
