#ifndef HONE_HLO_EVALUATOR_KERNELS_WINDOW_H_
#define HONE_HLO_EVALUATOR_KERNELS_WINDOW_H_

#include <cstddef>
#include <cstdint>

#include "hlo/ir/attributes.h"

namespace hone::hlo::evaluator {

// The input index that tap `k` of a window sees at output position `o`; -1 for
// padding and the holes of base dilation.
inline int64_t InputIndex(const WindowDimension& w, int64_t input_size,
                          int64_t o, int64_t k) {
  const int64_t dilated = o * w.stride + k * w.window_dilation - w.padding_low;
  if (dilated < 0 || dilated % w.base_dilation != 0) return -1;
  const int64_t index = dilated / w.base_dilation;
  return index < input_size ? index : -1;
}

// Splits a row-major linear index.
inline void Unravel(int64_t linear, const DimensionVector& sizes,
                    DimensionVector& index) {
  for (size_t d = sizes.size(); d-- > 0;) {
    index[d] = linear % sizes[d];
    linear /= sizes[d];
  }
}

inline int64_t Product(const DimensionVector& sizes) {
  int64_t product = 1;
  for (int64_t size : sizes) product *= size;
  return product;
}

// Calls visit(tap, input position), both row-major linear indices, for every
// tap that sees an input element at output position `output`, in order.
template <typename Visit>
void VisitTaps(const Window& window, const DimensionVector& input_size,
               const DimensionVector& output, const Visit& visit, size_t d = 0,
               int64_t tap = 0, int64_t position = 0) {
  if (d == window.size()) {
    visit(tap, position);
    return;
  }
  const WindowDimension& w = window[d];
  for (int64_t k = 0; k < w.size; ++k) {
    const int64_t index = InputIndex(w, input_size[d], output[d], k);
    if (index < 0) continue;
    VisitTaps(window, input_size, output, visit, d + 1, tap * w.size + k,
              position * input_size[d] + index);
  }
}

// Returns true if the window leaves the dimension as it is.
inline bool IsTrivial(const WindowDimension& w) {
  return w.size == 1 && w.stride == 1 && w.padding_low == 0 &&
         w.padding_high == 0 && w.base_dilation == 1;
}

// Returns true if the window at output o is the input up to and including o, as
// in a cumulative sum of `input_size` elements.
inline bool IsPrefix(const WindowDimension& w, int64_t input_size) {
  return w.size >= input_size && w.stride == 1 && w.window_dilation == 1 &&
         w.base_dilation == 1 && w.padding_low == w.size - 1 &&
         w.padding_high == 0;
}

// Likewise for the input from o on.
inline bool IsSuffix(const WindowDimension& w, int64_t input_size) {
  return w.size >= input_size && w.stride == 1 && w.window_dilation == 1 &&
         w.base_dilation == 1 && w.padding_low == 0 &&
         w.padding_high == w.size - 1;
}

}  // namespace hone::hlo::evaluator

#endif  // HONE_HLO_EVALUATOR_KERNELS_WINDOW_H_
