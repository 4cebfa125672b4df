#ifndef HONE_HLO_TILES_REGISTER_LOOPS_H_
#define HONE_HLO_TILES_REGISTER_LOOPS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"

#include "hlo/ir/computation.h"
#include "hlo/tiles/operand_regions.h"

namespace hone::hlo {

// The loops over registers (register_layout.h) that compute a tile:
// instructions that work register by register run in one loop if their
// dimensions and sizes are equal.

// Returns true for other names of a value, at which nothing is computed.
bool IsAlias(Opcode opcode);
// Returns true if nothing is computed: an alias, or a value that is there
// before a kernel runs.
bool IsFree(const Instruction& instruction);

// Returns true if the instruction runs register by register, in one loop with
// others; others work on whole arrays in vector memory.
bool IsInLoop(const Instruction& instruction);

// Returns the instruction whose elements the loop of `instruction` runs over:
// the operand of a reduction, else itself.
InstructionId LoopDomain(const Instruction& instruction);

// Returns what tells the loops over regions apart: the dimensions and the
// sizes. Empty if `over` is no array, never if it is a scalar.
std::vector<int64_t> LoopSizes(const Instruction& over, const Region& region);

// Returns the iterations of a loop over the registers of a region: those of the
// two minor dimensions are unrolled `unroll` times, in loops over the others.
double LoopIterations(const Instruction& over, const Region& region,
                      double unroll);

// Returns the most values that are live at once in a loop that computes
// `members` in this order, operands first. `source`: the instruction that makes
// a value, where others name it.
size_t MostLiveValues(const Computation& computation,
                      absl::Span<const InstructionId> members,
                      absl::FunctionRef<InstructionId(InstructionId)> source);

}  // namespace hone::hlo

#endif  // HONE_HLO_TILES_REGISTER_LOOPS_H_
