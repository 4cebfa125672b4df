#ifndef HONE_LOOPS_LOWERING_REWRITES_CHANNELS_LAST_H_
#define HONE_LOOPS_LOWERING_REWRITES_CHANNELS_LAST_H_

#include "absl/status/status.h"

#include "hlo/ir/module.h"

namespace hone::loops {

// Chooses the order of dimensions of arrays between convolutions: where
// channels are not the last dimension (NCHW, as from PyTorch), they become it.
// That puts the elements that a convolution adds up, and those that it computes
// together, side by side in memory.
//
// Arrays that elementwise operations, pooling, padding and the like connect
// change together, if the convolutions read and write more elements of them
// than transposes between them and everything else (parameters, results, loops)
// move. Calls must be inlined.
// Errors: Internal, if a rewrite does not fit.
absl::Status PutChannelsLast(hlo::Module& module);

}  // namespace hone::loops

#endif  // HONE_LOOPS_LOWERING_REWRITES_CHANNELS_LAST_H_
