#include "loops/schedules/fuse_nests.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "loops/ir/rewrite.h"
#include "loops/schedules/interleaved_panels.h"
#include "loops/schedules/nest.h"
#include "loops/transforms/checks.h"
#include "loops/transforms/locals.h"

namespace hone::loops {
namespace {

// The parameter of set_memory.
constexpr int64_t kStack = 1;
constexpr int64_t kRegister = 2;
// A thread's stack holds so much without thought.
constexpr int64_t kStackBytes = 64 << 10;

// Returns the path of a child by its position in a body.
Path ChildAt(const Path& path, size_t number) {
  return Child(path, static_cast<int32_t>(number));
}

// Epilogues of contractions and windows are fused later, as a whole. Copies for
// instructions that take several steps of a sum have a schedule of their own.
bool MayFuse(const Program& program, const Path& path) {
  return program.Has(path) && program.At(path).loop() != nullptr &&
         !IsInterleavedCopy(program, path) && !HasContraction(program, path) &&
         !HasSumOfWindows(program, path) &&
         !GoesAlongSumsOverRows(program, path);
}

// Moves the statements behind the loop at `i` in front of it, as far as they
// may go.
void RaiseStatements(Scheduler& s, const Path& parent, size_t i) {
  for (size_t j = i + 1; j < BodyAt(s.program(), parent).size(); ++j) {
    if (BodyAt(s.program(), parent)[j].statement() == nullptr) return;
    size_t at = j;
    while (at > i && s.Try("swap", ChildAt(parent, at - 1))) --at;
    if (at == i) ++i;
  }
}

// Fuses the loop at `i` with the next loop after it, where the statements
// between the two can all move behind that one.
bool FuseAcross(Scheduler& s, const Path& parent, size_t i) {
  const auto body = [&]() -> const std::vector<Node>& {
    return BodyAt(s.program(), parent);
  };
  size_t next = i + 1;
  while (next < body().size() && body()[next].statement() != nullptr) ++next;
  if (!MayFuse(s.program(), ChildAt(parent, next))) return false;
  const Scheduler::Checkpoint mark = s.Save();
  for (size_t at = next; at-- > i + 1;) {
    if (s.Try("swap", ChildAt(parent, at))) continue;
    s.Restore(mark);
    return false;
  }
  if (s.Try("fuse", ChildAt(parent, i))) return true;
  s.Restore(mark);
  return false;
}

// Fuses the loop at `i` with the one in the nest after it, if that becomes the
// outermost one there; the innermost one, along which elements are contiguous,
// stays.
bool FuseReordered(Scheduler& s, const Path& parent, size_t i) {
  const Path next = ChildAt(parent, i + 1);
  if (!MayFuse(s.program(), next)) return false;
  const Loop& outer = *s.program().At(next).loop();
  const Loop* const inner = OnlyChildLoop(outer);
  if (inner == nullptr || IsInnermost(*inner)) return false;
  const Scheduler::Checkpoint mark = s.Save();
  if (s.Try("reorder", next) && s.Try("fuse", ChildAt(parent, i))) {
    return true;
  }
  s.Restore(mark);
  return false;
}

void FuseChildren(Scheduler& s, const Path& parent) {
  for (size_t i = 0; i < BodyAt(s.program(), parent).size(); ++i) {
    if (!MayFuse(s.program(), ChildAt(parent, i))) continue;
    do {
      RaiseStatements(s, parent, i);
      while (BodyAt(s.program(), parent)[i].statement() != nullptr) ++i;
    } while (FuseAcross(s, parent, i) || FuseReordered(s, parent, i));
  }
  for (size_t i = 0; i < BodyAt(s.program(), parent).size(); ++i) {
    if (BodyAt(s.program(), parent)[i].loop() != nullptr) {
      FuseChildren(s, ChildAt(parent, i));
    }
  }
}

// The path of the innermost loop that has all accesses of `buffer`.
Path CommonLoop(const Program& program, BufferId buffer) {
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

// Makes locals on the heap smaller that only the loop at `path` uses; returns
// whether there were any.
bool ShrinkOnHeap(Scheduler& s, const Path& path) {
  bool any = false;
  for (size_t b = 0; b < s.program().buffers().size(); ++b) {
    const auto id = static_cast<BufferId>(b);
    const auto on_heap = [&] {
      return s.program().buffer(id).memory == Memory::kHeap;
    };
    if (!on_heap() || !s.Try("shrink", path, {static_cast<int64_t>(id)})) {
      continue;
    }
    any = true;
    if (on_heap() && s.program().buffer(id).allocated_bytes() <= kStackBytes) {
      s.Try("set_memory", {}, {id, kStack});
    }
  }
  return any;
}

// Fuses the nest at `path` with one or more that follow, as many as it takes.
bool FuseUntilLocalsShrink(Scheduler& s, const Path& path) {
  const Scheduler::Checkpoint mark = s.Save();
  while (s.Try("fuse", path)) {
    if (ShrinkOnHeap(s, path)) return true;
  }
  s.Restore(mark);
  return false;
}

// Returns the bytes of the largest local on the heap that the loop at `path`
// declares.
int64_t LargestOnHeap(const Program& program, const Path& path) {
  int64_t largest = 0;
  for (BufferId id : program.At(path).loop()->locals) {
    const Buffer& buffer = program.buffer(id);
    if (buffer.memory != Memory::kHeap) continue;
    largest = std::max(largest, buffer.allocated_bytes());
  }
  return largest;
}

// Fuses outermost loops in the body at `parent`, and those inside them too if
// what shrinks is still too large for a cache.
void FuseOutermostIn(Scheduler& s, const Path& parent) {
  for (size_t i = 0; i < BodyAt(s.program(), parent).size(); ++i) {
    const Path path = ChildAt(parent, i);
    while (FuseUntilLocalsShrink(s, path)) {
      if (LargestOnHeap(s.program(), path) > s.machine().l2_bytes / 2) {
        FuseOutermostIn(s, path);
      }
    }
  }
}

}  // namespace

void FuseNests(Scheduler& scheduler) { FuseChildren(scheduler, {}); }

bool FuseRowBlocks(Scheduler& s, int64_t rows, size_t outer) {
  const Scheduler::Checkpoint before = s.Save();
  Path parent;
  for (; outer > 0; --outer) {
    parent.push_back(0);
    while (BodyAt(s.program(), Parent(parent)).size() > 1) {
      if (s.Try("fuse", parent)) continue;
      s.Restore(before);
      return false;
    }
  }
  bool any = false;
  for (size_t i = 0; i + 1 < BodyAt(s.program(), parent).size(); ++i) {
    const Path path = ChildAt(parent, i);
    const Path next = ChildAt(parent, i + 1);
    for (bool is_split = false;
         MayFuse(s.program(), path) && MayFuse(s.program(), next);
         is_split = any = true) {
      const Scheduler::Checkpoint mark = s.Save();
      if ((is_split || s.Try("split", path, {rows})) &&
          s.Try("split", next, {rows}) && s.Try("fuse", path)) {
        continue;
      }
      s.Restore(mark);
      break;
    }
  }
  if (!any) s.Restore(before);
  return any;
}

void FuseOutermost(Scheduler& scheduler) { FuseOutermostIn(scheduler, {}); }

void ShrinkLocals(Scheduler& s) {
  for (size_t b = 0; b < s.program().buffers().size(); ++b) {
    const auto id = static_cast<BufferId>(b);
    if (!s.program().buffer(id).IsLocal()) continue;
    const Path common = CommonLoop(s.program(), id);
    // From the outside in: each step needs the one before.
    for (size_t depth = 1; depth <= common.size(); ++depth) {
      s.Try("shrink", Prefix(common, depth), {static_cast<int64_t>(id)});
    }
    const Buffer& buffer = s.program().buffer(id);
    if (buffer.allocated_elements() == 1) {
      s.Try("set_memory", {}, {id, kRegister});
    } else if (buffer.allocated_bytes() <= kStackBytes) {
      s.Try("set_memory", {}, {id, kStack});
    }
  }
}

}  // namespace hone::loops
