#include "hlo/evaluator/buffer_pool.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

#include <sys/mman.h>

namespace hone::hlo::evaluator {
namespace {

constexpr int64_t kAlignment = 64;

// Sizes are rounded up to a quarter of a power of two, so that buffers of
// similar instructions fit each other.
int64_t Capacity(int64_t bytes) {
  const uint64_t size = static_cast<uint64_t>(std::max<int64_t>(bytes, 64));
  const uint64_t step = std::max<uint64_t>(std::bit_floor(size) / 4, 64);
  return static_cast<int64_t>((size + step - 1) / step * step);
}

// Buffers of this size and more lie on huge pages, where there are some: of
// small ones, the operating system's work on a page costs more than most
// instructions' own.
constexpr int64_t kHugePage = int64_t{2} << 20;

std::byte* NewBuffer(int64_t capacity) {
  const bool is_huge = capacity >= kHugePage;
  auto* const data = static_cast<std::byte*>(
      std::aligned_alloc(static_cast<size_t>(is_huge ? kHugePage : kAlignment),
                         static_cast<size_t>(capacity)));
  // Advice: without it, pages are small.
  if (is_huge && data != nullptr) {
    static_cast<void>(
        madvise(data, static_cast<size_t>(capacity), MADV_HUGEPAGE));
  }
  return data;
}

void Free(std::byte* data) { std::free(data); }

}  // namespace

std::shared_ptr<BufferPool> BufferPool::Create(int64_t max_live_bytes) {
  return std::shared_ptr<BufferPool>(new BufferPool(max_live_bytes));
}

BufferPool::~BufferPool() {
  for (auto& [capacity, buffers] : free_) {
    for (std::byte* data : buffers) Free(data);
  }
}

std::shared_ptr<std::byte[]> BufferPool::Allocate(int64_t bytes) {
  if (bytes > max_live_bytes_) return nullptr;
  const int64_t capacity = Capacity(bytes);
  std::byte* data = nullptr;
  std::vector<std::byte*> evicted;
  {
    absl::MutexLock lock(&mu_);
    if (live_bytes_ + capacity > max_live_bytes_) return nullptr;
    live_bytes_ += capacity;
    if (auto it = free_.find(capacity); it != free_.end()) {
      data = it->second.back();
      it->second.pop_back();
      if (it->second.empty()) free_.erase(it);
      free_bytes_ -= capacity;
    }
    // Unused buffers count against the limit, too.
    while (!free_.empty() && live_bytes_ + free_bytes_ > max_live_bytes_) {
      auto largest = std::prev(free_.end());
      evicted.push_back(largest->second.back());
      free_bytes_ -= largest->first;
      largest->second.pop_back();
      if (largest->second.empty()) free_.erase(largest);
    }
  }
  for (std::byte* buffer : evicted) Free(buffer);
  if (data == nullptr) {
    data = NewBuffer(capacity);
    if (data == nullptr) {
      absl::MutexLock lock(&mu_);
      live_bytes_ -= capacity;
      return nullptr;
    }
  }
  return std::shared_ptr<std::byte[]>(
      data, [pool = shared_from_this(), capacity](std::byte* buffer) {
        pool->Release(buffer, capacity);
      });
}

int64_t BufferPool::live_bytes() const {
  absl::MutexLock lock(&mu_);
  return live_bytes_;
}

void BufferPool::Release(std::byte* data, int64_t capacity) {
  absl::MutexLock lock(&mu_);
  live_bytes_ -= capacity;
  free_bytes_ += capacity;
  free_[capacity].push_back(data);
}

}  // namespace hone::hlo::evaluator
