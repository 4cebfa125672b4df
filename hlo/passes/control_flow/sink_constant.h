#ifndef HONE_HLO_PASSES_CONTROL_FLOW_SINK_CONSTANT_H_
#define HONE_HLO_PASSES_CONTROL_FLOW_SINK_CONSTANT_H_

#include <cstdint>

#include "hlo/rewrite/tuples/loop_rewriter.h"

namespace hone::hlo {

// Lets the condition and the body of `loop`, which nothing else calls, use a
// constant in place of element `i` of the state, where the loop starts with
// that constant and the body hands the element on unchanged. With
// `keeps_element`, the body still hands on what it is given, not the constant.
// Returns true if anything changed.
//
// A read of the element stays if Rewriter::MayReplace forbids to replace it,
// if nothing uses it, if a user sees that its layout is not the constant's, or
// if the constant cannot have its attributes.
bool SinkConstant(LoopRewriter& loop, int32_t i, bool keeps_element);

}  // namespace hone::hlo

#endif  // HONE_HLO_PASSES_CONTROL_FLOW_SINK_CONSTANT_H_
