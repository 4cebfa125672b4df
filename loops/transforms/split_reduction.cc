// split_reduction PATH BUFFER PARTS: the reduction over the scope at PATH goes
// to PARTS partial results, a power of two, by turns; these are combined as a
// tree.
//
//   for k 64 { s += x[k] }     (PARTS 4)
//     →  for p 4 { t[p] = 0 }
//        for k0 16 { for k1 4 { t[k1] += x[4*k0+k1] } }
//        for p 2 { t[p] += t[p+2] }; for p 1 { t[p] += t[p+1] }; s += t[0]
//
// The chain of dependent operations is as many times shorter, and k1 can be a
// vector. Legal where all accesses of the buffer in the scope are one
// reduction, and the scope does not move its target. Changes rounding.

#include <memory>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "loops/rewrite.h"
#include "loops/transforms/checks.h"
#include "loops/transforms/footprint.h"
#include "loops/transforms/locals.h"
#include "loops/transforms/partial_results.h"
#include "loops/transforms/registry.h"

namespace hone::loops {
namespace {

constexpr int64_t kMostParts = 1024;

bool IsPowerOfTwo(int64_t n) { return n > 0 && (n & (n - 1)) == 0; }

class SplitReduction final : public Transform {
 public:
  absl::string_view name() const override { return "split_reduction"; }
  bool changes_rounding() const override { return true; }

  // Parts of one vector, or of the four that hide an addition's latency.
  void Enumerate(const Program& program, const Machine& machine,
                 std::vector<Step>& steps) const override {
    VisitScopes(program, Path(), [&](const Path& path, const Scope& scope) {
      for (BufferId buffer : BuffersIn(program, path)) {
        const int64_t lanes =
            machine.vector_bytes / hlo::ByteWidth(program.buffer(buffer).type);
        for (int64_t parts : {lanes, 4 * lanes}) {
          const Step step = {"split_reduction", path, {buffer, parts}};
          if (scope.extent > parts && Apply(program, step).ok()) {
            steps.push_back(step);
          }
        }
      }
    });
  }

  absl::StatusOr<Program> Apply(const Program& program,
                                const Step& step) const override {
    HONE_RETURN_IF_ERROR(ExpectParameters(step, 2, "BUFFER PARTS"));
    HONE_RETURN_IF_ERROR(ExpectScope(program, step.path));
    if (step.path.empty()) {
      return absl::InvalidArgumentError("the path is not that of a scope");
    }
    HONE_ASSIGN_OR_RETURN(const BufferId buffer,
                          BufferParameter(program, step, 0));
    const Scope& scope = *program.At(step.path).scope();
    const int64_t parts = step.parameters[1];
    if (!IsPowerOfTwo(parts) || parts < 2 || parts > kMostParts ||
        parts > scope.extent) {
      return absl::InvalidArgumentError(
          "expected parts that are a power of two from 2 to the scope's "
          "extent, 1024 at most");
    }
    if (scope.bound.has_value() && scope.extent % parts != 0) {
      return absl::InvalidArgumentError(
          "the scope has a bound already, so that its extent must be a "
          "multiple of the parts");
    }
    Program result = program;
    HONE_ASSIGN_OR_RETURN(
        const PartialResults partial,
        MakePartialResults(result, step.path, step.path, buffer, parts));
    std::vector<Node> nodes;
    nodes.push_back(Initialise(result, partial));
    nodes.push_back(ByTurns(result, scope, partial, buffer));
    for (int64_t count = parts / 2; count > 0; count /= 2) {
      nodes.push_back(CombineHalves(result, partial, count));
    }
    HONE_ASSIGN_OR_RETURN(Node combined,
                          CombineInto(result, step.path, partial, 1));
    nodes.push_back(std::move(combined));
    result.Replace(step.path, std::move(nodes));
    HONE_RETURN_IF_ERROR(CheckRegisters(result));
    return result;
  }

 private:
  // The scope as one over rounds with one over parts inside.
  static Node ByTurns(Program& program, const Scope& scope,
                      const PartialResults& partial, BufferId buffer) {
    Scope rounds = scope;
    rounds.var = program.NewVar();
    rounds.extent = (scope.extent + partial.parts - 1) / partial.parts;
    rounds.bound = std::nullopt;
    rounds.locals.clear();
    rounds.body.clear();
    Scope turn;
    turn.var = program.NewVar();
    turn.extent = partial.parts;
    turn.locals = scope.locals;
    const Affine begin = Affine::Var(rounds.var, partial.parts);
    if (scope.bound.has_value()) {
      turn.bound = *scope.bound - begin;
    } else if (scope.extent % partial.parts != 0) {
      turn.bound = Affine(scope.extent) - begin;
    }
    for (const Node& node : scope.body) {
      const Node mapped = MapAccesses(node, [&](const Access& access) {
        return access.buffer == buffer
                   ? PartOf(program, partial, access, Affine::Var(turn.var))
                   : access;
      });
      turn.body.push_back(
          Substitute(mapped, scope.var, begin + Affine::Var(turn.var)));
    }
    rounds.body.push_back(MakeNode(std::move(turn)));
    return MakeNode(std::move(rounds));
  }
};

}  // namespace

std::unique_ptr<Transform> MakeSplitReduction() {
  return std::make_unique<SplitReduction>();
}

}  // namespace hone::loops
