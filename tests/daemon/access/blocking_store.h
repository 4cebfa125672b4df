#ifndef HONE_TESTS_DAEMON_ACCESS_BLOCKING_STORE_H_
#define HONE_TESTS_DAEMON_ACCESS_BLOCKING_STORE_H_

#include <atomic>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

#include "storage/memory_store.h"

namespace hone::testing {

// Where the calls of a BlockingStore wait. The daemon owns the store, the test
// the gate, which outlives the daemon.
class Gate {
 public:
  // Lets all pass from now on.
  void Open() {
    absl::MutexLock lock(&mu_);
    open_ = true;
  }
  // Lets one more pass.
  void Allow() {
    absl::MutexLock lock(&mu_);
    ++allowed_;
  }
  // Calls that have come to the gate.
  int arrived() const { return arrived_; }

  void Pass() {
    ++arrived_;
    absl::MutexLock lock(&mu_);
    const auto may_pass = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
      return open_ || allowed_ > 0;
    };
    mu_.Await(absl::Condition(&may_pass));
    if (!open_) --allowed_;
  }

 private:
  std::atomic<int> arrived_ = 0;
  absl::Mutex mu_;
  bool open_ ABSL_GUARDED_BY(mu_) = false;
  int allowed_ ABSL_GUARDED_BY(mu_) = 0;
};

// A store like a disk that hangs: the methods with a gate wait until it opens.
class BlockingStore final : public storage::MemoryStore {
 public:
  struct Gates {
    Gate* put_blob = nullptr;
    Gate* has_blob = nullptr;
    Gate* stats = nullptr;
  };
  explicit BlockingStore(Gates gates) : gates_(gates) {}

  absl::StatusOr<std::string> PutBlob(absl::string_view bytes) override {
    if (gates_.put_blob != nullptr) gates_.put_blob->Pass();
    return MemoryStore::PutBlob(bytes);
  }
  absl::StatusOr<bool> HasBlob(absl::string_view digest) override {
    if (gates_.has_blob != nullptr) gates_.has_blob->Pass();
    return MemoryStore::HasBlob(digest);
  }
  absl::StatusOr<storage::StoreStats> Stats() override {
    // The first call belongs to the daemon's start.
    if (gates_.stats != nullptr && asked_.exchange(true)) gates_.stats->Pass();
    return MemoryStore::Stats();
  }

 private:
  const Gates gates_;
  std::atomic<bool> asked_ = false;
};

}  // namespace hone::testing

#endif  // HONE_TESTS_DAEMON_ACCESS_BLOCKING_STORE_H_
