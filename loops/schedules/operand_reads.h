#ifndef HONE_LOOPS_SCHEDULES_OPERAND_READS_H_
#define HONE_LOOPS_SCHEDULES_OPERAND_READS_H_

#include <cstdint>

#include "loops/schedules/contraction_costs.h"
#include "loops/schedules/nest.h"

namespace hone::loops {

// How often, and from where, the tiles of a contraction with two operands
// should read them. `column` is the loop of a tile's columns and `row` that of
// its rows, which are in neither list of `c`.

// Returns true if a tile should read the columns' operand where it is, with
// whole sums in registers: L2 holds the operand, whose copies would take as
// long as several tiles, or what a tile reads is adjacent. `c.rows` are all.
bool ShouldReadInPlace(const VectorSetting& setting, const Contraction& c,
                       VarId column);

// Returns the least number of rows for which panels of the columns' operand,
// which is contiguous along the columns, pay off: fewer if they are computed
// instead of copied, and L2 does not hold the operand.
int64_t RowsWorthPanels(const VectorSetting& setting, const Access& operand);

// Returns true if the rows' operand, which is strided along the sums, should be
// read once instead of once per tile of columns: there are several of these, it
// does not fit in L2, and the columns' operand does.
bool ShouldPutRowsFirst(const VectorSetting& setting, const Contraction& c,
                        VarId column, VarId row);

// Returns true if all panels of the columns' operand fit in half of L2, and the
// rows' operand, which does not fit, should be read once instead of once per
// panel.
bool ShouldPutColumnsInside(const VectorSetting& setting, const Contraction& c,
                            VarId column, VarId row);

// Returns the steps of a sum of `extent` steps to take at once, by tiles that
// read the columns' operand in place, `bytes` of it in a step. Each block of
// steps reads and writes `rows` rows of the result.
int64_t StepsInPlace(const Machine& machine, int64_t rows, int64_t extent,
                     int64_t bytes);

}  // namespace hone::loops

#endif  // HONE_LOOPS_SCHEDULES_OPERAND_READS_H_
