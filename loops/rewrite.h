#ifndef HONE_LOOPS_REWRITE_H_
#define HONE_LOOPS_REWRITE_H_

#include <memory>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/types/span.h"

#include "loops/program.h"

namespace hone::loops {

// Visiting and rebuilding parts of programs. Nodes and expressions are shared
// and never change: a function that maps one returns the very same one where
// nothing is different, so that a rewrite costs what it touches.

using StatementPtr = std::shared_ptr<const Statement>;

// Every statement at or below `path` (empty: of the program), in order.
void VisitStatements(
    const Program& program, const Path& path,
    absl::FunctionRef<void(const Path&, const Statement&)> visit);
void VisitStatements(const Node& node,
                     absl::FunctionRef<void(const Statement&)> visit);
// Every scope at or below `path` (empty: of the program), outer ones before
// those in them.
void VisitScopes(const Program& program, const Path& path,
                 absl::FunctionRef<void(const Path&, const Scope&)> visit);

// Every load in `e`, those in offsets of others included.
void VisitLoads(const Expression& e,
                absl::FunctionRef<void(const Access&)> visit);
// Every access of a statement: its loads (value, predicate, offsets), and its
// target last, with true. The read of a combining target is not told apart.
void VisitAccesses(
    const Statement& statement,
    absl::FunctionRef<void(const Access&, bool is_target)> visit);

// Whether anything in `node` accesses `buffer`.
bool Mentions(const Node& node, BufferId buffer);
// The scope that has `buffer` among its locals, an empty path for the root;
// nullopt where none has.
std::optional<Path> FindDeclaration(const Program& program, BufferId buffer);

// With `map` applied to every affine expression: indices, ranges, bounds.
// Variables of scopes stay.
using AffineMap = absl::FunctionRef<Affine(const Affine&)>;
ExpressionPtr MapAffines(const ExpressionPtr& e, AffineMap map);
Access MapAffines(const Access& access, AffineMap map);
Node MapAffines(const Node& node, AffineMap map);

// With other variables in place of those that `names` has.
Affine Renamed(const Affine& affine,
               const absl::flat_hash_map<VarId, VarId>& names);

// With `replacement` for a variable of a scope that is above `node`.
Node Substitute(const Node& node, VarId var, const Affine& replacement);
std::vector<Node> Substitute(absl::Span<const Node> nodes, VarId var,
                             const Affine& replacement);

// With `map` applied to every expression in `e`, operands and offsets before
// what they are in, `e` itself last.
using ExpressionMap = absl::FunctionRef<ExpressionPtr(const ExpressionPtr&)>;
ExpressionPtr MapExpressions(const ExpressionPtr& e, ExpressionMap map);
Access MapExpressions(const Access& access, ExpressionMap map);
StatementPtr MapExpressions(const StatementPtr& statement, ExpressionMap map);
Node MapExpressions(const Node& node, ExpressionMap map);

// With `map` applied to every access: of loads, those in offsets first, and of
// targets.
using AccessMap = absl::FunctionRef<Access(const Access&)>;
ExpressionPtr MapAccesses(const ExpressionPtr& e, AccessMap map);
Node MapAccesses(const Node& node, AccessMap map);

// With `map` applied to every statement.
Node MapStatements(const Node& node,
                   absl::FunctionRef<StatementPtr(const StatementPtr&)> map);

// With variables that no other scope has in place of those of the scopes in
// `node`, itself included.
Node WithNewVars(Program& program, const Node& node);
// A second copy of `node`: new variables, and new buffers in place of the
// locals that are declared in it.
Node Duplicate(Program& program, const Node& node);

}  // namespace hone::loops

#endif  // HONE_LOOPS_REWRITE_H_
