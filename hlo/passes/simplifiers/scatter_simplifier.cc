// scatter_simplifier: leaves only scatters that write whole windows by a list
// of index vectors.
//
//   s = f32[9,8] scatter(f32[9,8] table, s32[2,5] rows, f32[2,5,8] updates),
//       update_window_dims={2}, inserted_window_dims={0}, index_vector_dim=2
//   →
//   s = f32[9,8] scatter(table, s32[10,1] reshape(rows),
//                        f32[10,1,8] reshape(updates)),
//       update_window_dims={1,2}, inserted_window_dims={}, index_vector_dim=1
//
// Stronger than upstream's: what has that form already gets no reshape.
//
// Legal always, except with batching dimensions, which
// batched_gather_scatter_normalizer removes first. Updates keep their order,
// which scatters to equal indices see, and index vectors theirs, of which
// indices_are_sorted and unique_indices speak. Scatters into a scalar stay:
// what they compute depends on how often their region runs. Scatters into an
// empty array stay too: no window fits there once it has an inserted dimension
// of size 1. Numeric class: exact. For code generators that know this form
// only: adds reshapes, some of which algsimp folds into the scatter again.

#include <algorithm>
#include <memory>
#include <utility>

#include "hlo/passes/registry.h"
#include "hlo/passes/rule_pass.h"
#include "hlo/rewrite/dimensions.h"
#include "hlo/rewrite/index_vectors.h"
#include "hlo/rewrite/makers.h"

namespace hone::hlo {
namespace {

bool IsSimplified(const ScatterDimensions& dimensions, int64_t indices_rank,
                  int64_t updates_rank) {
  const DimensionVector& window = dimensions.update_window_dims;
  return dimensions.index_vector_dim + 1 == indices_rank &&
         updates_rank - static_cast<int64_t>(window.size()) <= 1 &&
         !Contains(window, 0) && std::is_sorted(window.begin(), window.end()) &&
         dimensions.inserted_window_dims.empty();
}

// Updates as [index vectors, operand dimensions …].
InstructionId SimplifyUpdates(Rewriter& r, InstructionId updates,
                              const ScatterDimensions& dimensions,
                              int64_t operand_rank) {
  const DimensionVector sizes = r.dimensions_of(updates);
  const DimensionVector& window = dimensions.update_window_dims;
  DimensionVector permutation;
  int64_t rows = 1;
  for (int64_t d = 0; d < static_cast<int64_t>(sizes.size()); ++d) {
    if (Contains(window, d)) continue;
    permutation.push_back(d);
    rows *= sizes[static_cast<size_t>(d)];
  }
  permutation.insert(permutation.end(), window.begin(), window.end());
  DimensionVector result = {rows};
  size_t next = 0;
  for (int64_t d = 0; d < operand_rank; ++d) {
    const bool inserted = Contains(dimensions.inserted_window_dims, d);
    result.push_back(inserted ? 1 : sizes[static_cast<size_t>(window[next++])]);
  }
  return MakeReshape(r, MakeTranspose(r, updates, permutation), result);
}

bool SimplifyScatter(Rewriter& r, InstructionId id) {
  if (r[id].attributes().scatter == nullptr) return false;
  const ScatterDimensions& old = *r[id].attributes().scatter;
  InstructionIds operands = r[id].operands();
  const size_t count = operands.size() / 2;
  const int64_t rank = r.shape(operands[0]).rank();
  if (rank == 0 || r.shape(operands[0]).num_elements() == 0 ||
      !old.input_batching_dims.empty() ||
      IsSimplified(old, r.shape(operands[count]).rank(),
                   r.shape(operands[count + 1]).rank())) {
    return false;
  }
  operands[count] = AddIndexMatrix(r, operands[count], old.index_vector_dim);
  for (size_t i = count + 1; i < operands.size(); ++i) {
    operands[i] = SimplifyUpdates(r, operands[i], old, rank);
  }
  ScatterDimensions simplified;
  for (int64_t d = 0; d < rank; ++d) {
    simplified.update_window_dims.push_back(d + 1);
  }
  simplified.scatter_dims_to_operand_dims = old.scatter_dims_to_operand_dims;
  simplified.index_vector_dim = 1;
  Attributes attributes = r[id].attributes();
  attributes.scatter =
      std::make_shared<const ScatterDimensions>(std::move(simplified));
  return r.Replace(id, MakeLike(r, id, operands, std::move(attributes)));
}

}  // namespace

std::unique_ptr<Pass> MakeScatterSimplifier() {
  return MakeRulePass(
      {.name = "scatter_simplifier", .opcodes = {Opcode::kScatter}},
      SimplifyScatter);
}

}  // namespace hone::hlo
