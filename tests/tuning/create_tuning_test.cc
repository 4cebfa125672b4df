#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "hlo/analysis/fingerprint.h"
#include "storage/memory_store.h"
#include "tests/support/fake_clock.h"
#include "tests/support/status_matchers.h"
#include "tests/tuning/sample_modules.h"
#include "tuning/stored_module.h"
#include "tuning/tuner.h"

namespace hone::tuning {
namespace {

class CreateTuningTest : public ::testing::Test {
 protected:
  storage::Tuning Create(const TuningSpec& request) {
    return CreateTuning(context_, request, module_).value();
  }

  hone::testing::FakeClock clock_;
  storage::MemoryStore store_{clock_};
  TunerContext context_{.store = &store_, .clock = &clock_};
  const hlo::Module module_ = ParseOrDie(kSimplifiable);
};

TEST_F(CreateTuningTest, StoresWhatIsNeededToRunIt) {
  TuningSpec request;
  request.seed = 3;
  request.budget = {.trials = 7, .time = absl::Seconds(9)};
  const storage::Tuning tuning = Create(request);
  HONE_ASSERT_OK_AND_ASSIGN(const storage::Tuning stored,
                            store_.GetTuning(tuning.id));
  EXPECT_EQ(stored.state, storage::TuningState::kPending);
  EXPECT_EQ(stored.optimizer, "guided");
  EXPECT_EQ(stored.seed, 3u);
  EXPECT_EQ(stored.budget.trials, 7);
  EXPECT_EQ(stored.budget.time, absl::Seconds(9));
  EXPECT_EQ(stored.created, clock_.Now());
  EXPECT_EQ(stored.module_name, "simplifiable");
  HONE_ASSERT_OK_AND_ASSIGN(const hlo::Module module,
                            ReadStoredModule(store_, stored.module_digest));
  EXPECT_EQ(hlo::Fingerprint(module), stored.key.module_fingerprint);
}

TEST_F(CreateTuningTest, AnUnfinishedOneOfTheSameSearchIsReturned) {
  const storage::Tuning first = Create({});
  EXPECT_EQ(Create({}).id, first.id);
  TuningSpec other_seed;
  other_seed.seed = 1;
  TuningSpec other_optimizer;
  other_optimizer.optimizer = "random";
  const storage::Tuning second = Create(other_seed);
  const storage::Tuning third = Create(other_optimizer);
  EXPECT_NE(second.id, first.id);
  EXPECT_NE(third.id, first.id);
  // The older ones of the same key are still found.
  EXPECT_EQ(Create({}).id, first.id);
  EXPECT_EQ(Create(other_seed).id, second.id);

  HONE_ASSERT_OK(
      store_.SetTuningState(first.id, storage::TuningState::kCancelled, ""));
  EXPECT_NE(Create({}).id, first.id);
}

TEST_F(CreateTuningTest, EqualRequestsAtTheSameMomentShareOne) {
  std::vector<std::string> ids(8);
  std::vector<std::thread> threads;
  for (std::string& id : ids) {
    threads.emplace_back([this, &id] { id = Create({}).id; });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(ids, ::testing::Each(ids[0]));
}

TEST_F(CreateTuningTest, ABadRequestStoresNothing) {
  TuningSpec request;
  request.optimizer = "nope";
  EXPECT_TRUE(
      absl::IsNotFound(CreateTuning(context_, request, module_).status()));
  HONE_ASSERT_OK_AND_ASSIGN(const storage::StoreStats stats, store_.Stats());
  EXPECT_EQ(stats.tunings, 0);
  EXPECT_EQ(stats.blobs, 0);
}

}  // namespace
}  // namespace hone::tuning
