#ifndef HONE_BENCH_COST_MODEL_SYNTHETIC_KERNELS_H_
#define HONE_BENCH_COST_MODEL_SYNTHETIC_KERNELS_H_

#include <cstdint>
#include <vector>

#include "learning/cost/cost_samples.h"

namespace hone::bench {

// Random kernels with a cost that is known: elementwise graphs over arrays of
// R rows and C columns, computed in tiles of r rows and c columns on a machine
// with registers of 8 x 128 elements,
//   time = steps · (max(compute, transfer) + min(compute, transfer) / 4 +
//   overhead)
// where a step computes each node at a cost of its kind, padded to registers,
// and transfers each parameter and the root; live values that do not fit in
// memory are transferred twice more.
struct SyntheticKernels {
  int32_t programs = 8;
  int32_t kernels = 10;     // of each program
  int32_t most_nodes = 20;  // of a kernel
  uint64_t seed = 1;
  double overhead = 50;  // of a step: another one is another machine
};

// The spec of synthetic kernels: heads "time" (of a fixed tile of each kernel)
// and "tile" (the order of all tiles of each kernel).
learning::CostSpec SyntheticSpec();

std::vector<learning::CostGroup> MakeSyntheticKernels(
    const SyntheticKernels& options);

}  // namespace hone::bench

#endif  // HONE_BENCH_COST_MODEL_SYNTHETIC_KERNELS_H_
