#include "storage/page_token.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/status_matchers.h"

namespace hone::storage {
namespace {

using ::hone::testing::StatusIs;
using ::testing::HasSubstr;

TEST(PageToken, LeadsToTheNextPage) {
  const std::string token = MakePageToken("x", 42);
  HONE_ASSERT_OK_AND_ASSIGN(const PageRequest request,
                            ParsePageRequest("x", 7, token));
  EXPECT_EQ(request.before, 42);
  EXPECT_EQ(request.size, 7);
}

TEST(PageToken, SizeZeroMeansADefaultAndLargeOnesAreCut) {
  HONE_ASSERT_OK_AND_ASSIGN(const PageRequest usual,
                            ParsePageRequest("x", 0, ""));
  EXPECT_EQ(usual.size, 100);
  HONE_ASSERT_OK_AND_ASSIGN(const PageRequest large,
                            ParsePageRequest("x", 1'000'000, ""));
  EXPECT_EQ(large.size, 1000);
}

TEST(PageToken, RefusesWhatIsNoTokenOfTheListing) {
  const std::string good = MakePageToken("x", 42);
  for (const std::string& bad :
       {std::string("42"), std::string("nonsense"), MakePageToken("y", 42),
        good + "z", MakePageToken("x", -1), good.substr(1)}) {
    EXPECT_THAT(
        ParsePageRequest("x", 0, bad),
        StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("page token")))
        << bad;
  }
}

TEST(PageToken, RefusesNegativeSizes) {
  EXPECT_THAT(
      ParsePageRequest("x", -1, ""),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("page size -1")));
}

TEST(PageToken, ListingsDifferByFilter) {
  EXPECT_NE(TuningListing({}), TuningListing({TuningState::kRunning}));
  // The order of states does not matter.
  EXPECT_EQ(TuningListing({TuningState::kRunning, TuningState::kFailed}),
            TuningListing({TuningState::kFailed, TuningState::kRunning}));
  EXPECT_NE(RecordListing({.target = "a"}), RecordListing({.task = "a"}));
}

}  // namespace
}  // namespace hone::storage
