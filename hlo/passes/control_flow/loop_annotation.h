#ifndef HONE_HLO_PASSES_CONTROL_FLOW_LOOP_ANNOTATION_H_
#define HONE_HLO_PASSES_CONTROL_FLOW_LOOP_ANNOTATION_H_

#include <string>
#include <vector>

#include "hlo/ir/instruction.h"
#include "hlo/passes/control_flow/while_trip_count.h"

namespace hone::hlo {

// The backend_config of a while in which code generators look for what is known
// about its trip count: upstream's WhileLoopBackendConfig as JSON.

std::string LoopAnnotation(const CountedLoop& loop);

// Sets the backend_config of `loop`; returns whether it was another.
bool SetLoopAnnotation(Instruction& loop, const std::string& annotation);

// Follows the induction variable of an annotated loop to its place in a tuple
// of which the elements not `needed` are removed. The trip count stays.
void MoveInductionVariable(Instruction& loop, const std::vector<bool>& needed);

}  // namespace hone::hlo

#endif  // HONE_HLO_PASSES_CONTROL_FLOW_LOOP_ANNOTATION_H_
