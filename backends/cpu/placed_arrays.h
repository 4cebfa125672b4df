#ifndef HONE_BACKENDS_CPU_PLACED_ARRAYS_H_
#define HONE_BACKENDS_CPU_PLACED_ARRAYS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace hone::backends {

// Memory for the arrays of a kernel that is timed, so that where they lie is no
// difference between two processes: each begins at a boundary of 2 MiB plus 17
// cache lines for each array before it, so that not all begin in the same set
// of a cache, and those of 2 MiB and more are in huge pages where the system
// has them. bench/kernels/peers.py places arrays alike.
// Zero at first.
class PlacedArrays {
 public:
  // Arrays of these sizes, after `before` others that are placed elsewhere.
  // Errors: ResourceExhausted.
  static absl::StatusOr<std::unique_ptr<PlacedArrays>> Create(
      absl::Span<const int64_t> bytes, size_t before = 0);
  ~PlacedArrays();
  PlacedArrays(const PlacedArrays&) = delete;
  PlacedArrays& operator=(const PlacedArrays&) = delete;

  const std::vector<std::byte*>& arrays() const { return arrays_; }

 private:
  PlacedArrays(std::byte* mapping, size_t mapped_bytes,
               std::vector<std::byte*> arrays);

  std::byte* const mapping_;
  const size_t mapped_bytes_;
  const std::vector<std::byte*> arrays_;
};

}  // namespace hone::backends

#endif  // HONE_BACKENDS_CPU_PLACED_ARRAYS_H_
