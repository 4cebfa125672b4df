#include "loops/schedules/loop_chain.h"

#include "absl/algorithm/container.h"

#include "loops/schedules/nest.h"

namespace hone::loops {

std::vector<const Loop*> LoopChain::Loops() const {
  std::vector<const Loop*> loops;
  for (const Loop* loop = s_.program().At(top_).loop(); loop != nullptr;
       loop = OnlyChildLoop(*loop)) {
    loops.push_back(loop);
  }
  return loops;
}

size_t LoopChain::DepthOf(VarId var) const {
  const std::vector<const Loop*> loops = Loops();
  return static_cast<size_t>(
      absl::c_find_if(loops, [&](const Loop* s) { return s->var == var; }) -
      loops.begin());
}

Path LoopChain::AtDepth(size_t depth) const {
  Path path = top_;
  path.resize(top_.size() + depth, 0);
  return path;
}

bool LoopChain::MoveOut(absl::Span<const VarId> order) {
  for (size_t depth = 0; depth < order.size(); ++depth) {
    for (size_t at = DepthOf(order[depth]); at > depth; --at) {
      if (!s_.Try("reorder", AtDepth(at - 1))) return false;
    }
  }
  return true;
}

bool LoopChain::Split(VarId var, int64_t factor, VarId& outer, VarId& inner) {
  const size_t depth = DepthOf(var);
  if (!s_.Try("split", AtDepth(depth), {factor})) return false;
  const std::vector<const Loop*> loops = Loops();
  outer = loops[depth]->var;
  inner = loops[depth + 1]->var;
  return true;
}

bool LoopChain::SplitOffFirst() {
  for (size_t depth = Loops().size(); depth-- > 0;) {
    if (!s_.Try("fission", AtDepth(depth), {1})) return false;
  }
  return true;
}

}  // namespace hone::loops
