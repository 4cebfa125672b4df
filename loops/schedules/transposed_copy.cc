#include "loops/schedules/transposed_copy.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/algorithm/container.h"

#include "loops/ir/code_limits.h"
#include "loops/ir/rewrite.h"
#include "loops/schedules/loop_chain.h"
#include "loops/schedules/nest.h"
#include "loops/schedules/vectorize_innermost.h"
#include "loops/transforms/checks.h"

namespace hone::loops {
namespace {

// The most steps that an instruction takes at once.
constexpr int64_t kMostSteps = 4;
// The shortest side of a transposed block that pays off.
constexpr int64_t kLeastSide = 3;
// Shorter sides are worse than blocks of the most and a rest.
constexpr int64_t kGoodSide = 8;

// The loops of such a copy.
struct TransposedCopy {
  VarId step = 0;  // over the adjacent steps
  int64_t steps = 1;
  VarId row = 0;  // along which they are contiguous in the copy
  int64_t rows = 1;
  // Along which what it reads is contiguous, the innermost one first; together
  // they are one loop.
  std::vector<VarId> window;
  int64_t elements = 1;
  std::vector<VarId> others;
  // The range of valid rows, if others are zero.
  std::optional<Range> range;
};

std::optional<TransposedCopy> AsTransposedCopy(const Program& program,
                                               const LoopChain& chain) {
  const std::vector<const Loop*> loops = chain.Loops();
  if (loops.size() < 3 || loops.back()->body.size() != 1) return std::nullopt;
  const Statement* const copy = loops.back()->body[0].statement();
  if (copy == nullptr || copy->combine.has_value() ||
      copy->predicate != nullptr ||
      !program.buffer(copy->target.buffer).IsLocal()) {
    return std::nullopt;
  }
  const bool has_range = copy->value->kind() == Expression::Kind::kWhere &&
                         copy->value->ranges().size() == 1;
  const Expression& load =
      has_range ? *copy->value->operands()[0] : *copy->value;
  if (load.kind() != Expression::Kind::kLoad) return std::nullopt;
  const Access& to = copy->target;
  const Access& from = load.access();
  const auto find = [&](const Access& access, int64_t stride) {
    return absl::c_find_if(loops, [&](const Loop* loop) {
      return StrideOf(program, access, loop->var) == stride;
    });
  };
  const auto step = find(to, 1);
  if (step == loops.end() || (*step)->extent > kMostSteps) return std::nullopt;
  const auto row = find(to, (*step)->extent);
  if (row == loops.end() || (*row)->bound.has_value()) return std::nullopt;
  TransposedCopy found;
  if (has_range) found.range = copy->value->ranges()[0];
  found.step = (*step)->var;
  found.steps = (*step)->extent;
  found.row = (*row)->var;
  found.rows = (*row)->extent;
  // The steps may be adjacent there, too.
  const int64_t unit =
      StrideOf(program, from, found.step) == 1 ? found.steps : 1;
  auto next = find(from, unit);
  int64_t stride = 0;
  while (next != loops.end() && *next != *step && *next != *row &&
         !(*next)->bound.has_value()) {
    const int64_t there = StrideOf(program, to, (*next)->var).value_or(0);
    if (found.window.empty()) stride = there;
    if (there != stride * found.elements) break;
    found.window.push_back((*next)->var);
    found.elements *= (*next)->extent;
    next = find(from, unit * found.elements);
  }
  if (found.window.empty()) return std::nullopt;
  for (const Loop* loop : loops) {
    if (loop->var != found.step && loop->var != found.row &&
        !absl::c_linear_search(found.window, loop->var)) {
      found.others.push_back(loop->var);
    }
  }
  return found;
}

// Returns the longest side of blocks that divide the elements.
int64_t SideFor(int64_t elements) {
  int64_t side = std::min(elements, kMostTransposed);
  while (elements % side != 0) --side;
  return side;
}

// Makes the loop over rows at `path` vectors, in which the steps are
// statements.
bool VectorizeRows(Scheduler& s, const Path& path, int64_t steps) {
  for (int64_t left = steps - 1; left >= 1; --left) {
    if (!s.Try("peel", Child(path, 0), {left})) return false;
  }
  return s.Try("vectorize", path);
}

bool Transpose(Scheduler& s, const Path& path, const TransposedCopy& copy) {
  LoopChain chain(s, path);
  const int64_t side = SideFor(copy.elements);
  std::vector<VarId> order = copy.others;
  order.insert(order.end(), copy.window.rbegin(), copy.window.rend());
  order.push_back(copy.row);
  order.push_back(copy.step);
  if (!chain.MoveOut(order)) return false;
  Path window = chain.AtDepth(copy.others.size());
  for (size_t i = 1; i < copy.window.size(); ++i) {
    if (!s.Try("collapse", window)) return false;
  }
  if (side < copy.elements) {
    if (!s.Try("split", window, {side})) return false;
    window = Child(window, 0);
  }
  // Blocks of as many rows, and those that are left.
  const Path rows = Child(window, 0);
  const int64_t rest = copy.rows % kMostTransposed;
  if (copy.rows > kMostTransposed && rest != 0) {
    if (!s.Try("peel", rows, {copy.rows - rest}) ||
        !s.Try("fission", window, {1})) {
      return false;
    }
    const Path last = Sibling(window, 1);
    if (rest > 1 && !VectorizeRows(s, Child(last, 0), copy.steps)) return false;
    if (!s.Try("unroll", last)) return false;
  }
  if (copy.rows - rest <= kMostTransposed) {
    return VectorizeRows(s, rows, copy.steps) && s.Try("unroll", window);
  }
  return s.Try("split", rows, {kMostTransposed}) && s.Try("reorder", window) &&
         VectorizeRows(s, Child(rows, 0), copy.steps) && s.Try("unroll", rows);
}

// Schedules the copy at `path`, if all of its rows are valid.
bool TransposeWhole(Scheduler& s, const Path& path) {
  const std::optional<TransposedCopy> copy =
      AsTransposedCopy(s.program(), LoopChain(s, path));
  if (!copy.has_value() || copy->range.has_value() || copy->rows < 2) {
    return false;
  }
  if (SideFor(copy->elements) >= kGoodSide ||
      copy->elements < kMostTransposed || copy->window.size() > 1) {
    return SideFor(copy->elements) >= kLeastSide && Transpose(s, path, *copy);
  }
  // Whole blocks, and what is left.
  if (!LoopChain(s, path).MoveOut(copy->window) ||
      !s.Try("peel", path,
             {copy->elements / kMostTransposed * kMostTransposed})) {
    return false;
  }
  const Path rest = Sibling(path, 1);
  if (!TransposeWhole(s, rest)) VectorizeInnermost(s, rest);
  return TransposeWhole(s, path);
}

// The same for a copy of panels, the last of which has rows that are not there.
bool TransposePanels(Scheduler& s, const Path& path,
                     const TransposedCopy& copy) {
  const Affine& number = copy.range->value;
  const int64_t there = copy.range->hi;
  const auto panels = absl::c_find_if(copy.others, [&](VarId var) {
    return number == Affine::Var(var, copy.rows) + Affine::Var(copy.row);
  });
  const int64_t whole = there / copy.rows;
  Path last = path;
  if (panels != copy.others.end()) {
    if (!LoopChain(s, path).MoveOut({*panels}) ||
        !s.Try("peel", path, {whole})) {
      return false;
    }
    last = Sibling(path, 1);
  } else if (number != Affine::Var(copy.row)) {
    return false;
  }
  const auto rest = AsTransposedCopy(s.program(), LoopChain(s, last));
  if (!rest.has_value()) return false;
  const LoopChain chain(s, last);
  const size_t depth = chain.DepthOf(rest->row);
  if (!s.Try("peel", chain.AtDepth(depth), {there % copy.rows})) return false;
  for (size_t d = depth; d-- > 0;) {
    if (!s.Try("fission", chain.AtDepth(d), {1})) return false;
  }
  VectorizeInnermost(s, Sibling(last, 1));
  if (!TransposeWhole(s, last)) VectorizeInnermost(s, last);
  return last == path || TransposeWhole(s, path);
}

}  // namespace

bool ScheduleTransposedCopy(Scheduler& s, const Path& path) {
  const std::optional<TransposedCopy> copy =
      AsTransposedCopy(s.program(), LoopChain(s, path));
  if (!copy.has_value()) return false;
  const Scheduler::Checkpoint mark = s.Save();
  if (copy->range.has_value() ? TransposePanels(s, path, *copy)
                              : TransposeWhole(s, path)) {
    return true;
  }
  s.Restore(mark);
  return false;
}

}  // namespace hone::loops
