// The record that explains a miss.
#include <optional>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/rng.h"
#include "storage/memory_store.h"
#include "tests/storage/samples.h"
#include "tests/storage/stores.h"
#include "tests/support/status_matchers.h"

namespace hone::storage {
namespace {

class Nearest : public StoreTest {};

TEST_P(Nearest, FindsTheNearestRecord) {
  HONE_ASSERT_OK_AND_ASSIGN(std::optional<Record> nearest,
                            store_->FindNearest(SampleKey()));
  EXPECT_EQ(nearest, std::nullopt);

  Record other_target = SampleRecord();
  other_target.key.target = "cpu";
  HONE_ASSERT_OK(store_->Publish(other_target));
  Record far = SampleRecord("m9");
  far.key.target = "cpu";
  HONE_ASSERT_OK(store_->Publish(far));
  HONE_ASSERT_OK_AND_ASSIGN(nearest, store_->FindNearest(SampleKey()));
  ASSERT_TRUE(nearest.has_value());
  EXPECT_EQ(nearest->key, other_target.key);

  // This record is as near, and newer.
  HONE_ASSERT_OK(store_->Publish(SampleRecord("m1")));
  HONE_ASSERT_OK_AND_ASSIGN(nearest, store_->FindNearest(SampleKey()));
  ASSERT_TRUE(nearest.has_value());
  EXPECT_EQ(nearest->key.module_fingerprint, "m1");
}

TEST_P(Nearest, TheNearestRecordIsFoundAfterRemovals) {
  HONE_ASSERT_OK(store_->Publish(SampleRecord("m1")));
  Record other = SampleRecord("m2");
  other.key.target = "cpu";
  HONE_ASSERT_OK(store_->Publish(other));
  HONE_ASSERT_OK(store_->Publish(SampleRecord("m3")));
  HONE_ASSERT_OK(store_->Invalidate({.module_fingerprint = "m3"}).status());
  HONE_ASSERT_OK_AND_ASSIGN(std::optional<Record> nearest,
                            store_->FindNearest(SampleKey("m9")));
  ASSERT_TRUE(nearest.has_value());
  EXPECT_EQ(nearest->key.module_fingerprint, "m1");
  HONE_ASSERT_OK(store_->Invalidate({.module_fingerprint = "m1"}).status());
  HONE_ASSERT_OK_AND_ASSIGN(nearest, store_->FindNearest(SampleKey("m9")));
  ASSERT_TRUE(nearest.has_value());
  EXPECT_EQ(nearest->key.module_fingerprint, "m2");
}

// Every component takes one of two values, so that all combinations of matches
// and many ties occur.
TEST_P(Nearest, IsTheSameAsByComparingWithEveryRecord) {
  Rng rng(5);
  const auto any = [&] { return absl::StrCat("v", rng.Below(2)); };
  const auto any_key = [&] {
    return CacheKey{.module_fingerprint = absl::StrCat("m", rng.Below(4)),
                    .target = any(),
                    .task = any(),
                    .task_options = any(),
                    .space_version = any()};
  };
  MemoryStore expected;
  for (int i = 0; i < 150; ++i) {
    Record record = SampleRecord();
    record.key = any_key();
    HONE_ASSERT_OK(store_->Publish(record).status());
    HONE_ASSERT_OK(expected.Publish(record).status());
    if (i % 20 == 19) {
      const RecordFilter filter{
          .module_fingerprint = absl::StrCat("m", rng.Below(4)),
          .target = any()};
      HONE_ASSERT_OK(store_->Invalidate(filter).status());
      HONE_ASSERT_OK(expected.Invalidate(filter).status());
    }
    const CacheKey asked = any_key();
    HONE_ASSERT_OK_AND_ASSIGN(const std::optional<Record> nearest,
                              store_->FindNearest(asked));
    HONE_ASSERT_OK_AND_ASSIGN(const std::optional<Record> wanted,
                              expected.FindNearest(asked));
    ASSERT_EQ(nearest.has_value(), wanted.has_value());
    if (wanted) {
      EXPECT_EQ(nearest->key, wanted->key);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Stores, Nearest, AllStores(), NameOf);

}  // namespace
}  // namespace hone::storage
