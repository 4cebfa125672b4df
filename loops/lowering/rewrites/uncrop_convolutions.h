#ifndef HONE_LOOPS_LOWERING_REWRITES_UNCROP_CONVOLUTIONS_H_
#define HONE_LOOPS_LOWERING_REWRITES_UNCROP_CONVOLUTIONS_H_

#include "absl/status/status.h"

#include "hlo/ir/module.h"

namespace hone::loops {

// Replaces convolutions whose base dilation has many phases, and whose padding
// crops what the taps of some input elements add, by a slice of one that crops
// nothing:
//
//   conv(x)  →  slice(conv(x')), with x' the part of x that bears on the result
//
// The latter adds each input element where it belongs, in one nest of loops
// whose code does not grow with the number of phases. It computes at most the
// length of the window more on either side.
absl::Status UncropConvolutions(hlo::Module& module);

}  // namespace hone::loops

#endif  // HONE_LOOPS_LOWERING_REWRITES_UNCROP_CONVOLUTIONS_H_
