// What every Store keeps of what ends processes.
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "storage/sqlite/sqlite_store.h"
#include "tests/storage/samples.h"
#include "tests/storage/stores.h"

namespace hone::storage {
namespace {

using ::hone::testing::StatusIs;
using ::testing::_;
using ::testing::HasSubstr;

class QuarantineContract : public StoreTest {};

TEST_P(QuarantineContract, AttemptsCountUntilThereIsANewTrial) {
  Create("t");
  for (int64_t i = 1; i <= 3; ++i) {
    HONE_ASSERT_OK_AND_ASSIGN(const int64_t attempts,
                              store_->CountAttempt("t"));
    EXPECT_EQ(attempts, i);
  }
  HONE_ASSERT_OK(store_->AppendTrials("t", SampleTrials(0, 2)));
  HONE_ASSERT_OK_AND_ASSIGN(int64_t attempts, store_->CountAttempt("t"));
  EXPECT_EQ(attempts, 1);
  HONE_ASSERT_OK_AND_ASSIGN(attempts, store_->CountAttempt("t"));
  EXPECT_EQ(attempts, 2);
  EXPECT_THAT(store_->CountAttempt("nope"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("nope")));
}

TEST_P(QuarantineContract, ModulesAreSetAsideAndTakenBack) {
  HONE_ASSERT_OK(store_->SetAside({"b", "signal 11", absl::FromUnixNanos(7)}));
  HONE_ASSERT_OK(store_->SetAside({"a", "hangs", absl::FromUnixNanos(8)}));
  HONE_ASSERT_OK(store_->SetAside({"b", "signal 6", absl::FromUnixNanos(9)}));
  HONE_ASSERT_OK_AND_ASSIGN(const auto modules, store_->ListSetAside());
  ASSERT_EQ(modules.size(), 2u);
  EXPECT_EQ(modules[0].digest, "a");
  EXPECT_EQ(modules[1].digest, "b");
  EXPECT_EQ(modules[1].reason, "signal 6");
  EXPECT_EQ(modules[1].since, absl::FromUnixNanos(9));
  HONE_ASSERT_OK(store_->TakeBack("b"));
  EXPECT_THAT(store_->TakeBack("b"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("'b'")));
  HONE_ASSERT_OK_AND_ASSIGN(const auto left, store_->ListSetAside());
  EXPECT_EQ(left.size(), 1u);
}

TEST_P(QuarantineContract, TheTargetOfAnUnfinishedTuningCanBeSet) {
  Create("t");
  HONE_ASSERT_OK(store_->SetTuningTarget("t", "cpu:1"));
  HONE_ASSERT_OK_AND_ASSIGN(const Tuning tuning, store_->GetTuning("t"));
  EXPECT_EQ(tuning.key.target, "cpu:1");
  // It is found by its new key.
  Tuning twin = SampleTuning("twin");
  twin.key.target = "cpu:1";
  twin.seed = tuning.seed;
  HONE_ASSERT_OK_AND_ASSIGN(const Tuning joined, store_->CreateTuning(twin));
  EXPECT_EQ(joined.id, "t");
  HONE_ASSERT_OK(store_->SetTuningState("t", TuningState::kCancelled, ""));
  EXPECT_THAT(store_->SetTuningTarget("t", "cpu:2"),
              StatusIs(absl::StatusCode::kFailedPrecondition, _));
  EXPECT_THAT(store_->SetTuningTarget("nope", "cpu:2"),
              StatusIs(absl::StatusCode::kNotFound, _));
}

INSTANTIATE_TEST_SUITE_P(Stores, QuarantineContract, AllStores(), NameOf);

TEST(SqliteQuarantine, OutlivesTheProcess) {
  const TemporaryDirectory directory;
  {
    HONE_ASSERT_OK_AND_ASSIGN(const auto store,
                              SqliteStore::Create(directory.path()));
    HONE_ASSERT_OK(store->CreateTuning(SampleTuning("t")).status());
    HONE_ASSERT_OK(store->CountAttempt("t").status());
    HONE_ASSERT_OK(store->SetAside({"a", "hangs", absl::FromUnixNanos(8)}));
  }
  HONE_ASSERT_OK_AND_ASSIGN(const auto store,
                            SqliteStore::Create(directory.path()));
  HONE_ASSERT_OK_AND_ASSIGN(const int64_t attempts, store->CountAttempt("t"));
  EXPECT_EQ(attempts, 2);
  HONE_ASSERT_OK_AND_ASSIGN(const auto modules, store->ListSetAside());
  ASSERT_EQ(modules.size(), 1u);
  EXPECT_EQ(modules[0].reason, "hangs");
}

}  // namespace
}  // namespace hone::storage
