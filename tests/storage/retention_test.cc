// What is removed for its age, for the size of the store, or because nothing
// needs it; and what is not.
#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/rng.h"
#include "base/temporary_directory.h"
#include "storage/sqlite/sqlite_store.h"
#include "tests/storage/samples.h"
#include "tests/support/fake_clock.h"
#include "tests/support/status_matchers.h"

namespace hone::storage {
namespace {

using ::hone::testing::StatusIs;
using ::testing::_;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::string RandomBytes(size_t size, uint64_t seed) {
  Rng rng(seed);
  std::string bytes(size, '\0');
  for (char& c : bytes) c = static_cast<char>(rng.Next());
  return bytes;
}

class RetentionTest : public ::testing::Test {
 protected:
  RetentionTest() {
    SqliteOptions options;
    options.clock = &clock_;
    store_ = *SqliteStore::Create(directory_.path(), options);
  }

  // A finished tuning with its blobs and record.
  void Tune(const std::string& module, size_t blob_bytes = 100) {
    Tuning tuning = SampleTuning("t-" + module, module);
    tuning.module_digest = *store_->PutBlob(
        RandomBytes(blob_bytes, std::hash<std::string>{}(module)));
    HONE_ASSERT_OK(store_->CreateTuning(tuning).status());
    HONE_ASSERT_OK(store_->AppendTrials(tuning.id, SampleTrials(0, 10)));
    Record record = SampleRecord(module);
    record.tuning_id = tuning.id;
    record.tuned_module_digest = *store_->PutBlob("tuned " + module);
    HONE_ASSERT_OK(store_->Publish(record).status());
  }

  void Create(const std::string& id) {
    Tuning tuning = SampleTuning(id);
    tuning.module_digest = *store_->PutBlob("module of " + id);
    HONE_ASSERT_OK(store_->CreateTuning(tuning).status());
  }

  // Steps until there is no more; returns the sum.
  SweepResult SweepAll(const RetentionPolicy& policy) {
    SweepResult sum;
    for (int step = 0; step < 1000; ++step) {
      const absl::StatusOr<SweepResult> result = store_->Sweep(policy);
      EXPECT_THAT(result, hone::testing::IsOk());
      if (!result.ok()) break;
      sum.expired.insert(sum.expired.end(), result->expired.begin(),
                         result->expired.end());
      sum.evicted.insert(sum.evicted.end(), result->evicted.begin(),
                         result->evicted.end());
      sum.tunings += result->tunings;
      sum.blobs += result->blobs;
      if (!result->more) break;
    }
    return sum;
  }

  bool Has(const std::string& module) {
    return store_->Lookup(SampleKey(module)).ok();
  }

  // Later than the files' own times, which the disk sets.
  testing::FakeClock clock_{absl::Now() + absl::Hours(100)};
  TemporaryDirectory directory_;
  std::unique_ptr<SqliteStore> store_;
};

TEST_F(RetentionTest, WithoutLimitsEverythingThatIsNeededStays) {
  Tune("a");
  clock_.Advance(absl::Hours(24 * 1000));
  const SweepResult result = SweepAll({});
  EXPECT_EQ(result.tunings + result.blobs, 0);
  EXPECT_TRUE(Has("a"));
  HONE_ASSERT_OK_AND_ASSIGN(const StoreStats stats, store_->Stats());
  EXPECT_EQ(stats.blobs, 2);
}

TEST_F(RetentionTest, WhatIsOldAndUnusedGoesWithItsBlobs) {
  const RetentionPolicy policy{.max_age = absl::Hours(24 * 30)};
  Tune("unused");
  Tune("used");
  Create("unfinished");
  clock_.Advance(absl::Hours(24 * 20));
  EXPECT_TRUE(Has("used"));
  SweepAll(policy);  // stores the use
  clock_.Advance(absl::Hours(24 * 20));
  Tune("new");
  const SweepResult result = SweepAll(policy);
  ASSERT_THAT(result.expired, SizeIs(1));
  EXPECT_EQ(result.expired[0], SampleKey("unused"));
  EXPECT_THAT(result.evicted, IsEmpty());
  // Both old logs went, and the blobs that nothing else needs.
  EXPECT_EQ(result.tunings, 2);
  EXPECT_EQ(result.blobs, 3);
  EXPECT_FALSE(Has("unused"));
  EXPECT_TRUE(Has("used"));
  EXPECT_TRUE(Has("new"));
  HONE_EXPECT_OK(store_->GetTuning("unfinished").status());
  EXPECT_THAT(store_->ListTrials("t-unused"),
              StatusIs(absl::StatusCode::kNotFound, _));
}

TEST_F(RetentionTest, BeyondItsSizeTheStoreLosesWhatWasUsedLongestAgo) {
  constexpr int kModules = 40;
  for (int i = 0; i < kModules; ++i) {
    Tune(absl::StrCat("m", i), 200'000);
    clock_.Advance(absl::Hours(1));
  }
  SweepAll({});
  clock_.Advance(absl::Hours(2));
  EXPECT_TRUE(Has("m3"));
  SweepAll({});  // stores the use
  clock_.Advance(absl::Hours(2));
  constexpr int64_t kMaxBytes = 4'000'000;
  const SweepResult result = SweepAll({.max_bytes = kMaxBytes});
  HONE_ASSERT_OK_AND_ASSIGN(const StoreStats stats, store_->Stats());
  EXPECT_LT(stats.bytes - stats.wal_bytes, kMaxBytes + 500'000);
  EXPECT_GT(result.evicted.size(), 15u);
  EXPECT_LT(result.evicted.size(), 30u);
  EXPECT_FALSE(Has("m0"));
  EXPECT_FALSE(Has("m4"));
  EXPECT_TRUE(Has("m3"));
  EXPECT_TRUE(Has(absl::StrCat("m", kModules - 1)));
  EXPECT_EQ(result.tunings, static_cast<int64_t>(result.evicted.size()) + 1);
  // A second round finds nothing to do.
  EXPECT_THAT(SweepAll({.max_bytes = kMaxBytes}).evicted, IsEmpty());
}

TEST_F(RetentionTest, ALimitThatCannotBeMetDoesNotLoop) {
  Tune("a");
  HONE_ASSERT_OK(store_->PutBlob(RandomBytes(500'000, 1)).status());
  clock_.Advance(absl::Hours(1));
  SweepAll({.max_bytes = 100'000});
  EXPECT_FALSE(Has("a"));
  EXPECT_FALSE(store_->Sweep({.max_bytes = 100'000})->more);
}

TEST_F(RetentionTest, BlobsGoWhenNothingNeedsThemForADay) {
  Tuning tuning = SampleTuning("t");
  tuning.module_digest = *store_->PutBlob(RandomBytes(300'000, 1));
  HONE_ASSERT_OK(store_->CreateTuning(tuning).status());
  HONE_ASSERT_OK_AND_ASSIGN(const std::string upload,
                            store_->PutBlob(RandomBytes(300'000, 2)));
  HONE_ASSERT_OK_AND_ASSIGN(const std::string asked_for,
                            store_->PutBlob("asked for"));
  SweepAll({});  // stores the uses
  clock_.Advance(absl::Hours(23));
  EXPECT_EQ(SweepAll({}).blobs, 0);
  EXPECT_TRUE(*store_->HasBlob(asked_for));
  clock_.Advance(absl::Hours(2));
  EXPECT_EQ(SweepAll({}).blobs, 1);
  EXPECT_FALSE(*store_->HasBlob(upload));
  EXPECT_FALSE(std::filesystem::exists(absl::StrCat(
      directory_.path(), "/blobs/", upload.substr(0, 2), "/", upload, ".zst")));
  EXPECT_TRUE(*store_->HasBlob(asked_for));
  HONE_EXPECT_OK(store_->GetBlob(tuning.module_digest).status());
  // What was removed can be stored again.
  HONE_EXPECT_OK(store_->PutBlob(RandomBytes(300'000, 2)).status());
  HONE_EXPECT_OK(store_->GetBlob(upload).status());
}

TEST_F(RetentionTest, FilesWithoutARowGo) {
  const std::string digest(64, 'a');
  const std::string folder = directory_.path() + "/blobs/aa";
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/" + digest + ".zst") << "x";
  for (int i = 0; i < 256; ++i) HONE_ASSERT_OK(store_->Sweep({}).status());
  EXPECT_TRUE(std::filesystem::is_empty(folder));
}

TEST_F(RetentionTest, ABlobThatIsStoredWhileItIsRemovedIsThere) {
  std::atomic<bool> stop = false;
  std::thread sweeper([&] {
    while (!stop) {
      HONE_EXPECT_OK(store_->Sweep({.max_age = absl::ZeroDuration()}).status());
    }
  });
  for (int i = 0; i < 200; ++i) {
    // The blob of four rounds ago is old now, and its tuning has ended.
    clock_.Advance(absl::Hours(25));
    const std::string bytes =
        RandomBytes(i % 2 == 0 ? 200 : 150'000, static_cast<uint64_t>(i % 4));
    HONE_ASSERT_OK_AND_ASSIGN(const std::string digest, store_->PutBlob(bytes));
    const std::string id = absl::StrCat("t", i);
    Tuning tuning = SampleTuning(id);
    tuning.module_digest = digest;
    HONE_ASSERT_OK(store_->CreateTuning(tuning).status());
    // It stays, as long as the tuning runs.
    clock_.Advance(absl::Hours(25));
    HONE_ASSERT_OK(store_->Sweep({}).status());
    const absl::StatusOr<std::string> back = store_->GetBlob(digest);
    EXPECT_THAT(back, hone::testing::IsOk());
    if (back.ok()) {
      EXPECT_EQ(*back, bytes);
    }
    HONE_ASSERT_OK(store_->SetTuningState(id, TuningState::kFailed, ""));
  }
  stop = true;
  sweeper.join();
}

}  // namespace
}  // namespace hone::storage
