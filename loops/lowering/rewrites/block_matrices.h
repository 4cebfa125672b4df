#ifndef HONE_LOOPS_LOWERING_REWRITES_BLOCK_MATRICES_H_
#define HONE_LOOPS_LOWERING_REWRITES_BLOCK_MATRICES_H_

#include "absl/status/status.h"

#include "hlo/ir/module.h"

namespace hone::loops {

// Rearranges matrices that many products of few rows read, such as the weights
// of a recurrent network, once, into blocks of a few columns:
//
//   for t { … dot(h, w[k,n]) … }  →  b[n/32,k,32] = w
//                                    for t { … dot(h, b) … }
//
// A product then reads each block from its first to its last byte, at the
// bandwidth of the cache that holds the matrix, while its sums stay in
// registers. In place these bytes are a few per row; copying them to panels
// in each product would take longer than the product of so few rows.
//
// The matrices are those that a counted loop hands on unchanged, and those of
// several products of one computation.
absl::Status BlockMatrices(hlo::Module& module);

}  // namespace hone::loops

#endif  // HONE_LOOPS_LOWERING_REWRITES_BLOCK_MATRICES_H_
