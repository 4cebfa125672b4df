#ifndef HONE_BACKENDS_CPU_MEASURE_PLACED_ARRAYS_H_
#define HONE_BACKENDS_CPU_MEASURE_PLACED_ARRAYS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace hone::backends {

// Memory for the arrays of a timed kernel, placed identically in every process:
// array number i starts 17·i cache lines after a multiple of 2 MiB, so that the
// arrays do not all start in the same cache set. Arrays of at least 2 MiB use
// huge pages if the system has them. Initially zero. bench/kernels/peers.py
// places arrays in the same way.
class PlacedArrays {
 public:
  // Allocates arrays of these sizes; `before` is the number of arrays placed
  // earlier, by another object. Errors: ResourceExhausted.
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

#endif  // HONE_BACKENDS_CPU_MEASURE_PLACED_ARRAYS_H_
