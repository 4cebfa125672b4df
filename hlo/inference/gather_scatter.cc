#include <algorithm>

#include "absl/algorithm/container.h"

#include "base/status_macros.h"
#include "hlo/inference/internal.h"

namespace hone::hlo::inference {
namespace {

// Gather and scatter are mirror images: both pair an operand with index
// vectors, and say which dimensions of the other array (the gather's result,
// the scatter's updates) run along the slice and which along the indices.
struct Dimensions {
  // Names of the attributes, for messages.
  absl::string_view window_name, omitted_name, map_name;
  absl::string_view operand_batching_name, indices_batching_name;

  const DimensionVector& window;   // of the other array, along the slice
  const DimensionVector& omitted;  // of the operand: absent from the slice
  const DimensionVector& map;  // index vector component → operand dimension
  const DimensionVector& operand_batching;
  const DimensionVector& indices_batching;
  int64_t index_vector_dim;
};

absl::Status ExpectSorted(absl::string_view name,
                          const DimensionVector& dimensions) {
  if (absl::c_is_sorted(dimensions)) return absl::OkStatus();
  return Invalid(name, " is not sorted, expected ascending dimensions");
}

absl::Status ExpectIndices(const Shape& indices, int64_t index_vector_dim) {
  if (!IsIntegral(indices.element_type())) {
    return Invalid("indices are ", indices.ToString(), ", expected integers");
  }
  if (index_vector_dim < 0 || index_vector_dim > indices.rank()) {
    return Invalid("index_vector_dim=", index_vector_dim, ", expected 0 to ",
                   indices.rank());
  }
  return absl::OkStatus();
}

// Checks all that does not depend on sizes of slices; `rank` is the other
// array's.
absl::Status CheckDimensions(const Dimensions& d, const Shape& operand,
                             const Shape& indices, int64_t rank) {
  HONE_RETURN_IF_ERROR(ExpectSorted(d.omitted_name, d.omitted));
  HONE_RETURN_IF_ERROR(
      ExpectSorted(d.operand_batching_name, d.operand_batching));
  DimensionVector not_in_slice = d.omitted;
  not_in_slice.insert(not_in_slice.end(), d.operand_batching.begin(),
                      d.operand_batching.end());
  HONE_RETURN_IF_ERROR(
      ExpectDistinct(d.omitted_name, not_in_slice, operand.rank()));
  HONE_RETURN_IF_ERROR(
      ExpectCount(d.window_name, d.window.size(),
                  Index(operand.rank()) - not_in_slice.size()));
  HONE_RETURN_IF_ERROR(ExpectDistinct(d.window_name, d.window, rank));
  HONE_RETURN_IF_ERROR(ExpectSorted(d.window_name, d.window));

  const int64_t index_size = d.index_vector_dim == indices.rank()
                                 ? 1
                                 : indices.dimension(d.index_vector_dim);
  if (static_cast<int64_t>(d.map.size()) != index_size) {
    return Invalid(d.map_name, " has ", d.map.size(), " entries, expected ",
                   index_size, ", the length of an index vector");
  }
  DimensionVector indexed = d.map;
  indexed.insert(indexed.end(), d.operand_batching.begin(),
                 d.operand_batching.end());
  HONE_RETURN_IF_ERROR(ExpectDistinct(d.map_name, indexed, operand.rank()));

  HONE_RETURN_IF_ERROR(ExpectCount(d.indices_batching_name,
                                   d.indices_batching.size(),
                                   d.operand_batching.size()));
  HONE_RETURN_IF_ERROR(ExpectDistinct(d.indices_batching_name,
                                      d.indices_batching, indices.rank()));
  for (size_t i = 0; i < d.indices_batching.size(); ++i) {
    const int64_t in_operand = operand.dimension(d.operand_batching[i]);
    const int64_t in_indices = indices.dimension(d.indices_batching[i]);
    if (d.indices_batching[i] == d.index_vector_dim ||
        in_operand != in_indices) {
      return Invalid(d.indices_batching_name, " entry ", d.indices_batching[i],
                     " of ", indices.ToString(),
                     ", expected a dimension of size ", in_operand,
                     " that is not index_vector_dim");
    }
  }
  return absl::OkStatus();
}

// Sizes of the indices without the index vector dimension.
DimensionVector BatchSizes(const Shape& indices, int64_t index_vector_dim) {
  DimensionVector sizes = indices.dimensions();
  if (index_vector_dim < indices.rank()) {
    sizes.erase(sizes.begin() + index_vector_dim);
  }
  return sizes;
}

bool InSlice(const Dimensions& d, int64_t dimension) {
  return !absl::c_linear_search(d.omitted, dimension) &&
         !absl::c_linear_search(d.operand_batching, dimension);
}

}  // namespace

Result InferGather(const Context& context) {
  HONE_RETURN_IF_ERROR(ExpectArrays(context));
  if (context.attributes().gather == nullptr) {
    return Invalid("gather without dimension numbers, expected them");
  }
  const GatherDimensions& g = *context.attributes().gather;
  const Dimensions d = {"offset_dims",
                        "collapsed_slice_dims",
                        "start_index_map",
                        "operand_batching_dims",
                        "start_indices_batching_dims",
                        g.offset_dims,
                        g.collapsed_slice_dims,
                        g.start_index_map,
                        g.operand_batching_dims,
                        g.start_indices_batching_dims,
                        g.index_vector_dim};
  const Shape& operand = context.operand(0);
  const Shape& indices = context.operand(1);
  HONE_RETURN_IF_ERROR(ExpectIndices(indices, g.index_vector_dim));
  const int64_t rank = static_cast<int64_t>(g.offset_dims.size()) +
                       indices.rank() -
                       (g.index_vector_dim < indices.rank() ? 1 : 0);
  HONE_RETURN_IF_ERROR(CheckDimensions(d, operand, indices, rank));
  HONE_RETURN_IF_ERROR(
      ExpectCount("slice_sizes", g.slice_sizes.size(), Index(operand.rank())));
  DimensionVector slice;
  for (int64_t i = 0; i < operand.rank(); ++i) {
    const int64_t size = g.slice_sizes[Index(i)];
    const int64_t most = InSlice(d, i)
                             ? operand.dimension(i)
                             : std::min<int64_t>(operand.dimension(i), 1);
    if (size < 0 || size > most) {
      return Invalid("slice size ", size, " of dimension ", i, " of ",
                     operand.ToString(), ", expected 0 to ", most);
    }
    if (InSlice(d, i)) slice.push_back(size);
  }
  const DimensionVector batch = BatchSizes(indices, g.index_vector_dim);
  DimensionVector sizes;
  size_t from_slice = 0;
  size_t from_batch = 0;
  for (int64_t i = 0; i < rank; ++i) {
    sizes.push_back(absl::c_linear_search(g.offset_dims, i)
                        ? slice[from_slice++]
                        : batch[from_batch++]);
  }
  return ArrayOf(context, operand.element_type(), sizes);
}

Result InferScatter(const Context& context) {
  HONE_RETURN_IF_ERROR(ExpectArrays(context));
  if (context.attributes().scatter == nullptr) {
    return Invalid("scatter without dimension numbers, expected them");
  }
  const ScatterDimensions& s = *context.attributes().scatter;
  const Dimensions d = {"update_window_dims",
                        "inserted_window_dims",
                        "scatter_dims_to_operand_dims",
                        "input_batching_dims",
                        "scatter_indices_batching_dims",
                        s.update_window_dims,
                        s.inserted_window_dims,
                        s.scatter_dims_to_operand_dims,
                        s.input_batching_dims,
                        s.scatter_indices_batching_dims,
                        s.index_vector_dim};
  // n operands, the indices, n updates.
  const size_t n = context.operand_count() / 2;
  HONE_RETURN_IF_ERROR(ExpectOperandCount(context, 2 * n + 1));
  const Shape& operand = context.operand(0);
  const Shape& indices = context.operand(n);
  HONE_RETURN_IF_ERROR(ExpectIndices(indices, s.index_vector_dim));
  const Shape& updates = context.operand(n + 1);
  std::vector<ElementType> types;
  std::vector<ShapePtr> results;
  for (size_t i = 0; i < n; ++i) {
    types.push_back(context.operand(i).element_type());
    results.push_back(context.operand_ptr(i));
    HONE_RETURN_IF_ERROR(ExpectSameSizes(context, 0, i));
    HONE_RETURN_IF_ERROR(ExpectSameSizes(context, n + 1, n + 1 + i));
    HONE_RETURN_IF_ERROR(ExpectType(context, n + 1 + i, types.back()));
  }
  const DimensionVector batch = BatchSizes(indices, s.index_vector_dim);
  HONE_RETURN_IF_ERROR(ExpectRank(
      context, n + 1,
      static_cast<int64_t>(batch.size() + s.update_window_dims.size())));
  HONE_RETURN_IF_ERROR(CheckDimensions(d, operand, indices, updates.rank()));
  DimensionVector most;
  for (int64_t i = 0; i < operand.rank(); ++i) {
    if (InSlice(d, i)) most.push_back(operand.dimension(i));
  }
  size_t from_slice = 0;
  size_t from_batch = 0;
  for (int64_t i = 0; i < updates.rank(); ++i) {
    const bool in_window = absl::c_linear_search(s.update_window_dims, i);
    const int64_t expected =
        in_window ? most[from_slice++] : batch[from_batch++];
    const int64_t size = updates.dimension(i);
    if (in_window ? size > expected : size != expected) {
      return Invalid("updates are ", updates.ToString(), ", expected ",
                     in_window ? "at most " : "", expected, " in dimension ",
                     i);
    }
  }
  HONE_RETURN_IF_ERROR(ExpectReducer(context, 0, types));
  return TupleOrSingle(context, std::move(results));
}

}  // namespace hone::hlo::inference
