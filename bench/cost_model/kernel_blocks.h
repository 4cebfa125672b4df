#ifndef HONE_BENCH_COST_MODEL_KERNEL_BLOCKS_H_
#define HONE_BENCH_COST_MODEL_KERNEL_BLOCKS_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

#include "bench/cost_model/kernel_text.h"

// Parts that random kernels are put together from.
namespace hone::bench {

// x · logistic(x)
KernelText::Value Silu(KernelText& text, const KernelText::Value& x);
// x/2 · (1 + tanh(√(2/π) · (x + 0.044715 x³)))
KernelText::Value Gelu(KernelText& text, const KernelText::Value& x);

// The product of matrices x [m, k] and w [k, n].
KernelText::Value Dot(KernelText& text, const KernelText::Value& x,
                      const KernelText::Value& w);

// exp(x - its maximum) over the sum of that, over dimensions.
KernelText::Value Softmax(KernelText& text, const KernelText::Value& x,
                          const Extents& over);
// x - its maximum, less the logarithm of that sum.
KernelText::Value LogSoftmax(KernelText& text, const KernelText::Value& x,
                             const Extents& over);
// The mean over dimensions, along which it is broadcast back.
KernelText::Value Mean(KernelText& text, const KernelText::Value& x,
                       const Extents& over);
// (x - mean) / √(variance + ε) over dimensions.
KernelText::Value Standardize(KernelText& text, const KernelText::Value& x,
                              const Extents& over);
// Multiplies by a vector along `axis` and adds another; both are parameters.
KernelText::Value ScaleAndShift(KernelText& text, const KernelText::Value& x,
                                int64_t axis);

// The number of elements along dimensions.
int64_t Product(const Extents& extents, const Extents& over);
// "softmax_f32_32x16_over_1".
std::string NameOf(absl::string_view what, const std::string& type,
                   const Extents& extents, const Extents& over = {});

}  // namespace hone::bench

#endif  // HONE_BENCH_COST_MODEL_KERNEL_BLOCKS_H_
