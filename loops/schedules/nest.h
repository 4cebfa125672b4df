#ifndef HONE_LOOPS_SCHEDULES_NEST_H_
#define HONE_LOOPS_SCHEDULES_NEST_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "loops/program.h"

namespace hone::loops {

// What schedules look at in a nest of scopes.

// Elements from the place of an access to that of the next iteration of `var`;
// nullopt where that depends on data.
std::optional<int64_t> StrideOf(const Program& program, const Access& access,
                                VarId var);

// Whether everything in the scope is a statement.
bool IsLeafScope(const Scope& scope);

// The scope's only child, if that is a scope; null otherwise.
const Scope* OnlyChildScope(const Scope& scope);

// Scopes at or below `path` that have only statements and run sequentially, in
// order.
std::vector<Path> SequentialLeaves(const Program& program, const Path& path);

// Times that statements at or below `node` run, bounds left out.
double Iterations(const Node& node);

// A statement that adds products of elements of two buffers up: matrix
// products, convolutions, also depthwise ones.
struct Contraction {
  Path path;
  // The two factors; `a` is null where there is one.
  const Access* a = nullptr;
  const Access* b = nullptr;
  // Variables of scopes above, outermost first: those that move the target and
  // a only, the target and b only, both factors but not the target, and all
  // three.
  std::vector<VarId> rows;
  std::vector<VarId> columns;
  std::vector<VarId> sums;
  std::vector<VarId> batches;
};

// The contraction that the statement at `path` is; nullopt unless it has sums,
// and rows and columns or, in place of one of them, a variable along which both
// the target and the factors that it moves are contiguous. Refers to the
// program.
std::optional<Contraction> AsContraction(const Program& program,
                                         const Path& path);

// The same for a statement that combines elements of a matrix over its rows,
// contiguous in what it keeps: all of `columns`, with `b` for the matrix and no
// `a`.
std::optional<Contraction> AsSumOverRows(const Program& program,
                                         const Path& path);

// Whether any statement at or below `path` is a contraction.
bool HasContraction(const Program& program, const Path& path);

}  // namespace hone::loops

#endif  // HONE_LOOPS_SCHEDULES_NEST_H_
