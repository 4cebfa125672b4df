#include "loops/schedules/fuse_epilogues.h"

#include <vector>

#include "loops/schedules/loop_chain.h"
#include "loops/schedules/nest.h"
#include "loops/transforms/checks.h"

namespace hone::loops {
namespace {

// Fuses the nest at `path` with the next one, loop by loop, down to where the
// contraction gives an element its first value.
bool FuseWithNext(Scheduler& s, const Path& path) {
  const Path next = Sibling(path, 1);
  if (!s.program().Has(next) || s.program().At(next).loop() == nullptr ||
      HasContraction(s.program(), next) || HasSumOverRows(s.program(), next)) {
    return false;
  }
  const LoopChain chain(s, path);
  const size_t depth = chain.Loops().size();
  const Scheduler::Checkpoint mark = s.Save();
  for (size_t d = 0; d < depth; ++d) {
    // Inside of the last one there are statements.
    const bool is_last = d + 1 == depth;
    if (!s.Try("fuse", chain.AtDepth(d)) ||
        (!is_last &&
         s.program().At(chain.AtDepth(d)).loop()->body.size() != 2)) {
      s.Restore(mark);
      return false;
    }
  }
  const std::vector<Node>& body =
      s.program().At(chain.AtDepth(depth - 1)).loop()->body;
  for (size_t i = 2; i < body.size(); ++i) {
    if (body[i].loop() == nullptr) continue;
    s.Restore(mark);
    return false;
  }
  return true;
}

}  // namespace

void FuseEpilogues(Scheduler& s) {
  for (int32_t i = 0; s.program().Has({i}); ++i) {
    if (s.program().At({i}).loop() == nullptr ||
        (!HasContraction(s.program(), {i}) &&
         !HasSumOverRows(s.program(), {i}))) {
      continue;
    }
    while (FuseWithNext(s, {i})) {
    }
  }
}

}  // namespace hone::loops
