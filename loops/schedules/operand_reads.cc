#include "loops/schedules/operand_reads.h"

#include <algorithm>
#include <cstdint>

#include "absl/algorithm/container.h"

#include "base/division.h"
#include "loops/schedules/inline_operands.h"

namespace hone::loops {
namespace {

// The number of rows of a matrix that the processor prefetches at a time.
constexpr int64_t kStepsPrefetched = 8;
// Fewer rows take less time than reading the matrix.
constexpr int64_t kFewestRowsInPlace = 4;
// More rows than so many per byte of a vector, of which wider ones take less
// time for a row, make up for copying a matrix that L2 holds.
constexpr int64_t kRowsPerVectorByte = 2;
// The least number of rows for which panels pay off that are computed instead
// of copied. For fewer, blocks of the operand are computed and read in place;
// since that is in order, not by several threads.
constexpr int64_t kRowsWorthComputing = 8;
constexpr int64_t kRowsWorthComputingByThreads = 2;

// Returns the vectors of a row of most register tiles.
int64_t VectorsOfTile(const Machine& machine) {
  return machine.vector_registers / 8;
}

// Returns true if L2 holds the operand that moves with the columns, and not the
// one that moves with the rows.
bool OnlyColumnsFit(const VectorSetting& setting, const Contraction& c,
                    VarId column, VarId row) {
  const int64_t l2_bytes = setting.machine.l2_bytes;
  return OperandBytes(setting.extents, c.sums, c.rows, row) > l2_bytes &&
         OperandBytes(setting.extents, c.sums, c.columns, column) <= l2_bytes;
}

}  // namespace

bool ShouldReadInPlace(const VectorSetting& setting, const Contraction& c,
                       VarId column) {
  const Program& program = setting.program;
  const Machine& machine = setting.machine;
  if (c.sums.size() != 1 || StrideOf(program, *c.b, column) != 1) return false;
  const auto type_of = [&](const Access& access) {
    return program.buffer(access.buffer).type;
  };
  const hlo::ElementType type = type_of(*c.b);
  if (type != type_of(*c.a) || type != type_of(setting.target) ||
      hlo::ByteWidth(type) < 4) {
    return false;
  }
  int64_t rows = 1;
  for (VarId var : c.rows) rows *= setting.extents.at(var);
  const int64_t steps = setting.extents.at(c.sums[0]);
  const int64_t columns = setting.extents.at(column);
  // All panels of a small matrix serve each tile of a long one, instead.
  if (rows < kFewestRowsInPlace || columns % setting.lanes != 0 ||
      4 * steps * rows > machine.l2_bytes) {
    return false;
  }
  const int64_t at_once = std::min(columns, kMostTileVectors * setting.lanes);
  // What one tile reads may be adjacent, in the order in which it is read.
  const bool is_dense = StrideOf(program, *c.b, c.sums[0]) == at_once;
  const int64_t panel = steps * at_once * hlo::ByteWidth(type);
  if (panel > machine.l2_bytes / (is_dense ? 2 : 4)) return false;
  return is_dense ||
         (rows <= kRowsPerVectorByte * machine.vector_bytes &&
          program.buffer(c.b->buffer).allocated_bytes() <= machine.l2_bytes);
}

int64_t RowsWorthPanels(const VectorSetting& setting, const Access& operand) {
  const Buffer& buffer = setting.program.buffer(operand.buffer);
  // Narrow panels read lines of narrow elements several times. The last panel
  // may have elements of the next row of a flat array.
  const int64_t columns = setting.lanes * VectorsOfTile(setting.machine);
  if (columns < setting.machine.cache_line_bytes ||
      buffer.allocated_bytes() <= setting.machine.l2_bytes / 2 ||
      operand.indices.size() != buffer.dimensions.size() ||
      !IsComputedInOrder(setting.program, operand.buffer)) {
    return kRowsWorthPanels;
  }
  return setting.machine.threads > 1 ? kRowsWorthComputingByThreads
                                     : kRowsWorthComputing;
}

bool ShouldPutRowsFirst(const VectorSetting& setting, const Contraction& c,
                        VarId column, VarId row) {
  const auto is_contiguous = [&](VarId sum) {
    return StrideOf(setting.program, *c.a, sum) == 1;
  };
  if (absl::c_any_of(c.sums, is_contiguous)) return false;
  if (c.columns.empty() &&
      setting.extents.at(column) <= kMostTileVectors * setting.lanes) {
    return false;
  }
  return OnlyColumnsFit(setting, c, column, row);
}

bool ShouldPutColumnsInside(const VectorSetting& setting, const Contraction& c,
                            VarId column, VarId row) {
  return OnlyColumnsFit(setting, c, column, row);
}

int64_t StepsInPlace(const Machine& machine, int64_t rows, int64_t extent,
                     int64_t bytes) {
  // Passes over a few rows take less time than reading the operand.
  if (2 * rows <= kStepsPrefetched) return std::min(extent, kStepsPrefetched);
  // Half of L1 holds the columns of a tile for the tiles of other rows.
  const int64_t most = std::max(machine.l1_bytes / 2 / bytes, kStepsPrefetched);
  return CeilDivide(extent, CeilDivide(extent, most));
}

}  // namespace hone::loops
