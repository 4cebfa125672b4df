#ifndef HONE_HLO_EVALUATOR_ARENA_H_
#define HONE_HLO_EVALUATOR_ARENA_H_

#include <cstddef>
#include <cstdint>
#include <map>

namespace hone::hlo::evaluator {

// Ranges of one stretch of address space. A range comes from the lowest place
// that holds it, so that pages in use before are used again, whatever the sizes
// they were used in; pages never used take no memory.
// Threads: not thread-safe.
class Arena {
 public:
  // Reserves that many bytes of addresses, once something is allocated.
  explicit Arena(int64_t bytes) : size_(RoundUp(bytes)) {}
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // Uninitialized memory, at an address that kGranule divides; null where no
  // place is left.
  std::byte* Allocate(int64_t bytes);
  // Takes back what Allocate returned for as many bytes.
  void Free(std::byte* data, int64_t bytes);

  bool Owns(const std::byte* data) const {
    return base_ != nullptr && data >= base_ && data < base_ + size_;
  }

  static constexpr int64_t kGranule = int64_t{1} << 16;

 private:
  static int64_t RoundUp(int64_t bytes) {
    return (bytes + kGranule - 1) / kGranule * kGranule;
  }
  // Maps the addresses; false where the system has none to give.
  bool Reserve();

  const int64_t size_;
  // The mapping; the first boundary of a huge page in it, where ranges begin.
  void* mapping_ = nullptr;
  std::byte* base_ = nullptr;
  bool has_failed_ = false;
  // Free ranges, which do not touch each other: begin to size, in bytes.
  std::map<int64_t, int64_t> free_;
};

}  // namespace hone::hlo::evaluator

#endif  // HONE_HLO_EVALUATOR_ARENA_H_
