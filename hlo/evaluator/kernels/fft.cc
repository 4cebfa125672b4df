#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "hlo/evaluator/kernels.h"
#include "hlo/evaluator/kernels/strided_copy.h"
#include "hlo/evaluator/types.h"

namespace hone::hlo::evaluator {
namespace {

using Value = std::complex<double>;

// exp(sign·2πi·k/n) for k = 0 … n-1.
std::vector<Value> Roots(int64_t n, double sign) {
  std::vector<Value> roots;
  roots.reserve(static_cast<size_t>(n));
  for (int64_t k = 0; k < n; ++k) {
    roots.push_back(
        std::polar(1.0, sign * 2 * std::numbers::pi * static_cast<double>(k) /
                            static_cast<double>(n)));
  }
  return roots;
}

// The discrete Fourier transform of x (n elements `stride` apart) into out, by
// mixed-radix decimation in time: O(n·sum of n's prime factors). roots are
// those of the whole transform, `n`'s being every `root_step`-th.
void Transform(const Value* x, int64_t stride, int64_t n,
               const std::vector<Value>& roots, int64_t root_step, Value* out) {
  if (n == 1) {
    *out = *x;
    return;
  }
  int64_t p = 2;
  while (n % p != 0) p = p * p > n ? n : p + 1;
  const int64_t m = n / p;
  for (int64_t r = 0; r < p; ++r) {
    Transform(x + r * stride, stride * p, m, roots, root_step * p, out + r * m);
  }
  std::vector<Value> column(static_cast<size_t>(p));
  for (int64_t k = 0; k < m; ++k) {
    for (int64_t r = 0; r < p; ++r) {
      column[static_cast<size_t>(r)] = out[r * m + k];
    }
    for (int64_t q = 0; q < p; ++q) {
      Value sum = 0;
      for (int64_t r = 0; r < p; ++r) {
        const int64_t power = r * (k + q * m) % n;
        sum += column[static_cast<size_t>(r)] *
               roots[static_cast<size_t>(power * root_step)];
      }
      out[q * m + k] = sum;
    }
  }
}

// Transforms every line along dimension `d` of an array in place.
void TransformDimension(std::vector<Value>& data, const DimensionVector& sizes,
                        size_t d, double sign) {
  const int64_t n = sizes[d];
  if (n == 0 || data.empty()) return;
  const int64_t stride = RowMajorStrides(sizes)[d];
  const std::vector<Value> roots = Roots(n, sign);
  std::vector<Value> line(static_cast<size_t>(n));
  const int64_t lines = static_cast<int64_t>(data.size()) / n;
  for (int64_t i = 0; i < lines; ++i) {
    Value* x = data.data() + i / stride * stride * n + i % stride;
    Transform(x, stride, n, roots, 1, line.data());
    for (int64_t k = 0; k < n; ++k) {
      x[k * stride] = line[static_cast<size_t>(k)];
    }
  }
}

// Copies the common part of two arrays that differ in the last dimension.
void CopyLast(const std::vector<Value>& from, int64_t from_last,
              std::vector<Value>& to, int64_t to_last) {
  const int64_t rows = static_cast<int64_t>(to.size()) / to_last;
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t k = 0; k < std::min(from_last, to_last); ++k) {
      to[static_cast<size_t>(r * to_last + k)] =
          from[static_cast<size_t>(r * from_last + k)];
    }
  }
}

}  // namespace

// Computes in double whatever the type. RFFT keeps the first half of the
// spectrum's last dimension; IRFFT restores the rest by symmetry.
absl::StatusOr<Literal> EvaluateFft(Context& context,
                                    const Operation& operation) {
  const std::string* type = operation.attributes().FindOther("fft_type");
  const absl::string_view kind =
      type == nullptr ? absl::string_view() : absl::string_view(*type);
  const bool inverse = kind == "IFFT" || kind == "IRFFT";
  const bool half_input = kind == "IRFFT";
  const bool half_output = kind == "RFFT";
  const size_t rank = operation.attributes().dimensions.size();
  HONE_ASSIGN_OR_RETURN(
      const Literal operand,
      Convert(context, std::move(operation.operands[0]), ElementType::kC128));
  const absl::Span<const Value> x = operand.values<Value>();
  std::vector<Value> data(x.begin(), x.end());
  DimensionVector sizes = operand.shape().dimensions();
  const size_t last = sizes.size() - 1;
  const double sign = inverse ? 1 : -1;

  // Outer dimensions first when the last is stored by half.
  const auto transform_outer = [&] {
    for (size_t d = last + 1 - rank; d < last; ++d) {
      TransformDimension(data, sizes, d, sign);
    }
  };
  if (half_input) {
    transform_outer();
    const int64_t stored = sizes[last];
    const int64_t full = operation.shape().dimensions().back();
    std::vector<Value> spectrum(
        static_cast<size_t>(operation.shape().num_elements()));
    if (!spectrum.empty()) CopyLast(data, stored, spectrum, full);
    const int64_t rows =
        full == 0 ? 0 : static_cast<int64_t>(spectrum.size()) / full;
    for (int64_t r = 0; r < rows; ++r) {
      Value* row = spectrum.data() + r * full;
      row[0] = row[0].real();
      for (int64_t k = 1; k < full; ++k) {
        if (2 * k == full) row[k] = row[k].real();
        if (2 * k > full) row[k] = std::conj(row[full - k]);
      }
    }
    data = std::move(spectrum);
    sizes[last] = full;
    TransformDimension(data, sizes, last, sign);
  } else {
    TransformDimension(data, sizes, last, sign);
    if (half_output) {
      const int64_t kept = operation.shape().dimensions().back();
      std::vector<Value> half(
          static_cast<size_t>(operation.shape().num_elements()));
      if (!half.empty()) CopyLast(data, sizes[last], half, kept);
      data = std::move(half);
      sizes[last] = kept;
    }
    transform_outer();
  }
  if (inverse) {
    double scale = 1;
    for (size_t d = last + 1 - rank; d <= last; ++d) {
      scale /= static_cast<double>(sizes[d]);
    }
    for (Value& value : data) value *= scale;
  }
  HONE_ASSIGN_OR_RETURN(Literal result, context.Allocate(Shape::Array(
                                            ElementType::kC128, sizes)));
  std::copy(data.begin(), data.end(), result.mutable_values<Value>().begin());
  return Convert(context, std::move(result), operation.shape().element_type());
}

}  // namespace hone::hlo::evaluator
