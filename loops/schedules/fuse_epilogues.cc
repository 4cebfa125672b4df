#include "loops/schedules/fuse_epilogues.h"

#include <cstddef>
#include <optional>
#include <vector>

#include "loops/ir/rewrite.h"
#include "loops/schedules/loop_chain.h"
#include "loops/schedules/nest.h"
#include "loops/transforms/checks.h"

namespace hone::loops {
namespace {

// Returns the loop of the epilogue that goes along the dimension of `sums`, an
// access of the array of sums, that `var` alone counts; `read` is the access of
// the same element in the epilogue.
std::optional<VarId> SameLoop(const Access& sums, const Access& read,
                              VarId var) {
  for (size_t d = 0; d < sums.indices.size(); ++d) {
    if (sums.indices[d].affine != Affine::Var(var)) continue;
    const Affine& there = read.indices[d].affine;
    if (read.indices[d].offset == nullptr && there.terms().size() == 1 &&
        there == Affine::Var(there.terms()[0].var)) {
      return there.terms()[0].var;
    }
  }
  return std::nullopt;
}

// Brings the loops of the elementwise nest at `next` into the order of those of
// `chain`, whose sums it reads, where that is another one, as in NCHW
// convolutions.
void Reorder(Scheduler& s, const LoopChain& chain, const Path& next) {
  LoopChain epilogue(s, next);
  const Node& first = chain.Loops().back()->body[0];
  const std::vector<Node>& body = epilogue.Loops().back()->body;
  if (first.statement() == nullptr || body.size() != 1 ||
      body[0].statement() == nullptr) {
    return;
  }
  const Access& sums = first.statement()->target;
  const Access* read = nullptr;
  VisitLoads(*body[0].statement()->value, [&](const Access& access) {
    if (access.buffer == sums.buffer) read = &access;
  });
  if (read == nullptr || read->indices.size() != sums.indices.size()) return;
  std::vector<VarId> order;
  for (const Loop* loop : chain.Loops()) {
    const std::optional<VarId> same = SameLoop(sums, *read, loop->var);
    if (!same.has_value()) return;
    order.push_back(*same);
  }
  epilogue.MoveOut(order);
}

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
  Reorder(s, chain, next);
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
