#ifndef HONE_LOOPS_SCHEDULES_LOOP_CHAIN_H_
#define HONE_LOOPS_SCHEDULES_LOOP_CHAIN_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

#include "loops/schedules/scheduler.h"

namespace hone::loops {

// A perfect loop nest: each loop is the only child of the one before. Reads the
// current program in every call.
class LoopChain {
 public:
  // `top` is the path of the outermost loop.
  LoopChain(Scheduler& scheduler, Path top)
      : s_(scheduler), top_(std::move(top)) {}

  const Path& top() const { return top_; }
  void set_top(Path top) { top_ = std::move(top); }

  // The loops, outermost first.
  std::vector<const Loop*> Loops() const;
  // The depth of the loop of `var`; the outermost loop has depth 0.
  size_t DepthOf(VarId var) const;
  Path AtDepth(size_t depth) const;
  Path PathOf(VarId var) const { return AtDepth(DepthOf(var)); }
  const Loop& LoopOf(VarId var) const { return *Loops()[DepthOf(var)]; }

  // The following functions return false if a step was not legal.

  // Moves the loops of `order` outermost, in this order.
  bool MoveOut(absl::Span<const VarId> order);
  // Splits the loop of `var`; sets the variables of the two loops.
  bool Split(VarId var, int64_t factor, VarId& outer, VarId& inner);
  // Distributes the chain over the first child of the innermost loop and the
  // rest. The chain of the rest follows, with the same variables.
  bool SplitOffFirst();

 private:
  Scheduler& s_;
  Path top_;
};

}  // namespace hone::loops

#endif  // HONE_LOOPS_SCHEDULES_LOOP_CHAIN_H_
