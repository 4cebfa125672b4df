#ifndef HONE_DAEMON_STORE_KEEPER_H_
#define HONE_DAEMON_STORE_KEEPER_H_

#include <functional>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"

#include "storage/store.h"

namespace hone::daemon {

// Takes a round of retention every minute, step by step, on a thread of its
// own. While the store cannot be written to, it tries every few seconds, so
// that the store recovers without a request.
class StoreKeeper {
 public:
  // `store` outlives the keeper. `on_change` gets whether the store can be
  // written to when that changes; at the beginning it can.
  StoreKeeper(storage::Store& store, const storage::RetentionPolicy& policy,
              std::function<void(bool writable)> on_change);
  // Ends after the current step.
  ~StoreKeeper();
  StoreKeeper(const StoreKeeper&) = delete;
  StoreKeeper& operator=(const StoreKeeper&) = delete;

 private:
  void Work();
  // Sweeps until there is no more, and reports the health after each step.
  void TakeRound();
  bool stopping();

  storage::Store& store_;
  const storage::RetentionPolicy policy_;
  const std::function<void(bool)> on_change_;
  // Used by the thread only.
  bool is_writable_ = true;
  absl::Mutex mu_;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  std::thread thread_;  // last: uses the others
};

}  // namespace hone::daemon

#endif  // HONE_DAEMON_STORE_KEEPER_H_
