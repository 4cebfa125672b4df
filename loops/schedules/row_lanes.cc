#include "loops/schedules/row_lanes.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/algorithm/container.h"

#include "loops/ir/rewrite.h"
#include "loops/schedules/loop_chain.h"
#include "loops/schedules/nest.h"
#include "loops/schedules/vectorize_innermost.h"
#include "loops/transforms/checks.h"
#include "loops/transforms/locals.h"

namespace hone::loops {
namespace {

constexpr int64_t kRegisterMemory = 2;  // Of set_memory.
// The registers that a local may use, as a part of all.
constexpr int64_t kRegisterShare = 2;
// Rows that are no whole vectors are joined with those around if they are fewer
// vectors than this.
constexpr int64_t kFewVectors = 8;

// The accesses of a statement in a loop over rows, and maybe in one along a
// row.
class RowStatement {
 public:
  RowStatement(const Program& program, const Loop& rows, const Loop* along,
               const Statement& statement)
      : program_(program), rows_(rows), along_(along), statement_(statement) {}

  // Returns true if vectors of rows can load and store without gathering, once
  // blocks are transposed.
  bool HasVectors() const {
    bool fits = statement_.predicate == nullptr;
    VisitAccesses(statement_, [&](const Access& access, bool is_target) {
      if (absl::c_linear_search(rows_.locals, access.buffer)) return;
      const auto stride = StrideOf(program_, access, rows_.var);
      const bool is_transposed =
          along_ != nullptr && StrideOf(program_, access, along_->var) == 1;
      fits = fits && stride.has_value() &&
             (is_target ? stride == 1 || (is_transposed && stride != 0)
                        : is_transposed ||
                              (*stride >= 0 && *stride <= kMostLoadStride));
    });
    return fits;
  }

  bool IsSumAlongRow() const {
    return along_ != nullptr && statement_.combine.has_value() &&
           StrideOf(program_, statement_.target, along_->var) == 0;
  }

 private:
  const Program& program_;
  const Loop& rows_;
  const Loop* along_;
  const Statement& statement_;
};

// Returns the number of rows per vector; nullopt if the loop is none over short
// rows that are reduced.
std::optional<int64_t> LanesOf(const Scheduler& s, const Loop& rows) {
  if (rows.bound.has_value() || rows.mode != LoopMode::kSequential) {
    return std::nullopt;
  }
  bool has_sum = false;
  int64_t width = 4;
  for (const Node& node : rows.body) {
    const Loop* const along = node.loop();
    if (along != nullptr &&
        (!IsInnermost(*along) || along->bound.has_value() ||
         !along->locals.empty() || along->mode != LoopMode::kSequential ||
         along->extent > kShortRow)) {
      return std::nullopt;
    }
    bool fits = true;
    VisitStatements(node, [&](const Statement& statement) {
      const RowStatement row(s.program(), rows, along, statement);
      fits = fits && row.HasVectors();
      has_sum = has_sum || row.IsSumAlongRow();
      VisitAccesses(statement, [&](const Access& access, bool) {
        width = std::max(
            width, hlo::ByteWidth(s.program().buffer(access.buffer).type));
      });
    });
    if (!fits) return std::nullopt;
  }
  if (!has_sum) return std::nullopt;
  return std::max<int64_t>(s.machine().vector_bytes / width, 2);
}

// Splits the loop along a row, at `path`, by statements, so that each of those
// that store to an array is alone.
bool Separate(Scheduler& s, const Path& path) {
  const Loop& along = *s.program().At(path).loop();
  const bool stores = absl::c_any_of(along.body, [&](const Node& node) {
    return !s.program().buffer(node.statement()->target.buffer).IsLocal();
  });
  if (!stores) return true;
  for (size_t i = along.body.size(); i-- > 1;) {
    if (!s.Try("fission", path, {static_cast<int64_t>(i)})) return false;
  }
  return true;
}

// Vectorizes the loop over the rows of one vector.
bool VectorizeRows(Scheduler& s, const Path& path) {
  const std::vector<BufferId> locals = s.program().At(path).loop()->locals;
  for (size_t i = BodyAt(s.program(), path).size(); i-- > 0;) {
    const Path child = Child(path, static_cast<int32_t>(i));
    if (s.program().At(child).loop() != nullptr && !Separate(s, child)) {
      return false;
    }
  }
  if (!locals.empty() && !s.Try("expand", path)) return false;
  const size_t parts = BodyAt(s.program(), path).size();
  for (size_t i = parts; i-- > 1;) {
    if (!s.Try("fission", path, {static_cast<int64_t>(i)})) return false;
  }
  for (size_t i = 0; i < parts; ++i) {
    const Path part = Sibling(path, static_cast<int32_t>(i));
    if (OnlyChildLoop(*s.program().At(part).loop()) == nullptr) {
      if (!s.Try("vectorize", part)) return false;
    } else if (!s.Try("reorder", part) || !s.Try("vectorize", Child(part, 0)) ||
               !s.Try("unroll", part)) {
      return false;
    }
  }
  for (BufferId id : locals) {
    const int64_t most = s.machine().vector_registers *
                         s.machine().vector_bytes / kRegisterShare;
    if (s.program().buffer(id).allocated_bytes() <= most) {
      s.Try("set_memory", {}, {id, kRegisterMemory});
    }
  }
  return true;
}

// The loops over the rows of a vector in the nest at `path` and the `parts`
// that follow it.
std::vector<Path> VectorsOfRows(const Scheduler& s, const Path& path,
                                size_t parts, int64_t lanes) {
  std::vector<Path> vectors;
  for (size_t i = 0; i <= parts; ++i) {
    VisitLoops(s.program(), Sibling(path, static_cast<int32_t>(i)),
               [&](const Path& at, const Loop& loop) {
                 if (loop.extent > 1 && loop.extent <= lanes &&
                     LanesOf(s, loop).has_value()) {
                   vectors.push_back(at);
                 }
               });
  }
  return vectors;
}

bool Vectorize(Scheduler& s, const Path& path) {
  LoopChain chain(s, path);
  while (chain.Loops().size() > 1) {
    const Loop& rows = *chain.Loops().back();
    const std::optional<int64_t> lanes = LanesOf(s, rows);
    if (!lanes.has_value() || rows.extent % *lanes == 0 ||
        rows.extent > kFewVectors * *lanes ||
        !s.Try("collapse", chain.AtDepth(chain.Loops().size() - 2))) {
      break;
    }
  }
  const Loop& rows = *chain.Loops().back();
  const std::optional<int64_t> lanes = LanesOf(s, rows);
  if (!lanes.has_value() || rows.extent < *lanes) return false;
  const size_t siblings = BodyAt(s.program(), Parent(path)).size();
  const int64_t extent = rows.extent;
  if (extent > *lanes) {
    const Path at = chain.AtDepth(chain.Loops().size() - 1);
    if (!s.Try("split", at, {*lanes})) return false;
    if (extent % *lanes != 0 && !s.Try("peel", at, {extent / *lanes})) {
      return false;
    }
  }
  const size_t parts = BodyAt(s.program(), Parent(path)).size() - siblings;
  std::vector<Path> vectors = VectorsOfRows(s, path, parts, *lanes);
  // The parts that come off a loop follow it.
  for (size_t i = vectors.size(); i-- > 0;) {
    if (!VectorizeRows(s, vectors[i])) return false;
  }
  return !vectors.empty();
}

}  // namespace

bool ScheduleRowLanes(Scheduler& s, const Path& path) {
  const Scheduler::Checkpoint mark = s.Save();
  const size_t siblings = BodyAt(s.program(), Parent(path)).size();
  if (!Vectorize(s, path)) {
    s.Restore(mark);
    return false;
  }
  const size_t parts = BodyAt(s.program(), Parent(path)).size() - siblings;
  for (size_t i = parts + 1; i-- > 0;) {
    const Path part = Sibling(path, static_cast<int32_t>(i));
    VectorizeInnermost(s, part);  // A single row that is left.
    ParallelizeNest(s, part);
  }
  return true;
}

}  // namespace hone::loops
