#include "learning/networks/dense_rows.h"

#include <cstring>

namespace hone::learning {
namespace {

#define HONE_ALWAYS_INLINE inline __attribute__((always_inline))

template <size_t kLanes>
struct VectorOf {
  // Aligned as floats are.
  typedef float Type
      __attribute__((vector_size(kLanes * sizeof(float)), aligned(4)));
};

struct Operands {
  const float* weight;  // [inputs, outputs]
  const float* bias;    // [outputs], or none
  size_t inputs;
  size_t outputs;
  const float* in;
  size_t in_stride;
  float* out;
  size_t out_stride;
};

// Computes kRows rows of kVectors vectors of outputs, from `column` on. All
// accumulators stay in registers.
template <size_t kLanes, size_t kRows, size_t kVectors>
HONE_ALWAYS_INLINE void Block(const Operands& of, size_t row, size_t column) {
  using Vector = typename VectorOf<kLanes>::Type;
  Vector sums[kRows][kVectors];
  for (size_t v = 0; v < kVectors; ++v) {
    for (size_t r = 0; r < kRows; ++r) {
      const float* const start =
          of.bias != nullptr ? of.bias + column
                             : of.out + (row + r) * of.out_stride + column;
      std::memcpy(&sums[r][v], start + v * kLanes, sizeof(Vector));
    }
  }
  const float* const in = of.in + row * of.in_stride;
  for (size_t k = 0; k < of.inputs; ++k) {
    const float* const weight = of.weight + k * of.outputs + column;
    Vector w[kVectors];
    for (size_t v = 0; v < kVectors; ++v) {
      std::memcpy(&w[v], weight + v * kLanes, sizeof(Vector));
    }
    for (size_t r = 0; r < kRows; ++r) {
      const float x = in[r * of.in_stride + k];
      for (size_t v = 0; v < kVectors; ++v) sums[r][v] += x * w[v];
    }
  }
  for (size_t r = 0; r < kRows; ++r) {
    float* const out = of.out + (row + r) * of.out_stride + column;
    for (size_t v = 0; v < kVectors; ++v) {
      std::memcpy(out + v * kLanes, &sums[r][v], sizeof(Vector));
    }
  }
}

template <size_t kLanes, size_t kRows, size_t kVectors>
HONE_ALWAYS_INLINE void Columns(const Operands& of, size_t rows,
                                size_t column) {
  size_t row = 0;
  for (; row + kRows <= rows; row += kRows) {
    Block<kLanes, kRows, kVectors>(of, row, column);
  }
  for (; row < rows; ++row) Block<kLanes, 1, kVectors>(of, row, column);
}

// kVectors vectors of kLanes at a time as long as there are so many, then 16
// outputs, of which all counts are multiples.
template <size_t kLanes, size_t kRows, size_t kVectors>
HONE_ALWAYS_INLINE void AllColumns(const Operands& of, size_t rows) {
  size_t column = 0;
  for (; column + kLanes * kVectors <= of.outputs;
       column += kLanes * kVectors) {
    Columns<kLanes, kRows, kVectors>(of, rows, column);
  }
  for (; column < of.outputs; column += 16) {
    Columns<kLanes, kRows, 16 / kLanes>(of, rows, column);
  }
}

using Apply = void (*)(const Operands& of, size_t rows);

// Rows and vectors fill the registers: 32, 16 and 16 of them.
#if defined(__x86_64__)
__attribute__((target("avx512f"))) void ApplyAvx512(const Operands& of,
                                                    size_t rows) {
  AllColumns<16, 6, 4>(of, rows);
}

__attribute__((target("avx2,fma"))) void ApplyAvx2(const Operands& of,
                                                   size_t rows) {
  AllColumns<8, 6, 2>(of, rows);
}
#endif

void ApplyAnywhere(const Operands& of, size_t rows) {
  AllColumns<4, 3, 4>(of, rows);
}

Apply Fastest() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return ApplyAvx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    return ApplyAvx2;
  }
#endif
  return ApplyAnywhere;
}

}  // namespace

void ApplyToRows(const DenseLayer& layer, const float* in, size_t in_stride,
                 size_t rows, float* out, size_t out_stride, bool adds) {
  static const Apply apply = Fastest();
  apply({layer.weight.data(), adds ? nullptr : layer.bias.data(),
         static_cast<size_t>(layer.inputs), static_cast<size_t>(layer.outputs),
         in, in_stride, out, out_stride},
        rows);
}

}  // namespace hone::learning
