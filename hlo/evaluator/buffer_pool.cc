#include "hlo/evaluator/buffer_pool.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

namespace hone::hlo::evaluator {
namespace {

constexpr int64_t kAlignment = 64;

// Smaller buffers are kept by their size: they come and go by the million.
constexpr int64_t kLarge = int64_t{1} << 20;

// No arena is larger: a user may set any limit.
constexpr int64_t kLargestArena = int64_t{1} << 40;

// Small sizes are rounded up to a quarter of a power of two, so that buffers of
// similar instructions fit each other.
int64_t Capacity(int64_t bytes) {
  const uint64_t size = static_cast<uint64_t>(std::max<int64_t>(bytes, 64));
  if (bytes >= kLarge) return bytes;
  const uint64_t step = std::max<uint64_t>(std::bit_floor(size) / 4, 64);
  return static_cast<int64_t>((size + step - 1) / step * step);
}

std::byte* NewBuffer(int64_t capacity) {
  return static_cast<std::byte*>(
      std::aligned_alloc(static_cast<size_t>(kAlignment),
                         static_cast<size_t>((capacity + kAlignment - 1) /
                                             kAlignment * kAlignment)));
}

}  // namespace

std::shared_ptr<BufferPool> BufferPool::Create(int64_t max_live_bytes) {
  return std::shared_ptr<BufferPool>(new BufferPool(max_live_bytes));
}

BufferPool::BufferPool(int64_t max_live_bytes)
    : max_live_bytes_(max_live_bytes),
      arena_(std::min(max_live_bytes, kLargestArena)) {}

BufferPool::~BufferPool() {
  for (auto& [capacity, buffers] : free_) {
    for (std::byte* data : buffers) std::free(data);
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
    if (capacity >= kLarge) data = arena_.Allocate(capacity);
    if (data == nullptr) data = TakeFree(capacity);
    // Unused buffers outside of the arena count against the limit, too.
    while (!free_.empty() && live_bytes_ + free_bytes_ > max_live_bytes_) {
      evicted.push_back(TakeFree(free_.rbegin()->first));
    }
  }
  for (std::byte* buffer : evicted) std::free(buffer);
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

std::byte* BufferPool::TakeFree(int64_t capacity) {
  const auto it = free_.find(capacity);
  if (it == free_.end()) return nullptr;
  std::byte* const data = it->second.back();
  it->second.pop_back();
  if (it->second.empty()) free_.erase(it);
  free_bytes_ -= capacity;
  return data;
}

void BufferPool::Release(std::byte* data, int64_t capacity) {
  absl::MutexLock lock(&mu_);
  live_bytes_ -= capacity;
  if (arena_.Owns(data)) {
    arena_.Free(data, capacity);
    return;
  }
  free_bytes_ += capacity;
  free_[capacity].push_back(data);
}

}  // namespace hone::hlo::evaluator
