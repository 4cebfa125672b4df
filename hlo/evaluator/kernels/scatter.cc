#include <algorithm>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "hlo/evaluator/elementwise/arithmetic.h"
#include "hlo/evaluator/kernels.h"
#include "hlo/evaluator/kernels/indexing.h"
#include "hlo/evaluator/kernels/strided_copy.h"
#include "hlo/evaluator/kernels/window.h"
#include "hlo/evaluator/region.h"
#include "hlo/evaluator/types.h"

namespace hone::hlo::evaluator {
namespace {

// Returns true if the region returns its second parameter: later updates win.
bool Overwrites(const Module& module, ComputationId id) {
  const Computation& computation = module.computation(id);
  const Instruction& root = computation[computation.root()];
  return root.opcode() == Opcode::kParameter && root.index() == 1 &&
         computation.parameters().size() == 2;
}

// A copy of the operand, or the operand itself if it may be overwritten.
absl::StatusOr<Literal> Owned(Context& context, Literal literal) {
  if (literal.has_unique_data()) return literal;
  HONE_ASSIGN_OR_RETURN(Literal copy, context.Allocate(literal.shape_ptr()));
  HONE_RETURN_IF_ERROR(
      StridedCopy(context, ByteWidth(literal.shape().element_type()),
                  {literal.num_elements()}, {literal.data(), {1}},
                  {copy.MutableData(), {1}}));
  return copy;
}

template <typename T>
void AddRow(const std::byte* updates, std::byte* results, int64_t n) {
  const T* x = reinterpret_cast<const T*>(updates);
  T* out = reinterpret_cast<T*>(results);
  HONE_VECTORIZE
  for (int64_t i = 0; i < n; ++i) out[i] = Add::Apply(out[i], x[i]);
}

}  // namespace

// Every index vector names a window of the operand, into which a window of the
// updates is combined, in order; windows that do not lie inside are left out.
absl::StatusOr<Literal> EvaluateScatter(Context& context,
                                        const Operation& operation) {
  const ScatterDimensions& d = *operation.attributes().scatter;
  const size_t count = operation.operands.size() / 2;
  const Shape& shape = operation.operands[0].shape();
  const Shape& update_shape = operation.operands[count + 1].shape();
  const IndexVectors indices(operation.operands[count], d.index_vector_dim,
                             d.scatter_dims_to_operand_dims,
                             d.input_batching_dims,
                             d.scatter_indices_batching_dims);
  std::vector<Literal> results;
  std::vector<int64_t> widths;
  for (size_t i = 0; i < count; ++i) {
    HONE_ASSIGN_OR_RETURN(Literal result,
                          Owned(context, std::move(operation.operands[i])));
    widths.push_back(ByteWidth(result.shape().element_type()));
    results.push_back(std::move(result));
  }

  // The update window as a box over operand dimensions.
  const DimensionVector operand_strides = RowMajorStrides(shape.dimensions());
  const DimensionVector update_strides =
      RowMajorStrides(update_shape.dimensions());
  DimensionVector sizes;
  DimensionVector source_strides;
  DimensionVector target_strides;
  DimensionVector window_size(static_cast<size_t>(shape.rank()), 1);
  for (int64_t i = 0; i < shape.rank(); ++i) {
    if (Contains(d.inserted_window_dims, i) ||
        Contains(d.input_batching_dims, i)) {
      continue;
    }
    const size_t u = static_cast<size_t>(d.update_window_dims[sizes.size()]);
    sizes.push_back(update_shape.dimensions()[u]);
    source_strides.push_back(update_strides[u]);
    target_strides.push_back(operand_strides[static_cast<size_t>(i)]);
    window_size[static_cast<size_t>(i)] = sizes.back();
  }
  DimensionVector batch_strides;
  for (int64_t i = 0; i < update_shape.rank(); ++i) {
    if (!Contains(d.update_window_dims, i)) {
      batch_strides.push_back(update_strides[static_cast<size_t>(i)]);
    }
  }
  // The innermost run of the window that is contiguous on both sides.
  int64_t run = 1;
  while (!sizes.empty() && source_strides.back() == run &&
         target_strides.back() == run) {
    run *= sizes.back();
    sizes.pop_back();
    source_strides.pop_back();
    target_strides.pop_back();
  }
  const int64_t rows = run == 0 ? 0 : Product(sizes);

  const ComputationId computation = operation.instruction.called()[0];
  const bool overwrites =
      count == 1 && Overwrites(context.module(), computation);
  const ElementType type = shape.element_type();
  void (*add_row)(const std::byte*, std::byte*, int64_t) = nullptr;
  if (count == 1 && ComputeType(type) == type &&
      SimpleReducer(context.module(), computation) == Opcode::kAdd) {
    add_row = DispatchType(type, []<typename T>() { return &AddRow<T>; });
  }
  Region region(context, computation);
  std::vector<ElementwiseProgram::Input> inputs(2 * count);
  std::vector<std::byte*> outputs(count);
  const auto combine = [&](int64_t source, int64_t target) -> absl::Status {
    for (size_t i = 0; i < count; ++i) {
      outputs[i] = results[i].MutableData() + target * widths[i];
      inputs[i].data = outputs[i];
      inputs[count + i].data =
          operation.operands[count + 1 + i].data() + source * widths[i];
    }
    if (overwrites) {
      std::copy_n(inputs[1].data, run * widths[0], outputs[0]);
    } else if (add_row != nullptr) {
      add_row(inputs[1].data, outputs[0], run);
    } else {
      return region.Apply(inputs, outputs, run);
    }
    return absl::OkStatus();
  };

  DimensionVector start(static_cast<size_t>(shape.rank()));
  DimensionVector batch(batch_strides.size());
  DimensionVector at(sizes.size());
  // Empty windows may have any number of index vectors, all without elements.
  const int64_t windows = rows == 0 ? 0 : indices.count();
  for (int64_t v = 0; v < windows; ++v) {
    if (v % 1024 == 0) HONE_RETURN_IF_ERROR(context.CheckDeadline());
    indices.Read(v, batch, start);
    bool inside = true;
    int64_t target = 0;
    for (size_t i = 0; i < start.size(); ++i) {
      inside &=
          start[i] >= 0 && start[i] <= shape.dimensions()[i] - window_size[i];
      if (!inside) break;
      target += start[i] * operand_strides[i];
    }
    if (!inside) continue;
    int64_t source = 0;
    for (size_t i = 0; i < batch.size(); ++i) {
      source += batch[i] * batch_strides[i];
    }
    for (int64_t row = 0; row < rows; ++row) {
      Unravel(row, sizes, at);
      int64_t s = source;
      int64_t t = target;
      for (size_t i = 0; i < at.size(); ++i) {
        s += at[i] * source_strides[i];
        t += at[i] * target_strides[i];
      }
      HONE_RETURN_IF_ERROR(combine(s, t));
    }
  }
  if (operation.shape().IsTuple()) return Literal::Tuple(std::move(results));
  return std::move(results[0]);
}

}  // namespace hone::hlo::evaluator
