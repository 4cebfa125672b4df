// split PATH FACTOR: splits a loop into two.
//
//   for i 1000           for i 63
//   | y[i] = x[i]   →    | for j 16 < 1000-16*i
//                        | | y[16*i+j] = x[16*i+j]
//
// Always legal: the order of iterations stays. FACTOR must divide the extent of
// a loop with a bound, since a loop has one bound only. Pays off as a step
// towards vectors, unrolling and tiles. If the factor does not divide the
// extent, the inner loop has no constant trip count (until peel).

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "loops/ir/rewrite.h"
#include "loops/transforms/checks.h"
#include "loops/transforms/registry.h"

namespace hone::loops {
namespace {

absl::Status Check(const Loop& loop, int64_t factor) {
  if (factor < 2 || factor >= loop.extent) {
    return absl::InvalidArgumentError(absl::StrCat(
        "factor ", factor, ", expected at least 2 and less than the extent ",
        loop.extent));
  }
  if (loop.mode != LoopMode::kSequential) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the loop is ", ModeName(loop.mode), ", expected sequential"));
  }
  if (loop.bound.has_value() && loop.extent % factor != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("factor ", factor, " does not divide the extent ",
                     loop.extent, " of a loop with a bound"));
  }
  return absl::OkStatus();
}

// Lanes of the widest register for the narrowest type that the loop writes.
int64_t LanesOf(const Program& program, const Node& loop,
                const Machine& machine) {
  int64_t lanes = 1;
  VisitStatements(loop, [&](const Statement& statement) {
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
    VisitLoops(program, Path(), [&](const Path& path, const Loop& loop) {
      if (loop.mode != LoopMode::kSequential) return;
      const int64_t lanes = LanesOf(program, program.At(path), machine);
      for (int64_t factor : Factors(loop.extent, lanes)) {
        if (Check(loop, factor).ok()) {
          steps.push_back({"split", path, {factor}});
        }
      }
    });
  }

  absl::StatusOr<Program> Apply(const Program& program,
                                const Step& step) const override {
    HONE_RETURN_IF_ERROR(ExpectParameters(step, 1, "FACTOR"));
    HONE_ASSIGN_OR_RETURN(const Loop* loop, FindLoop(program, step));
    const int64_t factor = step.parameters[0];
    HONE_RETURN_IF_ERROR(Check(*loop, factor));

    Program result = program;
    const VarId outer_var = result.NewVar();
    const VarId inner_var = result.NewVar();
    const Affine first = Affine::Var(outer_var, factor);
    auto inner = std::make_shared<Loop>();
    inner->var = inner_var;
    inner->extent = factor;
    if (loop->bound.has_value()) {
      inner->bound = *loop->bound - first;
    } else if (loop->extent % factor != 0) {
      inner->bound = Affine(loop->extent) - first;
    }
    inner->locals = loop->locals;
    inner->body =
        Substitute(loop->body, loop->var, first + Affine::Var(inner_var));
    Loop outer;
    outer.var = outer_var;
    outer.extent = (loop->extent + factor - 1) / factor;
    outer.body.emplace_back(std::shared_ptr<const Loop>(std::move(inner)));
    result.ReplaceLoop(step.path, std::move(outer));
    return result;
  }
};

}  // namespace

std::unique_ptr<Transform> MakeSplit() { return std::make_unique<Split>(); }

}  // namespace hone::loops
