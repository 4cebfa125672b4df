#ifndef HONE_BENCH_COST_MODEL_RANDOM_KERNELS_H_
#define HONE_BENCH_COST_MODEL_RANDOM_KERNELS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "base/rng.h"

namespace hone::bench {

// A kernel to measure schedules of.
struct NamedKernel {
  // The computation without its shapes: "matmul".
  std::string family;
  // "matmul_nt_f32_61x128x333".
  std::string name;
  // HLO text.
  std::string module;
};

// Makes a kernel of one family, of random shapes and element type. By its
// default schedule it takes about 10 microseconds to a millisecond on one core.
struct KernelFamily {
  absl::string_view name;
  NamedKernel (*draw)(Rng& rng);
};

// Families of products of matrices and convolutions, and all others
// (random_products.cc, random_maps.cc).
absl::Span<const KernelFamily> ProductFamilies();
absl::Span<const KernelFamily> MapFamilies();

// Families of several such computations together (random_composites.cc).
absl::Span<const KernelFamily> CompositeFamilies();

// Returns random kernel `number` of a seed; it depends on nothing else.
// Families of products and maps take turns.
NamedKernel DrawKernel(uint64_t seed, int64_t number);
// The same of composites.
NamedKernel DrawComposite(uint64_t seed, int64_t number);

// A random length, uniform by its logarithm; half of those above 24 are
// multiples of 16.
int64_t DrawLength(Rng& rng, double low, double high);
// A random number, uniform by its logarithm.
double DrawLog(Rng& rng, double low, double high);
// `rank` random lengths of about so many elements together.
std::vector<int64_t> DrawExtents(Rng& rng, size_t rank, double elements);
// The sizes of a product of an m×k and a k×n matrix.
struct ProductSize {
  int64_t m = 0;
  int64_t k = 0;
  int64_t n = 0;
};
// Returns sizes of matrices of like size, skinny, with a long sum, or flat, for
// `batch` products together.
ProductSize DrawProduct(Rng& rng, int64_t batch = 1);
// "f32", or "bf16" one time in four.
std::string DrawType(Rng& rng);
// One of several.
template <typename T>
const T& DrawOf(Rng& rng, const std::vector<T>& values) {
  return values[rng.Below(values.size())];
}

}  // namespace hone::bench

#endif  // HONE_BENCH_COST_MODEL_RANDOM_KERNELS_H_
