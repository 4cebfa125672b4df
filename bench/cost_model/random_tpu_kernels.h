#ifndef HONE_BENCH_COST_MODEL_RANDOM_TPU_KERNELS_H_
#define HONE_BENCH_COST_MODEL_RANDOM_TPU_KERNELS_H_

#include <cstdint>

#include "absl/types/span.h"

#include "bench/cost_model/random_kernels.h"

namespace hone::bench {

// Families of what the programs of the corpus have little or nothing of: sorts,
// Fourier transforms, factorizations, random numbers, arrays that indices pick
// from or write to, products of more precision, rare functions; and of large
// arrays.
absl::Span<const KernelFamily> TpuFamilies();

// Returns random kernel `number` of a seed; it depends on nothing else.
NamedKernel DrawTpuKernel(uint64_t seed, int64_t number);

}  // namespace hone::bench

#endif  // HONE_BENCH_COST_MODEL_RANDOM_TPU_KERNELS_H_
