#ifndef HONE_BENCH_COST_MODEL_RESIZE_KERNEL_H_
#define HONE_BENCH_COST_MODEL_RESIZE_KERNEL_H_

#include <optional>

#include "base/rng.h"
#include "hlo/ir/module.h"

namespace hone::bench {

// Returns the kernel at other sizes, so that a model learns from more of them
// than the programs of the corpus have: all dimensions of one drawn size become
// longer or shorter, those of a second one with even odds, and bf16 and f32
// exchange in a quarter of the cases. Null if no draw of some gives a valid
// kernel, as where a reshape splits a dimension. Deterministic by `rng`.
std::optional<hlo::Module> ResizeKernel(const hlo::Module& kernel, Rng& rng);

}  // namespace hone::bench

#endif  // HONE_BENCH_COST_MODEL_RESIZE_KERNEL_H_
