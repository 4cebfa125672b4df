// online_softmax PATH: merges the pass that computes a maximum, the loop at
// PATH, with the following pass that sums exponentials of the difference to
// that maximum. The running sum is rescaled whenever the maximum grows.
//
//   m = -inf; for j { m max= x[j] }
//   s = 0;    for j { s += exp(x[j] - m) }
//     →  m = -inf; s = 0
//        for j { n = m; n max= x[j]
//                s = select(m == -inf, 0, s * exp(m - n)); s += exp(x[j] - n)
//                m = n }
//
// If the passes are split into blocks, the inner loops stay as they are and the
// sum is rescaled once per block. The second pass may have several sums, also
// of products with the exponential (attention), also over the indices of inner
// loops.
// Legal if the passes have exactly this form, over the same expression, and
// start with a number or -inf, and with 0. Results are the same for infinities
// and NaN, with one exception: a factor of the exponential that is not finite
// is ignored as long as all inputs so far are -inf. Changes rounding.
// Source: Milakov and Gimelshein, "Online normalizer calculation for softmax",
// 2018, algorithm 3.

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "loops/ir/rewrite.h"
#include "loops/transforms/analysis/coverage.h"
#include "loops/transforms/analysis/footprint.h"
#include "loops/transforms/analysis/same_expression.h"
#include "loops/transforms/checks.h"
#include "loops/transforms/locals.h"
#include "loops/transforms/registry.h"

namespace hone::loops {
namespace {

using hlo::Opcode;

absl::Status Unrecognized(absl::string_view why) {
  return absl::InvalidArgumentError(why);
}

bool IsApply(const Expression& e, Opcode opcode) {
  return e.kind() == Expression::Kind::kApply && e.opcode() == opcode;
}

// x of exp(x - m), m being a load of `maximum`; null for anything else.
ExpressionPtr ExponentOf(const Expression& e, const Access& maximum) {
  if (!IsApply(e, Opcode::kExponential) ||
      !IsApply(*e.operands()[0], Opcode::kSubtract)) {
    return nullptr;
  }
  const Expression& difference = *e.operands()[0];
  const Expression& subtracted = *difference.operands()[1];
  if (subtracted.kind() != Expression::Kind::kLoad ||
      !SameAccess(subtracted.access(), maximum)) {
    return nullptr;
  }
  return difference.operands()[0];
}

bool Loads(const Expression& e, BufferId buffer) {
  bool loads = false;
  VisitLoads(e,
             [&](const Access& access) { loads |= access.buffer == buffer; });
  return loads;
}

// One thing that the second pass adds up.
struct Sum {
  Path path;  // of the statement
  AccessSite site;
};

// Both passes, siblings.
struct Passes {
  Path first;
  Path second;
  Access maximum;
  std::vector<Sum> sums;
};

// Returns true if `value` is an exponential of `x`, with or without a factor
// that has nothing to do with the passes.
absl::Status CheckAddend(const Program& program, const Expression& value,
                         const Passes& passes, const ExpressionPtr& x,
                         const Path& first, const Path& second) {
  std::vector<ExpressionPtr> factors;
  if (IsApply(value, Opcode::kMultiply)) {
    factors = value.operands();
  }
  ExpressionPtr exponent = ExponentOf(value, passes.maximum);
  for (size_t i = 0; i < factors.size() && exponent == nullptr; ++i) {
    exponent = ExponentOf(*factors[i], passes.maximum);
    if (exponent != nullptr && Loads(*factors[1 - i], passes.maximum.buffer)) {
      return Unrecognized("a factor of the exponential depends on the maximum");
    }
  }
  if (exponent == nullptr) {
    return Unrecognized("the second pass does not add up exponentials");
  }
  // The loops of both passes that the exponent depends on, pairwise.
  const std::vector<const Loop*> first_loops = program.LoopsAbove(first);
  const std::vector<const Loop*> second_loops = program.LoopsAbove(second);
  const size_t depth = passes.first.size() - 1;
  std::vector<const Loop*> used;
  for (size_t i = depth; i < second_loops.size(); ++i) {
    bool uses = i == depth;
    MapAffines(exponent, [&](const Affine& affine) {
      uses |= affine.Uses(second_loops[i]->var);
      return affine;
    });
    if (uses) used.push_back(second_loops[i]);
  }
  if (used.size() != first_loops.size() - depth) {
    return Unrecognized("the passes have different loops");
  }
  LoopPairs pairs;
  for (size_t i = 0; i < used.size(); ++i) {
    if (!pairs.Add(*used[i], *first_loops[depth + i])) {
      return Unrecognized("the passes have different extents");
    }
  }
  if (!SameExpression(*exponent, *x, pairs)) {
    return Unrecognized("the passes are over different values");
  }
  return absl::OkStatus();
}

// Errors: unless the last node before `end` among the siblings that mentions
// `site`'s buffer gives all that it touches a constant that `accepts` likes.
absl::Status CheckBeginsWith(const Program& program, const Path& parent,
                             int32_t end, const AccessSite& site,
                             absl::FunctionRef<bool(double)> accepts) {
  const std::vector<Node>& body = BodyAt(program, parent);
  for (int32_t i = end - 1; i >= 0; --i) {
    if (!Mentions(body[static_cast<size_t>(i)], site.access.buffer)) continue;
    Path path = parent;
    path.push_back(i);
    const std::vector<AccessSite> writes =
        SitesOf(program, path, site.access.buffer);
    const Statement& statement = *program.At(writes.front().path).statement();
    if (writes.size() != 1 || !Covers(program, writes.front(), site) ||
        statement.value->kind() != Expression::Kind::kConstant ||
        !accepts(statement.value->number())) {
      break;
    }
    return absl::OkStatus();
  }
  return Unrecognized("a pass does not begin with the right constant");
}

// Errors: unless a nest over the sum's indices, in an iteration of the second
// pass, comes to all that has been added up, once.
absl::Status CheckScaling(const Program& program, const Passes& passes,
                          const AccessSite& sum) {
  const VarId pass = program.At(passes.second).loop()->var;
  const std::vector<const Loop*> below =
      LoopsBetween(program, passes.second, sum);
  if (!TouchesEachOnce(program, sum, below)) {
    return Unrecognized("several iterations may have one sum");
  }
  for (const Loop* loop : below) {
    if (loop->bound.has_value() && loop->bound->Uses(pass) &&
        std::any_of(
            sum.access.indices.begin(), sum.access.indices.end(),
            [&](const Index& index) { return index.affine.Uses(loop->var); })) {
      return Unrecognized("not every iteration has all sums");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckSequential(const Loop& loop) {
  if (loop.mode == LoopMode::kSequential || loop.mode == LoopMode::kUnrolled) {
    return absl::OkStatus();
  }
  return Unrecognized("a pass is a vector or parallel");
}

absl::StatusOr<Passes> Recognize(const Program& program, const Path& path) {
  if (path.empty() || !program.Has(path) ||
      program.At(path).loop() == nullptr) {
    return Unrecognized("the path is not that of a loop");
  }
  Passes passes;
  passes.first = path;
  const Path parent = Prefix(path, path.size() - 1);
  // The first pass is one statement.
  std::vector<Path> statements;
  VisitStatements(program, path, [&](const Path& at, const Statement&) {
    statements.push_back(at);
  });
  if (statements.size() != 1) {
    return Unrecognized("the first pass is more than one statement");
  }
  const Path first = statements.front();
  const Statement& maximum = *program.At(first).statement();
  passes.maximum = maximum.target;
  const BufferId m = maximum.target.buffer;
  const hlo::ElementType type = program.buffer(m).type;
  if (maximum.combine != Opcode::kMaximum || maximum.predicate != nullptr ||
      !hlo::IsFloat(type) || Loads(*maximum.value, m)) {
    return Unrecognized("the first pass does not find a maximum");
  }
  AccessSite m_site;
  m_site.path = first;
  m_site.access = maximum.target;
  m_site.is_write = true;
  m_site.combine = Opcode::kMaximum;
  for (const Index& index : maximum.target.indices) {
    if (index.offset != nullptr ||
        !SeenFrom(index.affine, LoopsBetween(program, parent, m_site))
             .digits.empty()) {
      return Unrecognized("the maximum is not one for the whole pass");
    }
  }
  // Scaling by exp(m - n) must not meet infinity less infinity.
  HONE_RETURN_IF_ERROR(
      CheckBeginsWith(program, parent, path.back(), m_site, [](double value) {
        return value < std::numeric_limits<double>::infinity();
      }));

  // The second pass is the next sibling that has to do with the maximum.
  const std::vector<Node>& body = BodyAt(program, parent);
  size_t next = static_cast<size_t>(path.back()) + 1;
  while (next < body.size() && !Mentions(body[next], m)) ++next;
  if (next == body.size() || body[next].loop() == nullptr) {
    return Unrecognized("there is no second pass");
  }
  passes.second = parent;
  passes.second.push_back(static_cast<int32_t>(next));
  HONE_RETURN_IF_ERROR(CheckSequential(*program.At(path).loop()));
  HONE_RETURN_IF_ERROR(CheckSequential(*body[next].loop()));
  const std::vector<const Loop*> inside = {body[next].loop()};

  absl::Status status;
  VisitStatements(
      program, passes.second, [&](const Path& at, const Statement& statement) {
        if (!status.ok()) return;
        if (statement.combine != Opcode::kAdd ||
            statement.predicate != nullptr) {
          status = Unrecognized("the second pass is not made of sums");
          return;
        }
        status = CheckAddend(program, *statement.value, passes, maximum.value,
                             first, at);
        Sum sum;
        sum.path = at;
        sum.site.path = at;
        sum.site.access = statement.target;
        sum.site.is_write = true;
        sum.site.combine = Opcode::kAdd;
        for (const Index& index : statement.target.indices) {
          if (index.offset != nullptr || index.affine.Uses(inside[0]->var)) {
            status = Unrecognized("the sum depends on the second pass");
          }
        }
        if (status.ok()) status = CheckScaling(program, passes, sum.site);
        if (program.buffer(statement.target.buffer).type != type) {
          status = Unrecognized("a sum has another type than the maximum");
        }
        if (status.ok()) {
          status =
              CheckBeginsWith(program, parent, passes.second.back(), sum.site,
                              [](double value) { return value == 0; });
        }
        passes.sums.push_back(std::move(sum));
      });
  if (!status.ok()) return status;

  // Sums are apart from each other and from what is read.
  for (const Sum& sum : passes.sums) {
    const BufferId target = sum.site.access.buffer;
    if (target == m || SitesOf(program, passes.second, target).size() != 1 ||
        Mentions(program.At(path), target)) {
      return Unrecognized("a sum is used in the passes otherwise");
    }
  }
  // Nodes between the passes will be moved in front of them, so they must not
  // depend on the first.
  for (const AccessSite& site : CollectAccesses(program, path)) {
    for (size_t i = static_cast<size_t>(path.back()) + 1; i < next; ++i) {
      Path between = parent;
      between.push_back(static_cast<int32_t>(i));
      for (const AccessSite& other :
           SitesOf(program, between, site.access.buffer)) {
        if (other.is_write || site.is_write) {
          return Unrecognized("what is between the passes must stay there");
        }
      }
    }
  }
  return passes;
}

class OnlineSoftmax final : public Transform {
 public:
  absl::string_view name() const override { return "online_softmax"; }
  bool changes_rounding() const override { return true; }

  void Enumerate(const Program& program, const Machine&,
                 std::vector<Step>& steps) const override {
    VisitLoops(program, Path(), [&](const Path& path, const Loop&) {
      const Step step = {"online_softmax", path, {}};
      if (Apply(program, step).ok()) steps.push_back(step);
    });
  }

  absl::StatusOr<Program> Apply(const Program& program,
                                const Step& step) const override {
    HONE_RETURN_IF_ERROR(ExpectParameters(step, 0, "none"));
    HONE_ASSIGN_OR_RETURN(const Passes passes, Recognize(program, step.path));
    const Path parent = Prefix(passes.first, passes.first.size() - 1);
    // The second pass gets the variable of the first, which may be that of a
    // loop in it.
    Program renamed = program;
    renamed.Replace(passes.second,
                    {WithNewVars(renamed, program.At(passes.second))});
    HONE_ASSIGN_OR_RETURN(const Passes passes_of_renamed,
                          Recognize(renamed, step.path));
    Program result = renamed;
    HONE_ASSIGN_OR_RETURN(Node merged,
                          Merged(renamed, result, passes_of_renamed));
    std::vector<Node> body;
    const std::vector<Node>& old = BodyAt(renamed, parent);
    for (size_t i = 0; i < old.size(); ++i) {
      if (i == static_cast<size_t>(passes.first.back())) continue;
      body.push_back(i == static_cast<size_t>(passes.second.back()) ? merged
                                                                    : old[i]);
    }
    SetBody(result, parent, std::move(body));
    HONE_RETURN_IF_ERROR(CheckRegisters(result));
    return result;
  }

 private:
  static absl::StatusOr<Node> Merged(const Program& program, Program& result,
                                     const Passes& passes) {
    const Loop& first = *program.At(passes.first).loop();
    const Loop& second = *program.At(passes.second).loop();
    const BufferId m = passes.maximum.buffer;
    const hlo::ElementType type = program.buffer(m).type;
    Loop merged = first;
    merged.locals.insert(merged.locals.end(), second.locals.begin(),
                         second.locals.end());
    const BufferId grown = AddScalar(result, program.buffer(m).name, type);
    merged.locals.push_back(grown);
    Access new_maximum;
    new_maximum.buffer = grown;
    const auto renew = [&](const Access& access) {
      return access.buffer == m ? new_maximum : access;
    };
    const ExpressionPtr old_value = Expression::Load(type, passes.maximum);
    const ExpressionPtr new_value = Expression::Load(type, new_maximum);

    merged.body.clear();
    Statement begin;
    begin.target = new_maximum;
    begin.value = old_value;
    merged.body.push_back(MakeNode(std::move(begin)));
    for (const Node& node : first.body) {
      merged.body.push_back(MapAccesses(node, renew));
    }
    const ExpressionPtr scale = Expression::Apply(
        Opcode::kExponential, type,
        {Expression::Apply(Opcode::kSubtract, type, {old_value, new_value})});
    const ExpressionPtr is_first = Expression::Compare(
        hlo::ComparisonDirection::kEq, /*total_order=*/false, old_value,
        Expression::Constant(type, -std::numeric_limits<double>::infinity()));
    for (const Sum& sum : passes.sums) {
      HONE_ASSIGN_OR_RETURN(
          Node node,
          SweepOf(result, passes.second, sum.site, [&](const Access& access) {
            Statement statement;
            statement.target = access;
            statement.value = Expression::Apply(
                Opcode::kSelect, type,
                {is_first, Expression::Constant(type, 0),
                 Expression::Apply(Opcode::kMultiply, type,
                                   {Expression::Load(type, access), scale})});
            return statement;
          }));
      merged.body.push_back(std::move(node));
    }
    for (const Node& node : second.body) {
      merged.body.push_back(Substitute(MapAccesses(node, renew), second.var,
                                       Affine::Var(first.var)));
    }
    Statement end;
    end.target = passes.maximum;
    end.value = new_value;
    merged.body.push_back(MakeNode(std::move(end)));
    return MakeNode(std::move(merged));
  }
};

}  // namespace

std::unique_ptr<Transform> MakeOnlineSoftmax() {
  return std::make_unique<OnlineSoftmax>();
}

}  // namespace hone::loops
