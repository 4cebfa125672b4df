#ifndef HONE_GRAPHS_NODE_RULES_H_
#define HONE_GRAPHS_NODE_RULES_H_

#include "hlo/ir/computation.h"

namespace hone::graphs {

// Returns true for a value that the program has before it runs: constants and
// parameters.
bool IsStored(hlo::Opcode opcode);

// Returns true for opcodes that compute something: all but stored values and
// those that only pass values on (value_origins.h).
bool DoesWork(hlo::Opcode opcode);

// Returns true if `second` ends, or continues, what `first` starts.
bool Completes(hlo::Opcode second, hlo::Opcode first);

// Returns true if an instruction does work that is a node of its own
// (hlo_import.h), not a part of the node of its operand.
bool MakesNode(const hlo::Computation& computation, hlo::InstructionId id);

}  // namespace hone::graphs

#endif  // HONE_GRAPHS_NODE_RULES_H_
