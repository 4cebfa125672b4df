#ifndef HONE_LOOPS_SCHEDULES_CONTRACTION_COSTS_H_
#define HONE_LOOPS_SCHEDULES_CONTRACTION_COSTS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "loops/ir/program.h"
#include "loops/schedules/nest.h"
#include "loops/transforms/machine.h"

namespace hone::loops {

// The number of rows from which on copying panels of the columns' operand pays
// off.
inline constexpr int64_t kRowsWorthPanels = 18;
// Vectors of a tile along its columns.
inline constexpr int64_t kMostTileVectors = 4;

// The surroundings of a contraction: the machine, the loops, and the length of
// vectors.
struct VectorSetting {
  const Program& program;
  const Machine& machine;
  // The result.
  const Access& target;
  // The extents of all loops around the sum.
  const absl::flat_hash_map<VarId, int64_t>& extents;
  int64_t lanes;
  // The distance of consecutive elements of a contiguous factor: more than 1 if
  // steps of the sum are adjacent between them.
  int64_t adjacent = 1;
};

// Returns the bytes of an operand of a contraction that moves with the sums,
// with `others` and with `last`, if its elements have four.
int64_t OperandBytes(const absl::flat_hash_map<VarId, int64_t>& extents,
                     const std::vector<VarId>& sums,
                     const std::vector<VarId>& others, VarId last);

// Returns the number of elements of `factor` that unrolled `steps` of a sum
// over `sum` share between `rows` rows along `row`, under a window: compilers
// keep them in registers. 1 if rows share none.
int64_t ElementsOfWindow(const Program& program, const Access& factor,
                         VarId row, int64_t rows, VarId sum, int64_t steps);

// Estimates the cycles that one result of a contraction takes if vectors go
// along `var`, by which `factor` and the result move. `sums` are the loops of
// the sums, `others` those by which only `other`, the other operand, and the
// result move.
double CyclesPerResult(const VectorSetting& setting,
                       const std::vector<VarId>& sums, const Access& factor,
                       const Access& other, VarId var,
                       const std::vector<VarId>& others);

// Chooses the loop that vectors go along, and takes it out of its list; `b` and
// the columns of `c` are then the side that it belongs to. Sets `both_move` if
// both operands move with it, as along the channels of depthwise convolutions.
// Returns nullopt if there is none.
std::optional<VarId> TakeColumn(const VectorSetting& setting, Contraction& c,
                                bool& both_move);

// Returns how many of a row of `tiles` tiles a thread should compute one after
// the other, of which the first `whole_tiles`, at least one per thread, are
// equal: the shares of whole tiles run in parallel, what is left in one thread.
int64_t TilesPerShare(int64_t whole_tiles, int64_t tiles, int64_t threads);

}  // namespace hone::loops

#endif  // HONE_LOOPS_SCHEDULES_CONTRACTION_COSTS_H_
