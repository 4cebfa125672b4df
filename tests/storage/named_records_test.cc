// Records by the digest of their key, on each implementation of Store.
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/storage/samples.h"
#include "tests/storage/stores.h"
#include "tests/support/status_matchers.h"

namespace hone::storage {
namespace {

using hone::testing::StatusIs;
using ::testing::HasSubstr;

class NamedRecords : public StoreTest {};

TEST_P(NamedRecords, AreFoundByTheDigestOfTheirKey) {
  HONE_ASSERT_OK(store_->Publish(SampleRecord("m0")));
  HONE_ASSERT_OK(store_->Publish(SampleRecord("m1")));
  HONE_ASSERT_OK_AND_ASSIGN(const Record record,
                            store_->GetRecord(SampleKey("m1").Digest()));
  EXPECT_EQ(record.key, SampleKey("m1"));
  EXPECT_EQ(record.decision, SampleRecord("m1").decision);
}

TEST_P(NamedRecords, AreDeletedAlone) {
  HONE_ASSERT_OK(store_->Publish(SampleRecord("m0")));
  HONE_ASSERT_OK(store_->Publish(SampleRecord("m1")));
  const std::string digest = SampleKey("m0").Digest();
  HONE_ASSERT_OK(store_->DeleteRecord(digest));
  EXPECT_THAT(store_->Lookup(SampleKey("m0")),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("m0")));
  EXPECT_THAT(store_->GetRecord(digest),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr(digest)));
  HONE_EXPECT_OK(store_->Lookup(SampleKey("m1")).status());
  HONE_ASSERT_OK_AND_ASSIGN(const StoreStats stats, store_->Stats());
  EXPECT_EQ(stats.records, 1);
  // It can be published again, under the same name.
  HONE_ASSERT_OK(store_->Publish(SampleRecord("m0")));
  HONE_EXPECT_OK(store_->GetRecord(digest).status());
}

TEST_P(NamedRecords, UnknownDigestsAreNotFound) {
  HONE_ASSERT_OK(store_->Publish(SampleRecord()));
  for (const char* digest : {"", "nope", "%"}) {
    EXPECT_TRUE(absl::IsNotFound(store_->GetRecord(digest).status()));
    EXPECT_TRUE(absl::IsNotFound(store_->DeleteRecord(digest)));
  }
  HONE_EXPECT_OK(store_->Lookup(SampleKey()).status());
}

INSTANTIATE_TEST_SUITE_P(Stores, NamedRecords, AllStores(), NameOf);

}  // namespace
}  // namespace hone::storage
