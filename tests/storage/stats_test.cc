// The sizes of a store.
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/storage/samples.h"
#include "tests/storage/stores.h"
#include "tests/support/status_matchers.h"

namespace hone::storage {
namespace {

class Stats : public StoreTest {};

TEST_P(Stats, StatsCount) {
  Create("t0");
  Create("t1");
  HONE_ASSERT_OK(store_->AppendTrials("t0", SampleTrials(0, 3)));
  HONE_ASSERT_OK(store_->AppendTrials("t1", SampleTrials(0, 4)));
  HONE_ASSERT_OK(store_->Publish(SampleRecord()));
  HONE_ASSERT_OK(store_->PutBlob("x").status());
  HONE_ASSERT_OK_AND_ASSIGN(const StoreStats stats, store_->Stats());
  EXPECT_EQ(stats.records, 1);
  EXPECT_EQ(stats.tunings, 2);
  EXPECT_EQ(stats.trials, 7);
  EXPECT_EQ(stats.blobs, 1);
}

TEST_P(Stats, StatsFollowReplacementAndRemoval) {
  for (int i = 0; i < 3; ++i) {
    HONE_ASSERT_OK(store_->Publish(SampleRecord(absl::StrCat("m", i))));
  }
  HONE_ASSERT_OK(store_->Publish(SampleRecord("m1")));
  HONE_ASSERT_OK(store_->PutBlob("x").status());
  HONE_ASSERT_OK(store_->PutBlob("x").status());
  HONE_ASSERT_OK_AND_ASSIGN(StoreStats stats, store_->Stats());
  EXPECT_EQ(stats.records, 3);
  EXPECT_EQ(stats.blobs, 1);
  HONE_ASSERT_OK(store_->Invalidate({.module_fingerprint = "m2"}).status());
  HONE_ASSERT_OK_AND_ASSIGN(stats, store_->Stats());
  EXPECT_EQ(stats.records, 2);
}

INSTANTIATE_TEST_SUITE_P(Stores, Stats, AllStores(), NameOf);

}  // namespace
}  // namespace hone::storage
