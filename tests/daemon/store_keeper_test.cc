#include "daemon/store_keeper.h"

#include <atomic>
#include <vector>

#include "absl/status/status.h"
#include "absl/synchronization/notification.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "storage/memory_store.h"

namespace hone::daemon {
namespace {

// A store in memory whose health and retention are scripted.
class ScriptedStore : public storage::MemoryStore {
 public:
  absl::Status Health() override {
    absl::MutexLock lock(&mu_);
    return health_;
  }
  absl::StatusOr<storage::SweepResult> Sweep(
      const storage::RetentionPolicy& policy) override {
    absl::MutexLock lock(&mu_);
    EXPECT_EQ(policy.max_bytes, 7);
    ++steps_;
    // Broken for two steps, then there are two more to take.
    health_ = steps_ == 2 || steps_ == 3
                  ? absl::ResourceExhaustedError("disk full")
                  : absl::OkStatus();
    if (steps_ == 6) done_.Notify();
    storage::SweepResult result;
    result.more = steps_ == 1 || steps_ >= 4;
    return result;
  }

  absl::Notification done_;

 private:
  absl::Mutex mu_;
  absl::Status health_ ABSL_GUARDED_BY(mu_);
  int steps_ ABSL_GUARDED_BY(mu_) = 0;
};

TEST(StoreKeeper, SweepsWhileThereIsMoreAndReportsChangesOfHealth) {
  ScriptedStore store;
  std::vector<bool> changes;
  {
    storage::RetentionPolicy policy;
    policy.max_bytes = 7;
    StoreKeeper keeper(store, policy,
                       [&](bool writable) { changes.push_back(writable); });
    store.done_.WaitForNotification();
  }
  EXPECT_EQ(changes, (std::vector<bool>{false, true}));
}

}  // namespace
}  // namespace hone::daemon
