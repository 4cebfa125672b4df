#ifndef HONE_HLO_EVALUATOR_BUFFER_POOL_H_
#define HONE_HLO_EVALUATOR_BUFFER_POOL_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

#include "hlo/evaluator/arena.h"

namespace hone::hlo::evaluator {

// Memory for intermediate results. Buffers that are given back are handed out
// again: fresh pages from the operating system cost more than most instructions
// do. Buffers may outlive the pool's owner.
// Threads: thread-safe.
class BufferPool : public std::enable_shared_from_this<BufferPool> {
 public:
  // Always held by a shared_ptr.
  static std::shared_ptr<BufferPool> Create(int64_t max_live_bytes);
  ~BufferPool();
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;

  // `bytes` of uninitialized memory, aligned to 64; null when more than
  // max_live_bytes would be in use, or the system has no more.
  std::shared_ptr<std::byte[]> Allocate(int64_t bytes);

  int64_t live_bytes() const;

 private:
  explicit BufferPool(int64_t max_live_bytes);
  // A free buffer of that capacity; null if there is none.
  std::byte* TakeFree(int64_t capacity) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Release(std::byte* data, int64_t capacity);

  const int64_t max_live_bytes_;
  mutable absl::Mutex mu_;
  int64_t live_bytes_ ABSL_GUARDED_BY(mu_) = 0;
  // Holds large buffers, while there is a place for them.
  Arena arena_ ABSL_GUARDED_BY(mu_);
  // The bytes of the buffers in free_.
  int64_t free_bytes_ ABSL_GUARDED_BY(mu_) = 0;
  // Free buffers outside of the arena, by capacity.
  std::map<int64_t, std::vector<std::byte*>> free_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hone::hlo::evaluator

#endif  // HONE_HLO_EVALUATOR_BUFFER_POOL_H_
