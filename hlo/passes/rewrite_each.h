#ifndef HONE_HLO_PASSES_REWRITE_EACH_H_
#define HONE_HLO_PASSES_REWRITE_EACH_H_

#include "absl/types/span.h"

#include "hlo/passes/algsimp/rewriter.h"

namespace hone::hlo {

// What passes share that look at every instruction of some opcode once.

// Whether nothing about `id` forbids to put other instructions in its place:
// static shapes, no effect, no control dependency, no attribute that Hone does
// not know except the precision of dots and convolutions, and no layout that an
// effect sees.
bool MayRewrite(const algsimp::Rewriter& r, InstructionId id);

// Calls `rewrite` (rewriter, id → whether it replaced id) once for every
// instruction that `matches` (instruction → bool) and MayRewrite, in slot
// order, computation by computation; instructions that it adds are not visited.
// Scheduled modules are left alone. Returns whether anything changed.
template <typename Matches, typename Rewrite>
bool RewriteEach(Module& module, Matches matches, Rewrite rewrite) {
  if (module.is_scheduled()) return false;
  bool changed = false;
  for (ComputationId c = 0; c < module.computation_slots(); ++c) {
    if (!module.has_computation(c)) continue;
    algsimp::Rewriter r(module, c);
    const InstructionId slots = r.computation().slot_count();
    for (InstructionId id = 0; id < slots; ++id) {
      if (!r[id].is_live() || !matches(r[id]) || !MayRewrite(r, id)) continue;
      changed |= rewrite(r, id);
    }
  }
  return changed;
}
template <typename Rewrite>
bool RewriteEach(Module& module, Opcode opcode, Rewrite rewrite) {
  return RewriteEach(
      module,
      [opcode](const Instruction& instruction) {
        return instruction.opcode() == opcode;
      },
      rewrite);
}

// The operand itself when the permutation moves nothing.
InstructionId AddTranspose(algsimp::Rewriter& r, InstructionId operand,
                           absl::Span<const int64_t> permutation);

// The indices of a gather or scatter as a matrix of one index vector a row:
// dimension `index_vector_dim` (possibly the implied one of size 1 behind the
// last) becomes the second, the others together the first, in their order.
InstructionId AddIndexMatrix(algsimp::Rewriter& r, InstructionId indices,
                             int64_t index_vector_dim);

// Whether `dimension` is one of `dimensions`.
bool Contains(absl::Span<const int64_t> dimensions, int64_t dimension);

// `dimensions` without those at the given positions.
DimensionVector WithoutDimensions(absl::Span<const int64_t> dimensions,
                                  absl::Span<const int64_t> positions);

}  // namespace hone::hlo

#endif  // HONE_HLO_PASSES_REWRITE_EACH_H_
