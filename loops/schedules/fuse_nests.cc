#include "loops/schedules/fuse_nests.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "loops/rewrite.h"
#include "loops/schedules/nest.h"
#include "loops/transforms/checks.h"
#include "loops/transforms/locals.h"

namespace hone::loops {
namespace {

// Of set_memory.
constexpr int64_t kStack = 1;
constexpr int64_t kRegister = 2;
// A thread's stack holds so much without thought.
constexpr int64_t kStackBytes = 64 << 10;

// As the helper that steps use, but by position in a body.
Path ChildAt(const Path& path, size_t number) {
  return Child(path, static_cast<int32_t>(number));
}

bool MayFuse(const Program& program, const Path& path) {
  return program.Has(path) && program.At(path).scope() != nullptr &&
         !HasContraction(program, path);
}

// Moves the statements behind the scope at `i` in front of it, as far as they
// may go.
void RaiseStatements(Scheduler& s, const Path& parent, size_t i) {
  for (size_t j = i + 1; j < BodyAt(s.program(), parent).size(); ++j) {
    if (BodyAt(s.program(), parent)[j].statement() == nullptr) return;
    size_t at = j;
    while (at > i && s.Do("reorder", ChildAt(parent, at - 1))) --at;
    if (at == i) ++i;
  }
}

// Fuses the scope at `i` with the next scope after it, where the statements
// between the two can all move behind that one.
bool FuseAcross(Scheduler& s, const Path& parent, size_t i) {
  const auto body = [&]() -> const std::vector<Node>& {
    return BodyAt(s.program(), parent);
  };
  size_t next = i + 1;
  while (next < body().size() && body()[next].statement() != nullptr) ++next;
  if (!MayFuse(s.program(), ChildAt(parent, next))) return false;
  const Scheduler::Mark mark = s.MarkHere();
  for (size_t at = next; at-- > i + 1;) {
    if (s.Do("reorder", ChildAt(parent, at))) continue;
    s.Return(mark);
    return false;
  }
  if (s.Do("fuse", ChildAt(parent, i))) return true;
  s.Return(mark);
  return false;
}

// Fuses the scope at `i` with the one in the nest after it, if that becomes the
// outermost one there; the innermost one, along which elements are contiguous,
// stays.
bool FuseInterchanged(Scheduler& s, const Path& parent, size_t i) {
  const Path next = ChildAt(parent, i + 1);
  if (!MayFuse(s.program(), next)) return false;
  const Scope& outer = *s.program().At(next).scope();
  const Scope* const inner = OnlyChildScope(outer);
  if (inner == nullptr || IsLeafScope(*inner)) return false;
  const Scheduler::Mark mark = s.MarkHere();
  if (s.Do("interchange", next) && s.Do("fuse", ChildAt(parent, i))) {
    return true;
  }
  s.Return(mark);
  return false;
}

void FuseChildren(Scheduler& s, const Path& parent) {
  for (size_t i = 0; i < BodyAt(s.program(), parent).size(); ++i) {
    if (!MayFuse(s.program(), ChildAt(parent, i))) continue;
    do {
      RaiseStatements(s, parent, i);
      while (BodyAt(s.program(), parent)[i].statement() != nullptr) ++i;
    } while (FuseAcross(s, parent, i) || FuseInterchanged(s, parent, i));
  }
  for (size_t i = 0; i < BodyAt(s.program(), parent).size(); ++i) {
    if (BodyAt(s.program(), parent)[i].scope() != nullptr) {
      FuseChildren(s, ChildAt(parent, i));
    }
  }
}

// The path of the innermost scope that has all accesses of `buffer`.
Path CommonScope(const Program& program, BufferId buffer) {
  std::optional<Path> common;
  VisitStatements(program, {}, [&](const Path& path, const Statement& st) {
    bool mentions = false;
    VisitAccesses(st, [&](const Access& access, bool) {
      mentions = mentions || access.buffer == buffer;
    });
    if (!mentions) return;
    const Path above = Parent(path);
    common = common.has_value() ? Prefix(above, CommonLength(*common, above))
                                : above;
  });
  return common.value_or(Path());
}

// Makes locals on the heap smaller that only the scope at `path` uses; returns
// whether there were any.
bool ShrinkOnHeap(Scheduler& s, const Path& path) {
  bool any = false;
  for (size_t b = 0; b < s.program().buffers().size(); ++b) {
    const auto id = static_cast<BufferId>(b);
    const auto on_heap = [&] {
      return s.program().buffer(id).memory == Memory::kHeap;
    };
    if (!on_heap() || !s.Do("shrink", path, {static_cast<int64_t>(id)})) {
      continue;
    }
    any = true;
    if (on_heap() && s.program().buffer(id).allocated_bytes() <= kStackBytes) {
      s.Do("set_memory", {}, {id, kStack});
    }
  }
  return any;
}

// Fuses the nest at `path` with one or more that follow, as many as it takes.
bool FuseUntilLocalsShrink(Scheduler& s, const Path& path) {
  const Scheduler::Mark mark = s.MarkHere();
  while (s.Do("fuse", path)) {
    if (ShrinkOnHeap(s, path)) return true;
  }
  s.Return(mark);
  return false;
}

}  // namespace

void FuseNests(Scheduler& scheduler) { FuseChildren(scheduler, {}); }

void FuseOutermost(Scheduler& scheduler) {
  for (size_t i = 0; i < scheduler.program().body().size(); ++i) {
    while (FuseUntilLocalsShrink(scheduler, ChildAt({}, i))) {
    }
  }
}

void ShrinkLocals(Scheduler& s) {
  for (size_t b = 0; b < s.program().buffers().size(); ++b) {
    const auto id = static_cast<BufferId>(b);
    if (!s.program().buffer(id).IsLocal()) continue;
    const Path common = CommonScope(s.program(), id);
    // From the outside in: each step needs the one before.
    for (size_t depth = 1; depth <= common.size(); ++depth) {
      s.Do("shrink", Prefix(common, depth), {static_cast<int64_t>(id)});
    }
    const Buffer& buffer = s.program().buffer(id);
    if (buffer.allocated_elements() == 1) {
      s.Do("set_memory", {}, {id, kRegister});
    } else if (buffer.allocated_bytes() <= kStackBytes) {
      s.Do("set_memory", {}, {id, kStack});
    }
  }
}

}  // namespace hone::loops
