#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "hlo/evaluator/kernels.h"
#include "hlo/evaluator/kernels/gemm.h"
#include "hlo/evaluator/kernels/strided_copy.h"
#include "hlo/evaluator/types.h"

namespace hone::hlo::evaluator {
namespace {

// Multiplications worth handing to another thread.
constexpr int64_t kGrain = int64_t{1} << 20;

// Some dimensions of an operand seen as one.
struct Axis {
  int64_t size = 1;
  int64_t stride = 1;
};

// The dimensions as one axis, or nullopt if their elements are not evenly
// spaced.
std::optional<Axis> Collapse(const DimensionVector& dimensions,
                             const DimensionVector& sizes,
                             const DimensionVector& strides) {
  Axis axis;
  bool first = true;
  for (auto it = dimensions.rbegin(); it != dimensions.rend(); ++it) {
    const size_t d = static_cast<size_t>(*it);
    if (sizes[d] == 1) continue;
    if (first) {
      axis.stride = strides[d];
    } else if (strides[d] != axis.stride * axis.size) {
      return std::nullopt;
    }
    first = false;
    axis.size *= sizes[d];
  }
  return axis;
}

// One side of the product as a batch of matrices.
struct Side {
  Literal literal;
  std::vector<int64_t> batch_offsets;
  Axis free;
  Axis contracting;
};

// Offsets of every index of `dimensions`, last one fastest.
std::vector<int64_t> Offsets(const DimensionVector& dimensions,
                             const DimensionVector& sizes,
                             const DimensionVector& strides) {
  std::vector<int64_t> offsets = {0};
  for (int64_t d : dimensions) {
    const size_t i = static_cast<size_t>(d);
    std::vector<int64_t> next;
    next.reserve(offsets.size() * static_cast<size_t>(sizes[i]));
    for (int64_t base : offsets) {
      for (int64_t k = 0; k < sizes[i]; ++k) {
        next.push_back(base + k * strides[i]);
      }
    }
    offsets = std::move(next);
  }
  return offsets;
}

absl::StatusOr<Side> MakeSide(Context& context, Literal literal,
                              const DimensionVector& batch,
                              const DimensionVector& contracting) {
  DimensionVector sizes = literal.shape().dimensions();
  DimensionVector strides = RowMajorStrides(sizes);
  DimensionVector free;
  for (int64_t d = 0; d < literal.shape().rank(); ++d) {
    if (std::find(batch.begin(), batch.end(), d) == batch.end() &&
        std::find(contracting.begin(), contracting.end(), d) ==
            contracting.end()) {
      free.push_back(d);
    }
  }
  std::optional<Axis> free_axis = Collapse(free, sizes, strides);
  std::optional<Axis> contracting_axis = Collapse(contracting, sizes, strides);
  const bool usable =
      free_axis && contracting_axis &&
      (free_axis->stride == 1 || contracting_axis->stride == 1 ||
       free_axis->size == 1 || contracting_axis->size == 1);
  if (!usable) {
    // Pack as [batch, free, contracting].
    DimensionVector order = batch;
    order.insert(order.end(), free.begin(), free.end());
    order.insert(order.end(), contracting.begin(), contracting.end());
    DimensionVector packed_sizes;
    DimensionVector source_strides;
    for (int64_t d : order) {
      packed_sizes.push_back(sizes[static_cast<size_t>(d)]);
      source_strides.push_back(strides[static_cast<size_t>(d)]);
    }
    HONE_ASSIGN_OR_RETURN(Literal packed,
                          context.Allocate(Shape::Array(
                              literal.shape().element_type(), packed_sizes)));
    const DimensionVector packed_strides = RowMajorStrides(packed_sizes);
    HONE_RETURN_IF_ERROR(
        StridedCopy(context, ByteWidth(literal.shape().element_type()),
                    packed_sizes, {literal.data(), source_strides},
                    {packed.MutableData(), packed_strides}));
    literal = std::move(packed);
    // The same dimensions now lie in `order`.
    for (size_t i = 0; i < order.size(); ++i) {
      strides[static_cast<size_t>(order[i])] = packed_strides[i];
    }
    free_axis = Collapse(free, sizes, strides);
    contracting_axis = Collapse(contracting, sizes, strides);
  }
  Side side;
  side.batch_offsets = Offsets(batch, sizes, strides);
  side.free = *free_axis;
  side.contracting = *contracting_axis;
  side.literal = std::move(literal);
  return side;
}

template <typename T>
absl::Status Multiply(Context& context, const Side& lhs, const Side& rhs,
                      Literal& result) {
  const int64_t m = lhs.free.size;
  const int64_t n = rhs.free.size;
  const int64_t k = lhs.contracting.size;
  const int64_t batches = static_cast<int64_t>(lhs.batch_offsets.size());
  const T* a = lhs.literal.values<T>().data();
  const T* b = rhs.literal.values<T>().data();
  T* c = result.mutable_values<T>().data();
  // Work items are rows of all batches; a piece takes whole runs of them. Few
  // rows against many columns are shared out by column instead.
  const bool by_columns = batches == 1 && m < 8 && n > m;
  const int64_t items = by_columns ? n : batches * m;
  const int64_t work = std::max<int64_t>(k * (by_columns ? m : n), 1);
  return context.ParallelFor(
      items, std::max<int64_t>(kGrain / work, by_columns ? 64 : 8),
      [&](int64_t begin, int64_t end) {
        if (by_columns) {
          Gemm<T>(m, end - begin, k,
                  {a, lhs.free.stride, lhs.contracting.stride},
                  {b + begin * rhs.free.stride, rhs.contracting.stride,
                   rhs.free.stride},
                  c + begin, n);
          return;
        }
        for (int64_t at = begin; at < end;) {
          const int64_t batch = at / m;
          const int64_t row = at % m;
          const int64_t rows = std::min(m - row, end - at);
          const size_t i = static_cast<size_t>(batch);
          Gemm<T>(rows, n, k,
                  {a + lhs.batch_offsets[i] + row * lhs.free.stride,
                   lhs.free.stride, lhs.contracting.stride},
                  {b + rhs.batch_offsets[i], rhs.contracting.stride,
                   rhs.free.stride},
                  c + at * n, n);
          at += rows;
        }
      });
}

}  // namespace

absl::StatusOr<Literal> EvaluateDot(Context& context,
                                    const Operation& operation) {
  const DotDimensions& dimensions = *operation.attributes().dot;
  if (operation.operands.size() != 2) {
    return UnimplementedError(operation.instruction, "sparse operands");
  }
  if (operation.shape().num_elements() == 0) {
    return context.Allocate(operation.instruction.shape_ptr());
  }
  const ElementType compute_type =
      ComputeType(operation.shape().element_type());
  std::vector<Side> sides;
  for (size_t i = 0; i < 2; ++i) {
    HONE_ASSIGN_OR_RETURN(
        Literal operand,
        Convert(context, std::move(operation.operands[i]), compute_type));
    HONE_ASSIGN_OR_RETURN(
        Side side,
        MakeSide(
            context, std::move(operand),
            i == 0 ? dimensions.lhs_batch : dimensions.rhs_batch,
            i == 0 ? dimensions.lhs_contracting : dimensions.rhs_contracting));
    sides.push_back(std::move(side));
  }
  HONE_ASSIGN_OR_RETURN(Literal result, context.Allocate(WithElementType(
                                            operation.shape(), compute_type)));
  HONE_RETURN_IF_ERROR(DispatchType(compute_type, [&]<typename T>() {
    return Multiply<T>(context, sides[0], sides[1], result);
  }));
  return Convert(context, std::move(result), operation.shape().element_type());
}

}  // namespace hone::hlo::evaluator
