#ifndef HONE_LOOPS_SCHEDULES_NEST_H_
#define HONE_LOOPS_SCHEDULES_NEST_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "loops/ir/program.h"

namespace hone::loops {

// Properties of loop nests that schedules depend on.

// The largest stride along which vectors are loaded without gathering.
inline constexpr int64_t kMostLoadStride = 4;
// The longest rows that are reduced by transposing blocks of them in registers.
inline constexpr int64_t kShortRow = 16;

// Returns the distance in elements between the accesses of consecutive
// iterations of `var`; nullopt if it depends on data.
std::optional<int64_t> StrideOf(const Program& program, const Access& access,
                                VarId var);

// Returns true if the expression has functions that are computed by
// polynomials: long chains of operations with many constants.
bool HasPolynomials(const Expression& e);

// Returns true if the body of the loop has statements only.
bool IsInnermost(const Loop& loop);

// Returns the only child of the loop if that is a loop; null otherwise.
const Loop* OnlyChildLoop(const Loop& loop);

// Returns the sequential innermost loops at or below `path`, in order.
std::vector<Path> SequentialInnermostLoops(const Program& program,
                                           const Path& path);

// Estimates the work at or below `path`, in iterations of an elementwise
// statement, which memory limits; bounds are ignored. Sums of elements that
// several iterations use, such as products of matrices, are less work.
double WorkOf(const Program& program, const Path& path);

// A statement that sums products of elements of two buffers: a matrix product
// or a convolution, possibly depthwise.
struct Contraction {
  Path path;
  // The two operands; `a` is null if there is only one.
  const Access* a = nullptr;
  const Access* b = nullptr;
  // The variables of the loops above, outermost first, by the accesses that use
  // them: rows target and `a`, columns target and `b`, sums `a` and `b`,
  // batches all three.
  std::vector<VarId> rows;
  std::vector<VarId> columns;
  std::vector<VarId> sums;
  std::vector<VarId> batches;
};

// Matches the statement at `path` as a contraction: it must have sums, and
// either rows and columns or, instead of one of them, a variable along which
// the target and the operands that use it are contiguous. Points into the
// program.
std::optional<Contraction> AsContraction(const Program& program,
                                         const Path& path);

// Matches a statement that reduces what it computes from a matrix over the
// matrix's rows, and whose result is contiguous where all loads are nearly so,
// or the rows are short: also windows of an image. The kept dimensions are
// `columns`, `b` is the matrix, `a` is null.
std::optional<Contraction> AsSumOverRows(const Program& program,
                                         const Path& path);

// Takes `loops`, those around a nest that stay there, out of a contraction.
void DropLoops(const std::vector<const Loop*>& loops, Contraction& contraction);

// Returns true if a sum over rows in the loop at `path` is contiguous along
// that loop, which therefore should not stay outermost.
bool GoesAlongSumsOverRows(const Program& program, const Path& path);

// Return true if any statement at or below `path` is one.
bool HasContraction(const Program& program, const Path& path);
bool HasSumOverRows(const Program& program, const Path& path);
// The same for sums over rows of which an index of the matrix moves both with
// the sum and with the result: windows, as in pooling.
bool HasSumOfWindows(const Program& program, const Path& path);

}  // namespace hone::loops

#endif  // HONE_LOOPS_SCHEDULES_NEST_H_
