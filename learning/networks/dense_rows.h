#ifndef HONE_LEARNING_NETWORKS_DENSE_ROWS_H_
#define HONE_LEARNING_NETWORKS_DENSE_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hone::learning {

// A dense layer as plain numbers.
struct DenseLayer {
  int64_t inputs = 0;
  int64_t outputs = 0;        // a multiple of 16
  std::vector<float> weight;  // [inputs, outputs], row-major
  std::vector<float> bias;    // [outputs]
};

// Writes out[r] = layer(in[r]) for `rows` rows, `in_stride` and `out_stride`
// numbers apart, which must not overlap; adds to what is there if `adds`, then
// without the bias. A row's result does not depend on the other rows.
//
// Plain loops for the widest vectors that the processor has: a BLAS takes
// longer for matrices this small, and OpenBLAS chooses slow kernels for
// processors that are newer than itself.
void ApplyToRows(const DenseLayer& layer, const float* in, size_t in_stride,
                 size_t rows, float* out, size_t out_stride, bool adds = false);

}  // namespace hone::learning

#endif  // HONE_LEARNING_NETWORKS_DENSE_ROWS_H_
