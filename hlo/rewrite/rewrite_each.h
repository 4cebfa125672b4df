#ifndef HONE_HLO_REWRITE_REWRITE_EACH_H_
#define HONE_HLO_REWRITE_REWRITE_EACH_H_

#include <vector>

#include "absl/types/span.h"

#include "hlo/rewrite/builder.h"
#include "hlo/rewrite/driver.h"
#include "hlo/rewrite/rewriter.h"

namespace hone::hlo {

// Kept until every pass goes through driver.h.

inline const RewriteOptions& DefaultRewriteOptions() {
  static const RewriteOptions* const kOptions = new RewriteOptions();
  return *kOptions;
}

inline bool MayRewrite(const Rewriter& r, InstructionId id) {
  return r.MayReplace(id);
}

template <typename Matches, typename Rewrite>
bool RewriteEachIn(Module& module, ComputationId computation, Matches matches,
                   Rewrite rewrite) {
  Rewriter r(module, computation, DefaultRewriteOptions());
  bool changed = false;
  const InstructionId slots = r.computation().slot_count();
  for (InstructionId id = 0; id < slots; ++id) {
    if (!r[id].is_live() || !matches(r[id]) || !MayRewrite(r, id)) continue;
    r.Mark();
    changed |= rewrite(r, id);
  }
  return changed;
}

template <typename Matches, typename Rewrite>
bool RewriteEach(Module& module, Matches matches, Rewrite rewrite) {
  if (module.is_scheduled()) return false;
  bool changed = false;
  for (ComputationId id : module.ComputationIds()) {
    changed |= RewriteEachIn(module, id, matches, rewrite);
  }
  return changed;
}

template <typename Rewrite>
bool RewriteToFixedPoint(Module& module, Rewrite rewrite) {
  absl::StatusOr<bool> changed = RewriteModule(
      module, {.name = "", .visit = Visit::kFixedPoint, .checks_itself = true},
      DefaultRewriteOptions(), rewrite);
  return changed.ok() && *changed;
}

template <typename Matches, typename Expand>
bool ExpandEach(Module& module, Matches matches, Expand expand) {
  if (module.is_scheduled()) return false;
  bool changed = false;
  for (ComputationId c : module.ComputationIds()) {
    std::vector<InstructionId> found;
    const Computation& shared = module.computation(c);
    for (const Instruction& i : shared.instructions()) {
      if (matches(shared, i.id())) found.push_back(i.id());
    }
    if (found.empty()) continue;
    Computation& computation = module.mutable_computation(c);
    for (InstructionId id : found) expand(computation, id);
    changed = true;
  }
  return changed;
}

inline auto IsOpcode(Opcode opcode) {
  return [opcode](const Instruction& instruction) {
    return instruction.opcode() == opcode;
  };
}

inline InstructionId AddTranspose(Rewriter& r, InstructionId operand,
                                  absl::Span<const int64_t> permutation) {
  return MakeTranspose(r, operand, permutation);
}

}  // namespace hone::hlo

#endif  // HONE_HLO_REWRITE_REWRITE_EACH_H_
