#ifndef HONE_HLO_TILES_MATRIX_PRODUCT_H_
#define HONE_HLO_TILES_MATRIX_PRODUCT_H_

#include "hlo/ir/computation.h"
#include "hlo/ir/id_map.h"
#include "hlo/tiles/operand_regions.h"

namespace hone::hlo {

// A dot or convolution as matrix products: `products` × `terms` of m × k by
// k × n, all of the same size; the results of `terms` of them are added.
// `positions`: those of a window whose features are terms of one product.
// `passes`: how often the arrays, which multiply bf16, go through all of it for
// operands of this type and precision.
struct MatrixProduct {
  double products = 1;
  double m = 1;
  double k = 1;
  double n = 1;
  double terms = 1;
  double positions = 1;
  double passes = 1;
};

// Returns the products of a dot for a tile: one for each index of the batch
// dimensions.
MatrixProduct MatrixProductOfDot(const Computation& computation,
                                 const Instruction& dot,
                                 const IdMap<Region>& regions);

// Returns the products of a convolution for a tile: one for each group of
// features or of the batch, its terms one for each position of the window. If
// the features of several positions along a row of it fit into the 128 terms
// that a matrix unit takes at a time, they are one product.
MatrixProduct MatrixProductOfConvolution(const Computation& computation,
                                         const Instruction& convolution,
                                         const IdMap<Region>& regions);

// Returns the positions of the window of a convolution or of an instruction
// like it; 1 if it has none.
double WindowPositions(const Instruction& instruction);

// Returns true if each output feature of a convolution is of one input feature:
// the vector unit computes it, as the terms of a product are few.
bool IsDepthwise(const Computation& computation,
                 const Instruction& convolution);

}  // namespace hone::hlo

#endif  // HONE_HLO_TILES_MATRIX_PRODUCT_H_
