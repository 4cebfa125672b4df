#include "hlo/evaluator/arena.h"

#include <algorithm>
#include <iterator>

#include <sys/mman.h>

namespace hone::hlo::evaluator {
namespace {

// Arrays lie on huge pages, where there are some: what the operating system
// does for a small page takes longer than most instructions' work on it.
constexpr int64_t kHugePage = int64_t{2} << 20;

}  // namespace

Arena::~Arena() {
  if (mapping_ != nullptr) {
    munmap(mapping_, static_cast<size_t>(size_ + kHugePage));
  }
}

std::byte* Arena::Allocate(int64_t bytes) {
  if (base_ == nullptr && !Reserve()) return nullptr;
  const int64_t size = RoundUp(bytes);
  const auto it = std::find_if(free_.begin(), free_.end(),
                               [&](const auto& f) { return f.second >= size; });
  if (it == free_.end()) return nullptr;
  const auto [begin, available] = *it;
  const auto next = free_.erase(it);
  if (available > size) {
    free_.emplace_hint(next, begin + size, available - size);
  }
  return base_ + begin;
}

void Arena::Free(std::byte* data, int64_t bytes) {
  auto it = free_.emplace(data - base_, RoundUp(bytes)).first;
  if (const auto next = std::next(it);
      next != free_.end() && it->first + it->second == next->first) {
    it->second += next->second;
    free_.erase(next);
  }
  if (it == free_.begin()) return;
  const auto before = std::prev(it);
  if (before->first + before->second != it->first) return;
  before->second += it->second;
  free_.erase(it);
}

bool Arena::Reserve() {
  if (has_failed_) return false;
  const auto length = static_cast<size_t>(size_ + kHugePage);
  void* const mapping =
      mmap(nullptr, length, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) {
    has_failed_ = true;
    return false;
  }
  mapping_ = mapping;
  // Advice: without it, pages are small.
  static_cast<void>(madvise(mapping, length, MADV_HUGEPAGE));
  const auto address = reinterpret_cast<uintptr_t>(mapping);
  const uintptr_t past = address % static_cast<uintptr_t>(kHugePage);
  base_ = static_cast<std::byte*>(mapping) +
          (past == 0 ? 0 : static_cast<uintptr_t>(kHugePage) - past);
  free_.emplace(0, size_);
  return true;
}

}  // namespace hone::hlo::evaluator
