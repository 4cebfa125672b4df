#include "loops/ir/rewrite.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"

namespace hone::loops {
namespace {

bool Identical(absl::Span<const Node> a, absl::Span<const Node> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

// Maps the children of an expression: operands and offsets by `expression`,
// affine expressions by `affine`.
Access MapIndices(const Access& access, ExpressionMap expression,
                  AffineMap affine) {
  Access result;
  result.buffer = access.buffer;
  result.indices.reserve(access.indices.size());
  for (const Index& index : access.indices) {
    result.indices.emplace_back(
        affine(index.affine),
        index.offset == nullptr ? nullptr : expression(index.offset));
  }
  return result;
}

bool SameIndices(const Access& a, const Access& b) {
  return std::equal(a.indices.begin(), a.indices.end(), b.indices.begin(),
                    b.indices.end(), [](const Index& x, const Index& y) {
                      return x.offset == y.offset && x.affine == y.affine;
                    });
}

ExpressionPtr WithOperands(const Expression& e,
                           std::vector<ExpressionPtr> operands) {
  if (e.opcode() == hlo::Opcode::kCompare) {
    return Expression::Compare(e.direction(), e.total_order(),
                               std::move(operands[0]), std::move(operands[1]));
  }
  return Expression::Apply(e.opcode(), e.type(), std::move(operands));
}

ExpressionPtr MapChildren(const ExpressionPtr& e, ExpressionMap expression,
                          AffineMap affine) {
  switch (e->kind()) {
    case Expression::Kind::kConstant:
      return e;
    case Expression::Kind::kLoad: {
      Access access = MapIndices(e->access(), expression, affine);
      if (SameIndices(access, e->access())) return e;
      return Expression::Load(e->type(), std::move(access));
    }
    case Expression::Kind::kIndex: {
      Affine index = affine(e->index());
      if (index == e->index()) return e;
      return Expression::OfIndex(e->type(), std::move(index));
    }
    case Expression::Kind::kApply:
    case Expression::Kind::kWhere:
      break;
  }
  std::vector<ExpressionPtr> operands;
  operands.reserve(e->operands().size());
  for (const ExpressionPtr& operand : e->operands()) {
    operands.push_back(expression(operand));
  }
  if (e->kind() == Expression::Kind::kApply) {
    if (operands == e->operands()) return e;
    return WithOperands(*e, std::move(operands));
  }
  std::vector<Range> ranges = e->ranges();
  for (Range& range : ranges) range.value = affine(range.value);
  if (operands == e->operands() && ranges == e->ranges()) return e;
  return Expression::Where(std::move(ranges), std::move(operands[0]),
                           std::move(operands[1]));
}

StatementPtr MapChildren(const StatementPtr& statement,
                         ExpressionMap expression, AffineMap affine) {
  Access target = MapIndices(statement->target, expression, affine);
  ExpressionPtr value = expression(statement->value);
  ExpressionPtr predicate = statement->predicate == nullptr
                                ? nullptr
                                : expression(statement->predicate);
  if (value == statement->value && predicate == statement->predicate &&
      SameIndices(target, statement->target)) {
    return statement;
  }
  auto result = std::make_shared<Statement>(*statement);
  result->target = std::move(target);
  result->value = std::move(value);
  result->predicate = std::move(predicate);
  return result;
}

// Maps statements by `statement` and bounds by `affine`, recursively.
Node MapTree(const Node& node,
             absl::FunctionRef<StatementPtr(const StatementPtr&)> statement,
             AffineMap affine) {
  if (node.statement() != nullptr) return statement(node.statement_ptr());
  const Loop& loop = *node.loop();
  std::vector<Node> body;
  body.reserve(loop.body.size());
  for (const Node& child : loop.body) {
    body.push_back(MapTree(child, statement, affine));
  }
  std::optional<Affine> bound = loop.bound;
  if (bound.has_value()) bound = affine(*bound);
  if (bound == loop.bound && Identical(body, loop.body)) return node;
  auto result = std::make_shared<Loop>();
  result->var = loop.var;
  result->extent = loop.extent;
  result->bound = std::move(bound);
  result->mode = loop.mode;
  result->locals = loop.locals;
  result->body = std::move(body);
  return std::shared_ptr<const Loop>(std::move(result));
}

Affine Same(const Affine& affine) { return affine; }

// Renumbers variables, and optionally buffers, recursively.
class Renamer {
 public:
  Renamer(Program& program, bool rename_locals)
      : program_(program), rename_locals_(rename_locals) {}

  Node Rename(const Node& node) {
    if (node.statement() != nullptr) {
      const Node renamed = MapAffines(
          node, [this](const Affine& a) { return Renamed(a, vars_); });
      if (buffers_.empty()) return renamed;
      return MapAccesses(renamed, [this](const Access& a) {
        Access access = a;
        access.buffer = Rename(a.buffer);
        return access;
      });
    }
    const Loop& old = *node.loop();
    auto loop = std::make_shared<Loop>();
    loop->extent = old.extent;
    loop->mode = old.mode;
    if (old.bound.has_value()) loop->bound = Renamed(*old.bound, vars_);
    loop->var = vars_[old.var] = program_.NewVar();
    loop->locals = old.locals;
    if (rename_locals_) {
      for (BufferId& local : loop->locals) {
        local = buffers_[local] = program_.AddBuffer(program_.buffer(local));
      }
    }
    loop->body.reserve(old.body.size());
    for (const Node& child : old.body) loop->body.push_back(Rename(child));
    return std::shared_ptr<const Loop>(std::move(loop));
  }

 private:
  BufferId Rename(BufferId buffer) const {
    const auto it = buffers_.find(buffer);
    return it == buffers_.end() ? buffer : it->second;
  }

  Program& program_;
  const bool rename_locals_;
  // Sibling loops may share a variable: the last one entered counts.
  absl::flat_hash_map<VarId, VarId> vars_;
  absl::flat_hash_map<BufferId, BufferId> buffers_;
};

void VisitNodes(
    absl::Span<const Node> body, Path& path,
    absl::FunctionRef<void(const Path&, const Loop&)> loop,
    absl::FunctionRef<void(const Path&, const Statement&)> statement) {
  path.push_back(0);
  for (const Node& node : body) {
    if (node.statement() != nullptr) {
      statement(path, *node.statement());
    } else {
      loop(path, *node.loop());
      VisitNodes(node.loop()->body, path, loop, statement);
    }
    ++path.back();
  }
  path.pop_back();
}

void VisitAtOrBelow(
    const Program& program, Path path,
    absl::FunctionRef<void(const Path&, const Loop&)> loop,
    absl::FunctionRef<void(const Path&, const Statement&)> statement) {
  if (path.empty()) return VisitNodes(program.body(), path, loop, statement);
  const Node& node = program.At(path);
  if (node.statement() != nullptr) return statement(path, *node.statement());
  loop(path, *node.loop());
  VisitNodes(node.loop()->body, path, loop, statement);
}

bool Contains(const std::vector<BufferId>& locals, BufferId buffer) {
  return std::find(locals.begin(), locals.end(), buffer) != locals.end();
}

}  // namespace

void VisitStatements(
    const Program& program, const Path& path,
    absl::FunctionRef<void(const Path&, const Statement&)> visit) {
  VisitAtOrBelow(
      program, path, [](const Path&, const Loop&) {}, visit);
}

void VisitStatements(const Node& node,
                     absl::FunctionRef<void(const Statement&)> visit) {
  if (node.statement() != nullptr) return visit(*node.statement());
  for (const Node& child : node.loop()->body) VisitStatements(child, visit);
}

void VisitLoops(const Program& program, const Path& path,
                absl::FunctionRef<void(const Path&, const Loop&)> visit) {
  VisitAtOrBelow(program, path, visit, [](const Path&, const Statement&) {});
}

void VisitLoads(const Expression& e,
                absl::FunctionRef<void(const Access&)> visit) {
  if (e.kind() == Expression::Kind::kLoad) {
    for (const Index& index : e.access().indices) {
      if (index.offset != nullptr) VisitLoads(*index.offset, visit);
    }
    visit(e.access());
  }
  for (const ExpressionPtr& operand : e.operands()) VisitLoads(*operand, visit);
}

void VisitAccesses(
    const Statement& statement,
    absl::FunctionRef<void(const Access&, bool is_target)> visit) {
  const auto visit_load = [visit](const Access& a) { visit(a, false); };
  for (const Index& index : statement.target.indices) {
    if (index.offset != nullptr) VisitLoads(*index.offset, visit_load);
  }
  if (statement.predicate != nullptr) {
    VisitLoads(*statement.predicate, visit_load);
  }
  VisitLoads(*statement.value, visit_load);
  visit(statement.target, true);
}

bool Mentions(const Node& node, BufferId buffer) {
  bool found = false;
  VisitStatements(node, [&](const Statement& statement) {
    if (found) return;
    VisitAccesses(statement, [&](const Access& access, bool) {
      found = found || access.buffer == buffer;
    });
  });
  return found;
}

std::optional<Path> FindDeclaration(const Program& program, BufferId buffer) {
  std::optional<Path> found;
  if (Contains(program.locals(), buffer)) {
    found.emplace();
    return found;
  }
  VisitLoops(program, Path(), [&](const Path& path, const Loop& loop) {
    if (Contains(loop.locals, buffer)) found = path;
  });
  return found;
}

ExpressionPtr MapAffines(const ExpressionPtr& e, AffineMap map) {
  return MapChildren(
      e, [map](const ExpressionPtr& child) { return MapAffines(child, map); },
      map);
}

Access MapAffines(const Access& access, AffineMap map) {
  return MapIndices(
      access,
      [map](const ExpressionPtr& child) { return MapAffines(child, map); },
      map);
}

Node MapAffines(const Node& node, AffineMap map) {
  const auto map_expression = [map](const ExpressionPtr& e) {
    return MapAffines(e, map);
  };
  return MapTree(
      node,
      [&](const StatementPtr& statement) {
        return MapChildren(statement, map_expression, map);
      },
      map);
}

Affine Renamed(const Affine& affine,
               const absl::flat_hash_map<VarId, VarId>& names) {
  Affine result = affine.constant();
  for (const Affine::Term& term : affine.terms()) {
    const auto it = names.find(term.var);
    result += Affine::Var(it == names.end() ? term.var : it->second,
                          term.coefficient);
  }
  return result;
}

Node Substitute(const Node& node, VarId var, const Affine& replacement) {
  return MapAffines(node, [&](const Affine& affine) {
    return affine.Substitute(var, replacement);
  });
}

std::vector<Node> Substitute(absl::Span<const Node> nodes, VarId var,
                             const Affine& replacement) {
  std::vector<Node> result;
  result.reserve(nodes.size());
  for (const Node& node : nodes) {
    result.push_back(Substitute(node, var, replacement));
  }
  return result;
}

ExpressionPtr MapExpressions(const ExpressionPtr& e, ExpressionMap map) {
  return map(MapChildren(
      e,
      [map](const ExpressionPtr& child) { return MapExpressions(child, map); },
      Same));
}

Access MapExpressions(const Access& access, ExpressionMap map) {
  return MapIndices(
      access,
      [map](const ExpressionPtr& child) { return MapExpressions(child, map); },
      Same);
}

StatementPtr MapExpressions(const StatementPtr& statement, ExpressionMap map) {
  return MapChildren(
      statement,
      [map](const ExpressionPtr& child) { return MapExpressions(child, map); },
      Same);
}

Node MapExpressions(const Node& node, ExpressionMap map) {
  return MapStatements(node, [map](const StatementPtr& statement) {
    return MapExpressions(statement, map);
  });
}

ExpressionPtr MapAccesses(const ExpressionPtr& e, AccessMap map) {
  return MapExpressions(e, [map](const ExpressionPtr& child) -> ExpressionPtr {
    if (child->kind() != Expression::Kind::kLoad) return child;
    Access access = map(child->access());
    if (access.buffer == child->access().buffer &&
        SameIndices(access, child->access())) {
      return child;
    }
    return Expression::Load(child->type(), std::move(access));
  });
}

Node MapAccesses(const Node& node, AccessMap map) {
  const auto map_expression = [map](const ExpressionPtr& e) {
    return MapAccesses(e, map);
  };
  return MapStatements(node, [&](const StatementPtr& statement) {
    const StatementPtr mapped = MapChildren(statement, map_expression, Same);
    Access target = map(mapped->target);
    if (target.buffer == mapped->target.buffer &&
        SameIndices(target, mapped->target)) {
      return mapped;
    }
    auto result = std::make_shared<Statement>(*mapped);
    result->target = std::move(target);
    return StatementPtr(std::move(result));
  });
}

Node MapStatements(const Node& node,
                   absl::FunctionRef<StatementPtr(const StatementPtr&)> map) {
  return MapTree(node, map, Same);
}

Node WithNewVars(Program& program, const Node& node) {
  return Renamer(program, /*rename_locals=*/false).Rename(node);
}

Node Duplicate(Program& program, const Node& node) {
  return Renamer(program, /*rename_locals=*/true).Rename(node);
}

}  // namespace hone::loops
