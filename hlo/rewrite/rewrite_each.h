#ifndef HONE_HLO_REWRITE_REWRITE_EACH_H_
#define HONE_HLO_REWRITE_REWRITE_EACH_H_

#include <vector>

#include "absl/types/span.h"

#include "hlo/rewrite/rewriter.h"

namespace hone::hlo {

// What passes share that look at every instruction of some opcode once.

// Whether nothing about `id` forbids to put other instructions in its place:
// static shapes, no effect, no control dependency, no attribute that Hone does
// not know except the precision of dots and convolutions, and no layout that an
// effect sees.
bool MayRewrite(const algsimp::Rewriter& r, InstructionId id);

// Calls `rewrite` (rewriter, id → whether it replaced id) once for every
// instruction of the computation that `matches` (instruction → bool) and
// MayRewrite, in slot order; instructions that it adds are not visited. Returns
// whether anything changed.
template <typename Matches, typename Rewrite>
bool RewriteEachIn(Module& module, ComputationId computation, Matches matches,
                   Rewrite rewrite) {
  algsimp::Rewriter r(module, computation);
  bool changed = false;
  const InstructionId slots = r.computation().slot_count();
  for (InstructionId id = 0; id < slots; ++id) {
    if (!r[id].is_live() || !matches(r[id]) || !MayRewrite(r, id)) continue;
    changed |= rewrite(r, id);
  }
  return changed;
}

// Likewise in every computation. Scheduled modules are left alone.
template <typename Matches, typename Rewrite>
bool RewriteEach(Module& module, Matches matches, Rewrite rewrite) {
  if (module.is_scheduled()) return false;
  bool changed = false;
  const ComputationId slots = module.computation_slots();
  for (ComputationId id = 0; id < slots; ++id) {
    if (!module.has_computation(id)) continue;
    changed |= RewriteEachIn(module, id, matches, rewrite);
  }
  return changed;
}

// Calls `rewrite` (rewriter, id → whether it replaced id) for every
// instruction, and for those that it adds, until it finds nothing more, in
// every computation. Scheduled modules are left alone. It is for `rewrite` to
// ask MayRewrite.
template <typename Rewrite>
bool RewriteToFixedPoint(Module& module, Rewrite rewrite) {
  if (module.is_scheduled()) return false;
  bool changed = false;
  const ComputationId slots = module.computation_slots();
  for (ComputationId id = 0; id < slots; ++id) {
    if (!module.has_computation(id)) continue;
    changed |= algsimp::Rewriter(module, id).RunToFixedPoint(rewrite);
  }
  return changed;
}

// Calls `expand` (computation, id) once for every live instruction that
// `matches` (computation, id → bool), in slot order; which ones is settled
// before the first call, and computations without any are not copied. Returns
// whether there were any. Scheduled modules are left alone.
template <typename Matches, typename Expand>
bool ExpandEach(Module& module, Matches matches, Expand expand) {
  if (module.is_scheduled()) return false;
  bool changed = false;
  const ComputationId slots = module.computation_slots();
  for (ComputationId c = 0; c < slots; ++c) {
    if (!module.has_computation(c)) continue;
    std::vector<InstructionId> found;
    const Computation& shared = module.computation(c);
    for (InstructionId id = 0; id < shared.slot_count(); ++id) {
      if (shared[id].is_live() && matches(shared, id)) found.push_back(id);
    }
    if (found.empty()) continue;
    Computation& computation = module.mutable_computation(c);
    for (InstructionId id : found) expand(computation, id);
    changed = true;
  }
  return changed;
}

// For `matches`: instructions of one opcode.
inline auto IsOpcode(Opcode opcode) {
  return [opcode](const Instruction& instruction) {
    return instruction.opcode() == opcode;
  };
}

// The operand itself when the permutation moves nothing.
InstructionId AddTranspose(algsimp::Rewriter& r, InstructionId operand,
                           absl::Span<const int64_t> permutation);

// Whether `dimension` is one of `dimensions`.
bool Contains(absl::Span<const int64_t> dimensions, int64_t dimension);

// `dimensions` without those at the given positions.
DimensionVector WithoutDimensions(absl::Span<const int64_t> dimensions,
                                  absl::Span<const int64_t> positions);

}  // namespace hone::hlo

#endif  // HONE_HLO_REWRITE_REWRITE_EACH_H_
