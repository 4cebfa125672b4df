#include "tuning/trial_writer.h"

#include <vector>

#include "absl/synchronization/notification.h"
#include "gtest/gtest.h"

#include "storage/memory_store.h"
#include "tests/support/fake_clock.h"
#include "tests/support/status_matchers.h"

namespace hone::tuning {
namespace {

class TrialWriterTest : public ::testing::Test {
 protected:
  TrialWriterTest() {
    storage::Tuning tuning;
    tuning.id = "t";
    HONE_EXPECT_OK(store_.CreateTuning(tuning));
  }
  void Add() {
    space::Trial trial;
    trial.id = next_++;
    HONE_ASSERT_OK(writer_.Add(trial));
  }
  size_t stored() { return store_.ListTrials("t")->size(); }

  hone::testing::FakeClock clock_;
  storage::MemoryStore store_{clock_};
  TrialWriter writer_{store_, clock_, "t"};
  int64_t next_ = 0;
};

// Whether by the next one or by the writer's own thread before it.
TEST_F(TrialWriterTest, ATrialThatIsDueIsStoredWithTheNextAtTheLatest) {
  Add();
  clock_.Advance(absl::Milliseconds(300));
  Add();
  EXPECT_GE(stored(), 1u);
}

TEST_F(TrialWriterTest, FastTrialsAreStoredTogether) {
  for (int i = 0; i < 63; ++i) Add();
  EXPECT_EQ(stored(), 0u);
  Add();
  EXPECT_EQ(stored(), 64u);
}

TEST_F(TrialWriterTest, FlushStoresWhatWaits) {
  Add();
  HONE_ASSERT_OK(writer_.Flush());
  HONE_ASSERT_OK(writer_.Flush());
  EXPECT_EQ(stored(), 1u);
}

TEST_F(TrialWriterTest, ATrialThatNoneFollowsIsStoredWhenItIsDue) {
  absl::Notification is_stored;
  TrialWriter writer(store_, clock_, "t", [&](const space::Trial& trial) {
    EXPECT_EQ(trial.id, 0);
    is_stored.Notify();
  });
  HONE_ASSERT_OK(writer.Add({}));
  clock_.Advance(absl::Milliseconds(199));
  EXPECT_EQ(stored(), 0u);
  clock_.Advance(absl::Milliseconds(1));
  is_stored.WaitForNotification();
  EXPECT_EQ(stored(), 1u);
}

TEST_F(TrialWriterTest, TellsWhatIsStoredInOrder) {
  std::vector<int64_t> told;
  TrialWriter writer(store_, clock_, "t", [&](const space::Trial& trial) {
    EXPECT_GT(stored(), static_cast<size_t>(trial.id));
    told.push_back(trial.id);
  });
  for (int64_t id = 0; id < 3; ++id) {
    space::Trial trial;
    trial.id = id;
    HONE_ASSERT_OK(writer.Add(trial));
  }
  EXPECT_TRUE(told.empty());
  HONE_ASSERT_OK(writer.Flush());
  EXPECT_EQ(told, (std::vector<int64_t>{0, 1, 2}));
}

TEST_F(TrialWriterTest, ErrorsOfTheStoreComeOut) {
  TrialWriter lost(store_, clock_, "nope");
  HONE_ASSERT_OK(lost.Add({}));
  EXPECT_TRUE(absl::IsNotFound(lost.Flush()));
}

}  // namespace
}  // namespace hone::tuning
