#ifndef HONE_BACKENDS_CPU_MEASURE_PLACED_ARRAYS_H_
#define HONE_BACKENDS_CPU_MEASURE_PLACED_ARRAYS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace hone::backends {

// Memory for the arrays of a timed kernel. Initially zero. Placed identically
// in every process, unless scattered: array number i starts 17·i cache lines
// after a multiple of 2 MiB, so that the arrays do not all start in the same
// cache set, and arrays of at least 2 MiB use huge pages if the system has
// them. bench/kernels/peers.py places arrays in the same way.
class PlacedArrays {
 public:
  // Allocates arrays of these sizes; `before` is the number of arrays placed
  // earlier, by another object. Errors: ResourceExhausted.
  static absl::StatusOr<std::unique_ptr<PlacedArrays>> Create(
      absl::Span<const int64_t> bytes, size_t before = 0);
  // Each array starts at a cache line drawn with the seed, on small pages, as
  // the arrays of a program may.
  static absl::StatusOr<std::unique_ptr<PlacedArrays>> Scatter(
      absl::Span<const int64_t> bytes, uint64_t seed);
  ~PlacedArrays();
  PlacedArrays(const PlacedArrays&) = delete;
  PlacedArrays& operator=(const PlacedArrays&) = delete;

  const std::vector<std::byte*>& arrays() const { return arrays_; }

 private:
  PlacedArrays(std::byte* mapping, size_t mapped_bytes,
               std::vector<std::byte*> arrays);

  // Maps memory for arrays, each of which starts that many bytes after a
  // boundary. `advice` is that of madvise for arrays of a boundary and more.
  static absl::StatusOr<std::unique_ptr<PlacedArrays>> Map(
      absl::Span<const int64_t> bytes, absl::Span<const size_t> offsets,
      int advice);

  std::byte* const mapping_;
  const size_t mapped_bytes_;
  const std::vector<std::byte*> arrays_;
};

}  // namespace hone::backends

#endif  // HONE_BACKENDS_CPU_MEASURE_PLACED_ARRAYS_H_
