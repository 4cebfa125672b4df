#ifndef HONE_DAEMON_LRU_MAP_H_
#define HONE_DAEMON_LRU_MAP_H_

#include <cstddef>
#include <list>
#include <optional>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"

namespace hone::daemon {

// A map from strings that keeps the `capacity` (≥ 1) most recently used
// entries. Threads: thread-safe; no call blocks for longer than a map
// operation.
template <typename Value>
class LruMap {
 public:
  explicit LruMap(size_t capacity) : capacity_(capacity) {}

  // A copy of the entry, which counts as used.
  std::optional<Value> Find(absl::string_view key) {
    absl::MutexLock lock(&mu_);
    auto it = index_.find(key);
    if (it == index_.end()) return std::nullopt;
    order_.splice(order_.begin(), order_, it->second);
    return it->second->second;
  }

  // Adds or replaces the entry.
  void Insert(absl::string_view key, Value value) {
    absl::MutexLock lock(&mu_);
    if (auto it = index_.find(key); it != index_.end()) {
      it->second->second = std::move(value);
      order_.splice(order_.begin(), order_, it->second);
      return;
    }
    order_.emplace_front(std::string(key), std::move(value));
    index_.emplace(order_.front().first, order_.begin());
    if (order_.size() > capacity_) {
      index_.erase(order_.back().first);
      order_.pop_back();
    }
  }

  void Erase(absl::string_view key) {
    absl::MutexLock lock(&mu_);
    auto it = index_.find(key);
    if (it == index_.end()) return;
    order_.erase(it->second);
    index_.erase(it);
  }

  void Clear() {
    absl::MutexLock lock(&mu_);
    index_.clear();
    order_.clear();
  }

 private:
  using Entry = std::pair<std::string, Value>;

  const size_t capacity_;
  absl::Mutex mu_;
  std::list<Entry> order_ ABSL_GUARDED_BY(mu_);  // Last used first.
  absl::flat_hash_map<std::string, typename std::list<Entry>::iterator> index_
      ABSL_GUARDED_BY(mu_);
};

}  // namespace hone::daemon

#endif  // HONE_DAEMON_LRU_MAP_H_
