// hoist PATH: moves the node at PATH, which does the same in each iteration of
// the loop around it, in front of that loop.
// hoist PATH EXPRESSION LEVELS: computes a subexpression of the value of the
// statement at PATH once, into a register, in front of the LEVELS innermost
// loops around the statement, which it must not depend on. Expressions are
// numbered from 0, the value itself, each before its operands.
//
//   for j { y[j] = x[j] * sqrt(v[i]) }
//     →  r = sqrt(v[i]); for j { y[j] = x[j] * r }
//
// Legal for a node whose effects are the same if it runs once, before the rest
// of the loop, and for an expression that is always evaluated and whose loads
// see no write in those loops.

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "loops/ir/rewrite.h"
#include "loops/transforms/analysis/coverage.h"
#include "loops/transforms/analysis/footprint.h"
#include "loops/transforms/checks.h"
#include "loops/transforms/locals.h"
#include "loops/transforms/registry.h"

namespace hone::loops {
namespace {

bool UsesVar(const Node& node, VarId var) {
  bool uses = false;
  MapAffines(node, [&](const Affine& affine) {
    uses |= affine.Uses(var);
    return affine;
  });
  return uses;
}

// Returns an error unless the node has the same effect if it runs once, first.
absl::Status CheckNode(const Program& program, const Path& path) {
  const Path loop_path = Prefix(path, path.size() - 1);
  const Loop& loop = *program.At(loop_path).loop();
  if (UsesVar(program.At(path), loop.var)) {
    return absl::InvalidArgumentError("the node depends on the loop");
  }
  const std::vector<const Loop*> above = program.LoopsAbove(loop_path);
  if (!RunsAtLeastOnce(loop, above)) {
    return absl::InvalidArgumentError("the loop may have no iteration");
  }
  const std::vector<AccessSite> in_node = CollectAccesses(program, path);
  const std::vector<AccessSite> in_loop = CollectAccesses(program, loop_path);
  for (const AccessSite& site : in_node) {
    const std::optional<Path> declaration =
        FindDeclaration(program, site.access.buffer);
    if (declaration.has_value() && IsAtOrBelow(*declaration, path)) continue;
    // No other node of the loop may write this buffer and, if the node writes
    // it, none in front of the node may read it.
    for (const AccessSite& other : in_loop) {
      if (other.access.buffer != site.access.buffer ||
          IsAtOrBelow(other.path, path)) {
        continue;
      }
      if (other.is_write ||
          (site.is_write && other.path[path.size() - 1] < path.back())) {
        return absl::InvalidArgumentError(
            "the loop's other nodes do not let the node run first");
      }
    }
    const bool is_written =
        std::any_of(in_node.begin(), in_node.end(), [&](const AccessSite& w) {
          return w.is_write && w.access.buffer == site.access.buffer;
        });
    if (is_written && (!site.is_write || site.combine.has_value()) &&
        !IsCovered(program, path, site)) {
      return absl::InvalidArgumentError(
          "the node needs what it wrote an iteration before");
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Program> HoistNode(const Program& program, const Path& path) {
  if (path.size() < 2 || !program.Has(path)) {
    return absl::InvalidArgumentError(
        "the path is not that of a node in a loop");
  }
  HONE_RETURN_IF_ERROR(CheckNode(program, path));
  const Path loop_path = Prefix(path, path.size() - 1);
  Program result = program;
  // Its targets must be there for the loop as a whole.
  std::set<BufferId> written;
  for (const AccessSite& site : CollectAccesses(program, path)) {
    if (FindDeclaration(program, site.access.buffer) == loop_path) {
      written.insert(site.access.buffer);
    }
  }
  Loop loop = *program.At(loop_path).loop();
  const Node& node = program.At(path);
  loop.body.erase(loop.body.begin() + path.back());
  std::erase_if(loop.locals,
                [&](BufferId local) { return written.contains(local); });
  std::vector<Node> nodes = {node};
  if (!loop.body.empty()) nodes.push_back(MakeNode(std::move(loop)));
  result.Replace(loop_path, std::move(nodes));
  for (BufferId local : written) {
    AddDeclaration(result, Prefix(loop_path, loop_path.size() - 1), local);
  }
  return result;
}

// A subexpression of a statement's value.
struct Place {
  ExpressionPtr expression;
  // Not evaluated in every case.
  bool is_guarded = false;
};

void NumberExpressions(const ExpressionPtr& e, bool is_guarded,
                       std::vector<Place>& places) {
  places.push_back({e, is_guarded});
  for (const ExpressionPtr& operand : e->operands()) {
    NumberExpressions(
        operand, is_guarded || e->kind() == Expression::Kind::kWhere, places);
  }
}

// Returns the number of innermost loops that an expression does not depend on.
size_t InvariantLevels(const Program& program, const Path& path,
                       const ExpressionPtr& e) {
  const std::vector<const Loop*> above = program.LoopsAbove(path);
  size_t levels = above.size();
  MapAffines(e, [&](const Affine& affine) {
    for (size_t i = 0; i < above.size(); ++i) {
      if (affine.Uses(above[i]->var)) {
        levels = std::min(levels, above.size() - 1 - i);
      }
    }
    return affine;
  });
  return levels;
}

absl::StatusOr<Program> HoistExpression(const Program& program,
                                        const Step& step) {
  const Path& path = step.path;
  if (path.empty() || !program.Has(path) ||
      program.At(path).statement() == nullptr) {
    return absl::InvalidArgumentError("the path is not that of a statement");
  }
  Statement statement = *program.At(path).statement();
  std::vector<Place> places;
  NumberExpressions(statement.value, statement.predicate != nullptr, places);
  const int64_t number = step.parameters[0];
  const int64_t levels = step.parameters[1];
  if (number < 0 || number >= static_cast<int64_t>(places.size())) {
    return absl::InvalidArgumentError("the value has no such expression");
  }
  const Place& place = places[static_cast<size_t>(number)];
  if (levels < 1 || levels > static_cast<int64_t>(InvariantLevels(
                                 program, path, place.expression))) {
    return absl::InvalidArgumentError(
        "the expression depends on one of the loops");
  }
  if (place.is_guarded ||
      place.expression->kind() == Expression::Kind::kConstant) {
    return absl::InvalidArgumentError(
        "the expression is not always evaluated, or is a constant");
  }
  const Path region = Prefix(path, path.size() - static_cast<size_t>(levels));
  const std::vector<const Loop*> above = program.LoopsAbove(path);
  for (size_t i = region.size() - 1; i < above.size(); ++i) {
    if (!RunsAtLeastOnce(*above[i], absl::MakeSpan(above).subspan(0, i))) {
      return absl::InvalidArgumentError("a loop may have no iteration");
    }
  }
  bool changes = false;
  VisitLoads(*place.expression, [&](const Access& access) {
    const std::optional<Path> declaration =
        FindDeclaration(program, access.buffer);
    changes |= declaration.has_value() && IsAtOrBelow(*declaration, region);
    for (const AccessSite& site : SitesOf(program, region, access.buffer)) {
      changes |= site.is_write;
    }
  });
  if (changes) {
    return absl::InvalidArgumentError("the loops change what it loads");
  }
  Program result = program;
  const Path parent = Prefix(region, region.size() - 1);
  const BufferId local = AddScalar(result, "hoisted", place.expression->type());
  AddDeclaration(result, parent, local);
  Statement before;
  before.target.buffer = local;
  before.value = place.expression;
  const ExpressionPtr load =
      Expression::Load(place.expression->type(), before.target);
  // If the same expression is shared, all of its places are meant.
  statement.value = MapExpressions(
      statement.value,
      [&](const ExpressionPtr& e) { return e == place.expression ? load : e; });
  result.Replace(path, {MakeNode(std::move(statement))});
  const Node nest = result.At(region);
  result.Replace(region, {MakeNode(std::move(before)), nest});
  return result;
}

class Hoist final : public Transform {
 public:
  absl::string_view name() const override { return "hoist"; }

  // Nodes, and the largest expressions that compute something, as far out as
  // they go.
  void Enumerate(const Program& program, const Machine&,
                 std::vector<Step>& steps) const override {
    const auto try_node = [&](const Path& path) {
      if (HoistNode(program, path).ok()) steps.push_back({"hoist", path, {}});
    };
    VisitLoops(program, Path(),
               [&](const Path& path, const Loop&) { try_node(path); });
    VisitStatements(
        program, Path(), [&](const Path& path, const Statement& statement) {
          try_node(path);
          std::vector<Place> places;
          NumberExpressions(statement.value, false, places);
          // Expressions inside of one that moves are not looked at.
          std::set<const Expression*> inside;
          for (size_t i = 0; i < places.size(); ++i) {
            const ExpressionPtr& e = places[i].expression;
            bool moves = inside.contains(e.get());
            if (!moves && (e->kind() == Expression::Kind::kApply ||
                           e->kind() == Expression::Kind::kWhere)) {
              for (size_t levels = InvariantLevels(program, path, e);
                   levels > 0 && !moves; --levels) {
                const Step step = {
                    "hoist",
                    path,
                    {static_cast<int64_t>(i), static_cast<int64_t>(levels)}};
                moves = HoistExpression(program, step).ok();
                if (moves) steps.push_back(step);
              }
            }
            if (moves) {
              for (const ExpressionPtr& o : e->operands()) {
                inside.insert(o.get());
              }
            }
          }
        });
  }

  absl::StatusOr<Program> Apply(const Program& program,
                                const Step& step) const override {
    if (step.parameters.empty()) return HoistNode(program, step.path);
    HONE_RETURN_IF_ERROR(
        ExpectParameters(step, 2, "none or EXPRESSION LEVELS"));
    return HoistExpression(program, step);
  }
};

}  // namespace

std::unique_ptr<Transform> MakeHoist() { return std::make_unique<Hoist>(); }

}  // namespace hone::loops
