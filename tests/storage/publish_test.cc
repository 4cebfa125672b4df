// The choice of the record that Store::Publish keeps, on each implementation.
#include <atomic>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/rng.h"
#include "tests/storage/samples.h"
#include "tests/storage/stores.h"
#include "tests/support/status_matchers.h"

namespace hone::storage {
namespace {

class Publish : public StoreTest {};

// A record of SampleKey() with these costs.
Record Costing(double best, double by_default, const std::string& unit) {
  Record record = SampleRecord();
  record.unit = unit;
  record.best_cost = best;
  record.default_cost = by_default;
  return record;
}

TEST_P(Publish, AWorseRecordDoesNotReplaceABetterOne) {
  HONE_ASSERT_OK_AND_ASSIGN(bool published,
                            store_->Publish(Costing(50, 100, "ops")));
  EXPECT_TRUE(published);
  Create("t");
  Record worse = Costing(51, 200, "ops");
  worse.tuning_id = "t";
  HONE_ASSERT_OK_AND_ASSIGN(published, store_->Publish(worse));
  EXPECT_FALSE(published);
  EXPECT_EQ(store_->Lookup(SampleKey())->best_cost, 50);
  // Its tuning succeeded all the same.
  EXPECT_EQ(store_->GetTuning("t")->state, TuningState::kSucceeded);
  // One as good replaces it, and so does one of another unit.
  Record equal = Costing(50, 100, "ops");
  equal.producer = "second";
  HONE_ASSERT_OK_AND_ASSIGN(published, store_->Publish(equal));
  EXPECT_TRUE(published);
  EXPECT_EQ(store_->Lookup(SampleKey())->producer, "second");
  HONE_ASSERT_OK_AND_ASSIGN(published,
                            store_->Publish(Costing(900, 901, "ns")));
  EXPECT_TRUE(published);
}

TEST_P(Publish, TimesAreComparedByTheirRatioToTheDefault) {
  HONE_ASSERT_OK(store_->Publish(Costing(80, 100, "ns")));
  // On a slower day: more nanoseconds, and a better result.
  HONE_ASSERT_OK_AND_ASSIGN(bool published,
                            store_->Publish(Costing(140, 200, "ns")));
  EXPECT_TRUE(published);
  HONE_ASSERT_OK_AND_ASSIGN(published, store_->Publish(Costing(75, 100, "ns")));
  EXPECT_FALSE(published);
  EXPECT_EQ(store_->Lookup(SampleKey())->best_cost, 140);
}

TEST_P(Publish, ARecordWithoutAComparableResultReplacesNoOther) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  HONE_ASSERT_OK_AND_ASSIGN(bool published,
                            store_->Publish(Costing(nan, 100, "ops")));
  EXPECT_TRUE(published);
  HONE_ASSERT_OK_AND_ASSIGN(published,
                            store_->Publish(Costing(90, 100, "ops")));
  EXPECT_TRUE(published);
  HONE_ASSERT_OK_AND_ASSIGN(published,
                            store_->Publish(Costing(nan, 100, "ops")));
  EXPECT_FALSE(published);
}

TEST_P(Publish, RecordsOfOtherKeysAreNotCompared) {
  HONE_ASSERT_OK(store_->Publish(Costing(10, 100, "ops")));
  Record other = Costing(90, 100, "ops");
  other.key.space_version = "2:cse,dce";
  HONE_ASSERT_OK_AND_ASSIGN(const bool published, store_->Publish(other));
  EXPECT_TRUE(published);
  EXPECT_EQ(store_->Lookup(SampleKey())->best_cost, 10);
  EXPECT_EQ(store_->Lookup(other.key)->best_cost, 90);
}

// Whatever the order in which they arrive, the best of all is published, and at
// no time does a lookup get worse.
TEST_P(Publish, ConcurrentPublicationsKeepTheBest) {
  constexpr int kThreads = 8;
  constexpr int kRecords = 25;
  std::atomic<bool> done = false;
  std::thread reader([&] {
    double last = std::numeric_limits<double>::infinity();
    while (!done) {
      const absl::StatusOr<Record> record = store_->Lookup(SampleKey());
      if (!record.ok()) continue;
      EXPECT_LE(record->best_cost, last);
      last = record->best_cost;
    }
  });
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([this, i] {
      Rng rng(static_cast<uint64_t>(i));
      for (int r = 0; r < kRecords; ++r) {
        // The best of all comes from one thread, somewhere in the middle.
        const double cost = i == 3 && r == kRecords / 2
                                ? 1
                                : 2 + static_cast<double>(rng.Below(98));
        HONE_EXPECT_OK(store_->Publish(Costing(cost, 100, "ops")));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  done = true;
  reader.join();
  EXPECT_EQ(store_->Lookup(SampleKey())->best_cost, 1);
  EXPECT_EQ(store_->Stats()->records, 1);
}

INSTANTIATE_TEST_SUITE_P(Stores, Publish, AllStores(), NameOf);

}  // namespace
}  // namespace hone::storage
