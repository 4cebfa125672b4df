#ifndef HONE_HLO_REWRITE_CALLEES_H_
#define HONE_HLO_REWRITE_CALLEES_H_

#include <cstdint>
#include <optional>

#include "absl/types/span.h"

#include "hlo/ir/clone.h"
#include "hlo/ir/id_map.h"
#include "hlo/rewrite/rewriter.h"

namespace hone::hlo {

// Returns true unless a copy of `computation` would share a computation that an
// instruction in it owns (owned_computations.h).
bool MayBeCopied(const Computation& computation);

// Returns true if nothing is lost where arguments take the place of the
// parameters: these have no annotations and no control dependencies.
bool ParametersMayGo(const Computation& computation);

// Copies and inlines the computations that call sites (call, while,
// conditional) of a module name, up to its CloningBudget, and knows which of
// them have one caller, which it counts when first asked. Made once per run of
// a pass.
class Callees {
 public:
  // `module` outlives this. Nothing else copies computations meanwhile.
  explicit Callees(Module& module);

  // Returns true if `site` alone calls its callees, and each of them once.
  bool AreOwn(const Instruction& site);
  // Gives `site` copies of those of its callees that are called elsewhere too.
  // Returns false, and changes nothing, where one may not be copied, or beyond
  // the budget.
  bool MakeOwn(Rewriter& r, InstructionId site);

  // Reserves a part of the budget.
  bool Spend(int64_t instructions);
  // Copies what `callee` computes from `arguments` (CloneInstructions), with
  // its attributes. Returns what stands for the root.
  InstructionId Copy(Rewriter& r, ComputationId callee,
                     absl::Span<const InstructionId> arguments);
  // Puts a copy of callee `i` in place of `site`, effects included. Returns
  // false, and changes nothing, if `site` has control dependencies, another
  // execution thread or attributes that cannot be carried over, if the
  // parameters of the callee have to stay, if it may not be copied and has
  // other callers, or beyond the budget.
  bool Inline(Rewriter& r, InstructionId site, size_t i,
              absl::Span<const InstructionId> arguments);
  // Replaces `site` by `replacement`, of which `is_new` says whether the
  // rewrite made it. The effects of the callees are those of the replacement,
  // or never occur. Returns false, and changes nothing, where attributes cannot
  // be carried over or the shapes differ.
  bool ReplaceSite(Rewriter& r, InstructionId site, InstructionId replacement,
                   bool is_new);

 private:
  IdMap<int>& Callers();
  void CountCallersIn(const Computation& computation);

  Module& module_;
  // The number of callers of each computation, maybe with some that have become
  // unreachable. Empty until first requested.
  std::optional<IdMap<int>> callers_;
  int64_t budget_;
  ComputationCloner cloner_;
};

}  // namespace hone::hlo

#endif  // HONE_HLO_REWRITE_CALLEES_H_
