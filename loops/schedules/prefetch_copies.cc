#include "loops/schedules/prefetch_copies.h"

#include <cstdint>
#include <optional>
#include <vector>

#include "loops/ir/rewrite.h"
#include "loops/schedules/nest.h"

namespace hone::loops {
namespace {

// Rows between a copy and its prefetch: their copies take about as long as a
// read from memory.
constexpr int64_t kRowsAhead = 16;
// The longest row, in vectors, that is written out.
constexpr int64_t kMostVectors = 8;

// Returns the loop of vectors of the row that an iteration of `rows` copies,
// itself or in one loop around it; null if it does something else.
const Loop* VectorsOfRow(const Loop& rows) {
  const Loop* inner = OnlyChildLoop(rows);
  if (inner != nullptr && inner->mode != LoopMode::kVector) {
    if (inner->extent > kMostVectors || inner->mode == LoopMode::kParallel) {
      return nullptr;
    }
    inner = OnlyChildLoop(*inner);
  }
  const bool is_leaf = inner != nullptr && inner->mode == LoopMode::kVector &&
                       inner->body.size() == 1;
  return is_leaf ? inner : nullptr;
}

// Returns true if iterations of `rows` copy a row each, of a matrix larger than
// L1, to a local, and rows are not adjacent.
bool CopiesRows(const Scheduler& s, const Loop& rows) {
  if (rows.mode != LoopMode::kSequential || rows.extent <= kRowsAhead) {
    return false;
  }
  const Loop* vectors = VectorsOfRow(rows);
  if (vectors == nullptr) return false;
  const Statement& copy = *vectors->body[0].statement();
  if (copy.combine.has_value() ||
      copy.value->kind() != Expression::Kind::kLoad ||
      !s.program().buffer(copy.target.buffer).IsLocal()) {
    return false;
  }
  const Access& load = copy.value->access();
  const Buffer& matrix = s.program().buffer(load.buffer);
  const std::optional<int64_t> stride = StrideOf(s.program(), load, rows.var);
  const int64_t row = OnlyChildLoop(rows) == vectors
                          ? vectors->extent
                          : vectors->extent * OnlyChildLoop(rows)->extent;
  return StrideOf(s.program(), load, vectors->var) == 1 &&
         matrix.allocated_bytes() > s.machine().l1_bytes &&
         stride.has_value() && *stride > row;
}

}  // namespace

void PrefetchCopies(Scheduler& s) {
  std::vector<Path> copies;
  VisitLoops(s.program(), {}, [&](const Path& path, const Loop& loop) {
    if (CopiesRows(s, loop)) copies.push_back(path);
  });
  for (const Path& path : copies) {
    s.Try("unroll", Child(path, 0));
    s.Try("prefetch", path, {kRowsAhead});
  }
}

}  // namespace hone::loops
