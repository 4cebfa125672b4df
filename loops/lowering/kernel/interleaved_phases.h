#ifndef HONE_LOOPS_LOWERING_KERNEL_INTERLEAVED_PHASES_H_
#define HONE_LOOPS_LOWERING_KERNEL_INTERLEAVED_PHASES_H_

#include "absl/status/status.h"

#include "loops/lowering/kernel/convolution_loops.h"

namespace hone::loops {

// Convolutions of dilated images whose results are contiguous along a dilated
// dimension, as in NCHW. The outputs of one phase are apart there: each phase
// adds up to an array of its own, and these are interleaved, by blocks that
// caches hold:
//
//   for n 8                          for n 8
//   | for f 4                        | for i 9
//   | | for i 9                      | | for f 4
//   | | | y[n,f,2*i] = …             | | | even[i,f] = …
//   for n 8                      →   | for i 9
//   | for f 4                        | | for f 4
//   | | for i 9                      | | | odd[i,f] = …
//   | | | y[n,f,2*i+1] = …           | for f 4
//                                    | | for i 9
//                                    | | | y[n,f,2*i] = even[i,f]
//                                    | | | y[n,f,2*i+1] = odd[i,f]

// Returns true if the convolution, of few phases, is to be written so.
bool ShouldInterleavePhases(const ValueGraph& graph, const Convolution& c);

// Errors: as KernelWriter::Write.
absl::Status WriteInterleavedPhases(KernelWriter& writer, Nest& nest,
                                    const Convolution& c);

}  // namespace hone::loops

#endif  // HONE_LOOPS_LOWERING_KERNEL_INTERLEAVED_PHASES_H_
