#include "loops/schedules/collapse_columns.h"

#include <algorithm>
#include <vector>

#include "loops/ir/rewrite.h"
#include "loops/schedules/nest.h"

namespace hone::loops {
namespace {

// Returns true if a reduction over rows in the loop at `path` reads its matrix
// along the loop.
bool HasColumns(const Program& program, const Path& path) {
  const VarId var = program.At(path).loop()->var;
  bool has_columns = false;
  VisitStatements(program, path, [&](const Path& at, const Statement& st) {
    if (!st.combine.has_value()) return;
    std::vector<VarId> sums;
    for (const Loop* loop : program.LoopsAbove(at)) {
      if (StrideOf(program, st.target, loop->var) == 0) {
        sums.push_back(loop->var);
      }
    }
    VisitLoads(*st.value, [&](const Access& access) {
      if (StrideOf(program, access, var) != 1) return;
      has_columns =
          has_columns || std::any_of(sums.begin(), sums.end(), [&](VarId sum) {
            return StrideOf(program, access, sum) != 0;
          });
    });
  });
  return has_columns && !HasContraction(program, path) &&
         !HasSumOfWindows(program, path);
}

int64_t LanesIn(const Scheduler& s, const Path& path) {
  int64_t lanes = 1;
  VisitStatements(s.program(), path, [&](const Path&, const Statement& st) {
    const hlo::ElementType type = s.program().buffer(st.target.buffer).type;
    lanes = std::max(lanes, s.machine().vector_bytes / hlo::ByteWidth(type));
  });
  return lanes;
}

// Returns the paths of the loops in a nest that are around a single loop, from
// the innermost on.
std::vector<Path> OuterLoops(const Program& program, const Path& nest) {
  std::vector<Path> loops;
  VisitLoops(program, nest, [&](const Path& at, const Loop& loop) {
    if (OnlyChildLoop(loop) != nullptr) loops.push_back(at);
  });
  std::reverse(loops.begin(), loops.end());
  return loops;
}

struct Extents {
  int64_t outer = 0;
  int64_t inner = 0;
  friend bool operator==(const Extents&, const Extents&) = default;
};

Extents ExtentsAt(const Program& program, const Path& outer) {
  const Loop& loop = *program.At(outer).loop();
  return {loop.extent, OnlyChildLoop(loop)->extent};
}

// Collapses loops of these extents in each nest; returns false if one has none.
bool CollapseAll(Scheduler& s, const Extents& extents) {
  for (size_t i = 0; i < s.program().body().size(); ++i) {
    const Path nest = {static_cast<int32_t>(i)};
    bool collapsed = false;
    for (const Path& outer : OuterLoops(s.program(), nest)) {
      if (ExtentsAt(s.program(), outer) == extents &&
          s.Try("collapse", outer)) {
        collapsed = true;
        break;
      }
    }
    if (!collapsed) return false;
  }
  return true;
}

// Returns the extents of loops over columns to collapse.
std::vector<Extents> ShortColumns(const Scheduler& s) {
  std::vector<Extents> columns;
  for (size_t i = 0; i < s.program().body().size(); ++i) {
    const Path nest = {static_cast<int32_t>(i)};
    if (s.program().At(nest).loop() == nullptr) return {};
    for (const Path& outer : OuterLoops(s.program(), nest)) {
      const Path inner = Child(outer, 0);
      const Extents extents = ExtentsAt(s.program(), outer);
      if (extents.inner < LanesIn(s, inner) && HasColumns(s.program(), inner) &&
          std::find(columns.begin(), columns.end(), extents) == columns.end()) {
        columns.push_back(extents);
      }
    }
  }
  return columns;
}

}  // namespace

void CollapseColumns(Scheduler& s) {
  // Again, as three dimensions may become one.
  for (bool changes = true; changes;) {
    changes = false;
    for (const Extents& extents : ShortColumns(s)) {
      Scheduler::Checkpoint mark = s.Save();
      if (CollapseAll(s, extents)) {
        changes = true;
        break;
      }
      s.Restore(std::move(mark));
    }
  }
}

}  // namespace hone::loops
