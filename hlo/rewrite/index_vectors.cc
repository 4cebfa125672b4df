#include "hlo/rewrite/index_vectors.h"

#include <limits>

#include "hlo/rewrite/makers.h"

namespace hone::hlo {

int64_t IndexVectorCount(const Shape& indices, int64_t index_vector_dim) {
  int64_t count = 1;
  for (int64_t d = 0; d < indices.rank(); ++d) {
    if (d != index_vector_dim) count *= indices.dimension(d);
  }
  return count;
}

bool IndexTypeHolds(ElementType type, int64_t value) {
  switch (type) {
    case ElementType::kS8:
      return value <= std::numeric_limits<int8_t>::max();
    case ElementType::kU8:
      return value <= std::numeric_limits<uint8_t>::max();
    case ElementType::kS16:
      return value <= std::numeric_limits<int16_t>::max();
    case ElementType::kU16:
      return value <= std::numeric_limits<uint16_t>::max();
    case ElementType::kS32:
      return value <= std::numeric_limits<int32_t>::max();
    case ElementType::kU32:
      return value <= std::numeric_limits<uint32_t>::max();
    case ElementType::kS64:
    case ElementType::kU64:
      return true;
    default:
      return false;
  }
}

InstructionId AddIndexMatrix(Rewriter& r, InstructionId indices,
                             int64_t index_vector_dim) {
  const DimensionVector dimensions = r.dimensions_of(indices);
  const int64_t rank = static_cast<int64_t>(dimensions.size());
  int64_t rows = 1;
  DimensionVector permutation;
  for (int64_t d = 0; d < rank; ++d) {
    if (d == index_vector_dim) continue;
    permutation.push_back(d);
    rows *= dimensions[static_cast<size_t>(d)];
  }
  int64_t columns = 1;
  if (index_vector_dim < rank) {
    permutation.push_back(index_vector_dim);
    columns = dimensions[static_cast<size_t>(index_vector_dim)];
  }
  return MakeReshape(r, MakeTranspose(r, indices, permutation),
                     {rows, columns});
}

InstructionIds AddStartIndices(Rewriter& r, InstructionId indices,
                               const DimensionVector& index_map,
                               int64_t operand_rank) {
  const ElementType type = r.shape(indices).element_type();
  const int64_t size = static_cast<int64_t>(index_map.size());
  const InstructionId vector =
      size > 1 ? MakeReshape(r, indices, {size}) : indices;
  InstructionIds starts(static_cast<size_t>(operand_rank), kNoInstruction);
  for (int64_t i = 0; i < size; ++i) {
    InstructionId element = vector;
    if (size > 1) {
      const SliceDimension slice = {i, i + 1, 1};
      element = MakeSlice(r, vector, {slice});
    }
    starts[static_cast<size_t>(index_map[static_cast<size_t>(i)])] =
        MakeReshape(r, element, {});
  }
  InstructionId zero = kNoInstruction;
  for (InstructionId& start : starts) {
    if (start != kNoInstruction) continue;
    if (zero == kNoInstruction) {
      zero = MakeConstant(r, Literal::ScalarInt(type, 0));
    }
    start = zero;
  }
  return starts;
}

}  // namespace hone::hlo
