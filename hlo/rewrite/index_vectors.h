#ifndef HONE_HLO_REWRITE_INDEX_VECTORS_H_
#define HONE_HLO_REWRITE_INDEX_VECTORS_H_

#include <cstdint>

#include "hlo/rewrite/rewriter.h"

namespace hone::hlo {

// The index operand of gathers and scatters: an array of index vectors, which
// lie along dimension `index_vector_dim`, or are single numbers where that is
// the rank.

// The number of index vectors.
int64_t IndexVectorCount(const Shape& indices, int64_t index_vector_dim);

// Returns true if an integer type can hold `value`, which is not negative.
bool IndexTypeHolds(ElementType type, int64_t value);

// The indices as a matrix of one index vector a row, in their order.
InstructionId AddIndexMatrix(Rewriter& r, InstructionId indices,
                             int64_t index_vector_dim);

// Splits a single index vector into one scalar per dimension of the operand:
// element i for dimension index_map[i], zero for the others.
InstructionIds AddStartIndices(Rewriter& r, InstructionId indices,
                               const DimensionVector& index_map,
                               int64_t operand_rank);

}  // namespace hone::hlo

#endif  // HONE_HLO_REWRITE_INDEX_VECTORS_H_
