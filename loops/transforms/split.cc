// split PATH FACTOR: one scope becomes two.
//
//   for i 1000           for i 63
//   | y[i] = x[i]   →    | for j 16 < 1000-16*i
//                        | | y[16*i+j] = x[16*i+j]
//
// Legal always: the order of iterations stays. A scope that has a bound already
// must be divided evenly, for a scope has one bound only. Pays as a step to
// vectors, unrolling and tiles; a factor that does not divide costs the inner
// scope its constant extent (until peel).

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "loops/rewrite.h"
#include "loops/transforms/checks.h"
#include "loops/transforms/registry.h"

namespace hone::loops {
namespace {

absl::Status Check(const Scope& scope, int64_t factor) {
  if (factor < 2 || factor >= scope.extent) {
    return absl::InvalidArgumentError(absl::StrCat(
        "factor ", factor, ", expected at least 2 and less than the extent ",
        scope.extent));
  }
  if (scope.mode != ScopeMode::kSequential) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the scope is ", ModeName(scope.mode), ", expected sequential"));
  }
  if (scope.bound.has_value() && scope.extent % factor != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("factor ", factor, " does not divide the extent ",
                     scope.extent, " of a scope with a bound"));
  }
  return absl::OkStatus();
}

// Lanes of the widest register for the narrowest type that the scope writes.
int64_t LanesOf(const Program& program, const Node& scope,
                const Machine& machine) {
  int64_t lanes = 1;
  VisitStatements(scope, [&](const Statement& statement) {
    const Buffer& target = program.buffer(statement.target.buffer);
    lanes =
        std::max(lanes, machine.vector_bytes /
                            std::max<int64_t>(hlo::ByteWidth(target.type), 1));
  });
  return lanes;
}

// Powers of two for blocks and lanes, sizes of register tiles, and where the
// extent is none of these its small divisors. Factors that do not divide only
// where the incomplete tile is a small part of the whole.
std::vector<int64_t> Factors(int64_t extent, int64_t lanes) {
  std::vector<int64_t> factors;
  for (int64_t factor = 2; factor <= 256; factor *= 2) {
    factors.push_back(factor);
  }
  factors.insert(factors.end(), {6, 2 * lanes, 3 * lanes, 4 * lanes});
  for (int64_t divisor = 3; divisor <= 32; ++divisor) {
    if (extent % divisor == 0 && extent < 4096) factors.push_back(divisor);
  }
  std::sort(factors.begin(), factors.end());
  factors.erase(std::unique(factors.begin(), factors.end()), factors.end());
  std::erase_if(factors, [&](int64_t factor) {
    return factor < 2 || factor >= extent ||
           (extent % factor != 0 && extent < 4 * factor);
  });
  return factors;
}

class Split final : public Transform {
 public:
  absl::string_view name() const override { return "split"; }

  void Enumerate(const Program& program, const Machine& machine,
                 std::vector<Step>& steps) const override {
    VisitScopes(program, Path(), [&](const Path& path, const Scope& scope) {
      if (scope.mode != ScopeMode::kSequential) return;
      const int64_t lanes = LanesOf(program, program.At(path), machine);
      for (int64_t factor : Factors(scope.extent, lanes)) {
        if (Check(scope, factor).ok()) {
          steps.push_back({"split", path, {factor}});
        }
      }
    });
  }

  absl::StatusOr<Program> Apply(const Program& program,
                                const Step& step) const override {
    HONE_RETURN_IF_ERROR(ExpectParameters(step, 1, "FACTOR"));
    HONE_ASSIGN_OR_RETURN(const Scope* scope, FindScope(program, step));
    const int64_t factor = step.parameters[0];
    HONE_RETURN_IF_ERROR(Check(*scope, factor));

    Program result = program;
    const VarId outer_var = result.NewVar();
    const VarId inner_var = result.NewVar();
    const Affine first = Affine::Var(outer_var, factor);
    auto inner = std::make_shared<Scope>();
    inner->var = inner_var;
    inner->extent = factor;
    if (scope->bound.has_value()) {
      inner->bound = *scope->bound - first;
    } else if (scope->extent % factor != 0) {
      inner->bound = Affine(scope->extent) - first;
    }
    inner->locals = scope->locals;
    inner->body =
        Substitute(scope->body, scope->var, first + Affine::Var(inner_var));
    Scope outer;
    outer.var = outer_var;
    outer.extent = (scope->extent + factor - 1) / factor;
    outer.body.emplace_back(std::shared_ptr<const Scope>(std::move(inner)));
    result.ReplaceScope(step.path, std::move(outer));
    return result;
  }
};

}  // namespace

std::unique_ptr<Transform> MakeSplit() { return std::make_unique<Split>(); }

}  // namespace hone::loops
