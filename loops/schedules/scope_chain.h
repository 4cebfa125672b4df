#ifndef HONE_LOOPS_SCHEDULES_SCOPE_CHAIN_H_
#define HONE_LOOPS_SCHEDULES_SCOPE_CHAIN_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

#include "loops/schedules/scheduler.h"

namespace hone::loops {

// Scopes of which each is the only child of the one before: nests that steps
// can reorder. Looks at the program anew in every call.
class ScopeChain {
 public:
  // `top` is the path of the outermost one.
  ScopeChain(Scheduler& scheduler, Path top)
      : s_(scheduler), top_(std::move(top)) {}

  const Path& top() const { return top_; }
  void set_top(Path top) { top_ = std::move(top); }

  // Outermost first.
  std::vector<const Scope*> Scopes() const;
  // From the outermost one, which has depth 0.
  size_t DepthOf(VarId var) const;
  Path AtDepth(size_t depth) const;
  Path PathOf(VarId var) const { return AtDepth(DepthOf(var)); }
  const Scope& ScopeOf(VarId var) const { return *Scopes()[DepthOf(var)]; }

  // The following return whether all steps were legal.

  // Makes the scopes of `order` the outermost ones, in this order.
  bool MoveOut(absl::Span<const VarId> order);
  // Splits the scope of `var`; the variables of the parts.
  bool Split(VarId var, int64_t factor, VarId& outer, VarId& inner);
  // Cuts every scope of the chain in two behind the first child of the
  // innermost one. What it does not have follows, as a chain with the same
  // variables.
  bool SplitOffFirst();

 private:
  Scheduler& s_;
  Path top_;
};

}  // namespace hone::loops

#endif  // HONE_LOOPS_SCHEDULES_SCOPE_CHAIN_H_
