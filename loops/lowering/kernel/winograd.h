#ifndef HONE_LOOPS_LOWERING_KERNEL_WINOGRAD_H_
#define HONE_LOOPS_LOWERING_KERNEL_WINOGRAD_H_

#include "absl/status/status.h"

#include "loops/lowering/kernel/kernel_writer.h"
#include "loops/lowering/kernel/nest.h"

namespace hone::loops {

// Winograd's minimal filtering F(2x2, 3x3): 2×2 results of a 3×3 convolution
// are computed from a tile of 4×4 elements of the input by 16 products for each
// pair of features, instead of 36. Tile and weights are transformed before, the
// sums of the products after.
//
// Precision: let S be the sum, over the input features, of the absolute sum of
// the 4×4 elements of a tile times that of the 3×3 weights. A result errs by at
// most 4·(C + 10)·u·S to first order, for C input features and u = 2^-24: the
// absolute transforms count each product of an element and a weight at most
// twice per dimension; each product passes through C additions and up to 10
// roundings in transforms. For random elements, whose roundings are
// independent, errors are about 3e-8·√C of a result's scale, a hundredth of
// what results of kernels may differ by (1e-4) for thousands of features. They
// spread no further than those of a direct sum: an element has no part in
// results whose windows it is not in. F(4x4, 3x3) lacks that property, and its
// errors are about six times as large.
//
// Differences of infinities are NaN, and sums of a tile may overflow. Blocks of
// tiles with a result that is not finite are therefore computed again,
// directly: infinities and NaN are those of a direct sum.
//
// Source: A. Lavin and S. Gray, "Fast Algorithms for Convolutional Neural
// Networks", 2016, section 4.1, after S. Winograd, "Arithmetic Complexity of
// Computations", 1980. The bound is the componentwise one of B. Barabasz et
// al., "Error Analysis and Improving the Accuracy of Winograd Convolution for
// Deep Neural Networks", 2020, for these transforms.

// Returns true if the convolution is one that F(2x2, 3x3) computes and saves
// time for: windows of 3×3 that do not skip elements, one group, in f32 without
// a higher operand precision, enough features for the products to outweigh the
// transforms of tiles, and enough tiles to outweigh those of the weights.
bool ShouldUseWinograd(const ValueGraph& graph, hlo::InstructionId id);

// Writes such a convolution: transformed weights, then blocks of tiles.
absl::Status WriteWinograd(KernelWriter& writer, Nest& nest,
                           hlo::InstructionId id);

}  // namespace hone::loops

#endif  // HONE_LOOPS_LOWERING_KERNEL_WINOGRAD_H_
