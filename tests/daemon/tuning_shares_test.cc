#include "daemon/tuning_shares.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "daemon/limits.h"
#include "tests/support/status_matchers.h"

namespace hone::daemon {
namespace {

using hone::testing::StatusIs;
using ::testing::HasSubstr;

TEST(TuningSharesTest, ACallersRequestsWithoutIdsHaveOneShare) {
  TuningShares shares;
  HONE_ASSERT_OK(shares.Add({"a", ""}));
  HONE_ASSERT_OK(shares.Add({"a", ""}));
  EXPECT_EQ(shares.size(), 1);
  HONE_ASSERT_OK(shares.Add({"a", "1"}));
  HONE_ASSERT_OK(shares.Add({"b", "1"}));
  EXPECT_EQ(shares.size(), 3);
}

TEST(TuningSharesTest, OneShareIsRemovedByItsIdAndAllWithoutOne) {
  TuningShares shares;
  for (const char* id : {"", "1", "2"}) HONE_ASSERT_OK(shares.Add({"a", id}));
  HONE_ASSERT_OK(shares.Add({"b", "1"}));
  HONE_ASSERT_OK(shares.Remove({"a", "1"}));
  EXPECT_EQ(shares.size(), 3);
  HONE_ASSERT_OK(shares.Remove({"a", ""}));
  EXPECT_EQ(shares.size(), 1);
  EXPECT_THAT(shares.Remove({"a", ""}),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("1 other request")));
  EXPECT_FALSE(shares.Remove({"b", "2"}).ok());
  EXPECT_EQ(shares.size(), 1);
}

TEST(TuningSharesTest, WithoutSharesAnyoneMayLeave) {
  TuningShares shares;
  HONE_EXPECT_OK(shares.Remove({"a", ""}));
  HONE_EXPECT_OK(shares.Remove({"a", "1"}));
}

TEST(TuningSharesTest, TheirNumberIsBounded) {
  TuningShares shares;
  for (int i = 0; i < kMaxTuningShares; ++i) {
    HONE_ASSERT_OK(shares.Add({"a", absl::StrCat(i)}));
  }
  EXPECT_TRUE(absl::IsResourceExhausted(shares.Add({"b", ""})));
  HONE_EXPECT_OK(shares.Add({"a", "7"}));
}

}  // namespace
}  // namespace hone::daemon
