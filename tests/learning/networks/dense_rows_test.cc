#include "learning/networks/dense_rows.h"

#include <vector>

#include "gtest/gtest.h"

#include "base/rng.h"

namespace hone::learning {
namespace {

TEST(ApplyToRows, EqualsTheDefinitionForAllShapes) {
  Rng rng(1);
  const auto fill = [&](size_t count) {
    std::vector<float> values(count);
    for (float& x : values) x = static_cast<float>(rng.Normal());
    return values;
  };
  for (const int64_t outputs : {16, 32, 48, 64, 80, 128, 144}) {
    for (const int64_t inputs : {0, 1, 7, 64}) {
      for (const size_t rows : {0UL, 1UL, 5UL, 6UL, 7UL, 13UL}) {
        const auto width = static_cast<size_t>(outputs);
        const auto depth = static_cast<size_t>(inputs);
        const DenseLayer layer = {inputs, outputs, fill(depth * width),
                                  fill(width)};
        const size_t in_stride = depth + 3, out_stride = width + 1;
        const std::vector<float> in = fill(rows * in_stride);
        const std::vector<float> before = fill(rows * out_stride);
        for (const bool adds : {false, true}) {
          std::vector<float> out = before;
          ApplyToRows(layer, in.data(), in_stride, rows, out.data(), out_stride,
                      adds);
          for (size_t r = 0; r < rows; ++r) {
            for (size_t c = 0; c < width; ++c) {
              double sum = static_cast<double>(adds ? before[r * out_stride + c]
                                                    : layer.bias[c]);
              for (size_t k = 0; k < depth; ++k) {
                sum += static_cast<double>(in[r * in_stride + k]) *
                       static_cast<double>(layer.weight[k * width + c]);
              }
              ASSERT_NEAR(out[r * out_stride + c], sum, 1e-4);
            }
            // What is between the rows stays.
            ASSERT_EQ(out[r * out_stride + width],
                      before[r * out_stride + width]);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace hone::learning
