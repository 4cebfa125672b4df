#ifndef HONE_LOOPS_IR_REWRITE_H_
#define HONE_LOOPS_IR_REWRITE_H_

#include <memory>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/types/span.h"

#include "loops/ir/program.h"

namespace hone::loops {

// Functions that visit and rebuild parts of programs. Nodes and expressions are
// shared and immutable: a function that maps one returns the same object if
// nothing changes, so that the cost of a rewrite is proportional to what it
// changes.

using StatementPtr = std::shared_ptr<const Statement>;

// Calls `visit` for every statement at or below `path` (empty: of the program),
// in program order.
void VisitStatements(
    const Program& program, const Path& path,
    absl::FunctionRef<void(const Path&, const Statement&)> visit);
void VisitStatements(const Node& node,
                     absl::FunctionRef<void(const Statement&)> visit);
// Calls `visit` for every loop at or below `path` (empty: of the program),
// outer loops before inner ones.
void VisitLoops(const Program& program, const Path& path,
                absl::FunctionRef<void(const Path&, const Loop&)> visit);

// Calls `visit` for every load in `e`, including those in offsets of others.
void VisitLoads(const Expression& e,
                absl::FunctionRef<void(const Access&)> visit);
// Calls `visit` for every access of a statement: its loads (value, predicate,
// offsets), then its target. The read of a combining target is not a separate
// access.
void VisitAccesses(
    const Statement& statement,
    absl::FunctionRef<void(const Access&, bool is_target)> visit);

// Returns true if anything in `node` accesses `buffer`.
bool Mentions(const Node& node, BufferId buffer);
// The path of the loop that declares `buffer`, empty for the root; nullopt if
// no loop declares it.
std::optional<Path> FindDeclaration(const Program& program, BufferId buffer);

// Applies `map` to every affine expression: indices, ranges, bounds. The
// variables of loops stay.
using AffineMap = absl::FunctionRef<Affine(const Affine&)>;
ExpressionPtr MapAffines(const ExpressionPtr& e, AffineMap map);
Access MapAffines(const Access& access, AffineMap map);
Node MapAffines(const Node& node, AffineMap map);

// Renames the variables in `affine` that `names` maps.
Affine Renamed(const Affine& affine,
               const absl::flat_hash_map<VarId, VarId>& names);

// Replaces `var`, the variable of a loop above `node`, with `replacement`.
Node Substitute(const Node& node, VarId var, const Affine& replacement);
std::vector<Node> Substitute(absl::Span<const Node> nodes, VarId var,
                             const Affine& replacement);

// Applies `map` to every expression in `e` in post-order: operands and offsets
// first, `e` itself last.
using ExpressionMap = absl::FunctionRef<ExpressionPtr(const ExpressionPtr&)>;
ExpressionPtr MapExpressions(const ExpressionPtr& e, ExpressionMap map);
Access MapExpressions(const Access& access, ExpressionMap map);
StatementPtr MapExpressions(const StatementPtr& statement, ExpressionMap map);
Node MapExpressions(const Node& node, ExpressionMap map);

// Applies `map` to every access, of loads (those in offsets first) and of
// targets.
using AccessMap = absl::FunctionRef<Access(const Access&)>;
ExpressionPtr MapAccesses(const ExpressionPtr& e, AccessMap map);
Node MapAccesses(const Node& node, AccessMap map);

// Applies `map` to every statement.
Node MapStatements(const Node& node,
                   absl::FunctionRef<StatementPtr(const StatementPtr&)> map);

// Returns `node` with fresh loop variables.
Node WithNewVars(Program& program, const Node& node);
// Returns a copy of `node` with fresh loop variables, and with new buffers for
// the locals declared in it.
Node Duplicate(Program& program, const Node& node);

}  // namespace hone::loops

#endif  // HONE_LOOPS_IR_REWRITE_H_
