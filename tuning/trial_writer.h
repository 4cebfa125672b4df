#ifndef HONE_TUNING_TRIAL_WRITER_H_
#define HONE_TUNING_TRIAL_WRITER_H_

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

#include "base/clock.h"
#include "space/trial.h"
#include "storage/store.h"

namespace hone::tuning {

// Stores trials as they happen, fast ones in groups. A trial waits for at most
// 200 ms, whether or not another one follows.
// Threads: Add and Flush by one thread at a time.
class TrialWriter {
 public:
  // Gets each trial once it is stored, in order; on the thread of Add and
  // Flush, or on the writer's own.
  using StoredCallback = std::function<void(const space::Trial&)>;

  TrialWriter(storage::Store& store, const Clock& clock, std::string tuning_id,
              StoredCallback on_stored = nullptr);
  // Does not flush.
  ~TrialWriter();
  TrialWriter(const TrialWriter&) = delete;
  TrialWriter& operator=(const TrialWriter&) = delete;

  // Errors: the store's, of this trial or of those before it. They wait to be
  // stored by a later call.
  absl::Status Add(const space::Trial& trial);
  absl::Status Flush();

 private:
  absl::Status FlushLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Flushes when the first waiting trial is due.
  void Work();

  storage::Store& store_;
  const Clock& clock_;
  const std::string tuning_id_;
  const StoredCallback on_stored_;
  absl::Mutex mu_;
  std::vector<space::Trial> waiting_ ABSL_GUARDED_BY(mu_);
  size_t waiting_choices_ ABSL_GUARDED_BY(mu_) = 0;
  absl::Duration first_waits_since_ ABSL_GUARDED_BY(mu_);
  // The error of a flush by the writer's own thread; the next Add returns it.
  absl::Status error_ ABSL_GUARDED_BY(mu_);
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  std::thread thread_;  // last: uses the others
};

}  // namespace hone::tuning

#endif  // HONE_TUNING_TRIAL_WRITER_H_
