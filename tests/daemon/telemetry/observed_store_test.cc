#include "daemon/telemetry/observed_store.h"

#include <memory>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "storage/memory_store.h"
#include "tests/support/status_matchers.h"

namespace hone::daemon {
namespace {

using ::hone::testing::StatusIs;
using ::testing::_;

storage::Record MakeRecord(double cost) {
  storage::Record record;
  record.key = {.module_fingerprint = "f",
                .target = "hlo",
                .task = "pass_order",
                .task_options = "score=ops",
                .space_version = "1"};
  record.best_cost = cost;
  return record;
}

class ObservedStoreTest : public ::testing::Test {
 protected:
  Metrics metrics_;
  ObservedStore store_{std::make_unique<storage::MemoryStore>(), metrics_};
};

TEST_F(ObservedStoreTest, LookupRemembers) {
  HONE_ASSERT_OK(store_.Publish(MakeRecord(3)));
  const storage::CacheKey key = MakeRecord(3).key;
  EXPECT_FALSE(store_.RememberedRecord(key).has_value());
  HONE_ASSERT_OK(store_.Lookup(key));
  ASSERT_TRUE(store_.RememberedRecord(key).has_value());
  EXPECT_EQ(store_.RememberedRecord(key)->best_cost, 3);
}

TEST_F(ObservedStoreTest, PublishingReplacesWhatIsRemembered) {
  HONE_ASSERT_OK(store_.Publish(MakeRecord(3)));
  HONE_ASSERT_OK(store_.Lookup(MakeRecord(3).key));
  HONE_ASSERT_OK(store_.Publish(MakeRecord(2)));
  HONE_ASSERT_OK_AND_ASSIGN(const storage::Record record,
                            store_.Lookup(MakeRecord(3).key));
  EXPECT_EQ(record.best_cost, 2);
}

TEST_F(ObservedStoreTest, InvalidatingForgets) {
  HONE_ASSERT_OK(store_.Publish(MakeRecord(3)));
  HONE_ASSERT_OK(store_.Lookup(MakeRecord(3).key));
  HONE_ASSERT_OK(store_.Invalidate(
      {.module_fingerprint = "f", .target = "", .task = "", .producer = ""}));
  EXPECT_FALSE(store_.RememberedRecord(MakeRecord(3).key).has_value());
  EXPECT_THAT(store_.Lookup(MakeRecord(3).key),
              StatusIs(absl::StatusCode::kNotFound, _));
}

TEST_F(ObservedStoreTest, DeletingForgets) {
  HONE_ASSERT_OK(store_.Publish(MakeRecord(3)));
  HONE_ASSERT_OK(store_.Lookup(MakeRecord(3).key));
  HONE_ASSERT_OK(store_.DeleteRecord(MakeRecord(3).key.Digest()));
  EXPECT_FALSE(store_.RememberedRecord(MakeRecord(3).key).has_value());
}

// Its sweeps remove everything, and then fail.
class FailingSweepStore : public storage::MemoryStore {
 public:
  absl::StatusOr<storage::SweepResult> Sweep(
      const storage::RetentionPolicy&) override {
    HONE_EXPECT_OK(Invalidate({}));
    return absl::DataLossError("a page cannot be read");
  }
};

TEST(ObservedStoreSweep, ForgetsWhatAFailedSweepMayHaveRemoved) {
  Metrics metrics;
  ObservedStore store(std::make_unique<FailingSweepStore>(), metrics);
  HONE_ASSERT_OK(store.Publish(MakeRecord(3)));
  HONE_ASSERT_OK(store.Lookup(MakeRecord(3).key));
  EXPECT_THAT(store.Sweep({}), StatusIs(absl::StatusCode::kDataLoss, _));
  EXPECT_THAT(store.Lookup(MakeRecord(3).key),
              StatusIs(absl::StatusCode::kNotFound, _));
}

TEST_F(ObservedStoreTest, EveryComponentOfTheKeyCounts) {
  HONE_ASSERT_OK(store_.Publish(MakeRecord(3)));
  const storage::CacheKey key = MakeRecord(3).key;
  HONE_ASSERT_OK(store_.Lookup(key));
  for (std::string storage::CacheKey::*component :
       {&storage::CacheKey::module_fingerprint, &storage::CacheKey::target,
        &storage::CacheKey::task, &storage::CacheKey::task_options,
        &storage::CacheKey::space_version}) {
    storage::CacheKey other = key;
    other.*component += "x";
    EXPECT_FALSE(store_.RememberedRecord(other).has_value());
  }
}

}  // namespace
}  // namespace hone::daemon
