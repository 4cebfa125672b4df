// split_reduction PATH BUFFER PARTS: distributes the reduction over the loop at
// PATH cyclically over PARTS partial results, a power of two, which are
// combined as a tree. (split_reduction with an inner parallel dimension in
// MLIR's transform dialect; split and rfactor in one step.)
//
//   for k 64 { s += x[k] }     (PARTS 4)
//     →  for p 4 { t[p] = 0 }
//        for k0 16 { for k1 4 { t[k1] += x[4*k0+k1] } }
//        for p 2 { t[p] += t[p+2] }; for p 1 { t[p] += t[p+1] }; s += t[0]
//
// The chain of dependent operations is shorter by that factor, and k1 can be
// vectorized. Legal if all accesses of the buffer in the loop are one
// reduction, whose target does not depend on the loop. Changes rounding.

#include <memory>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "loops/ir/rewrite.h"
#include "loops/transforms/analysis/footprint.h"
#include "loops/transforms/checks.h"
#include "loops/transforms/locals.h"
#include "loops/transforms/reduction/partial_results.h"
#include "loops/transforms/registry.h"

namespace hone::loops {
namespace {

constexpr int64_t kMostParts = 1024;

bool IsPowerOfTwo(int64_t n) { return n > 0 && (n & (n - 1)) == 0; }

class SplitReduction final : public Transform {
 public:
  absl::string_view name() const override { return "split_reduction"; }
  bool changes_rounding() const override { return true; }
  int32_t buffer_parameters() const override { return 1; }

  // Parts of one vector, or of the four that hide an addition's latency.
  void Enumerate(const Program& program, const Machine& machine,
                 std::vector<Step>& steps) const override {
    VisitLoops(program, Path(), [&](const Path& path, const Loop& loop) {
      for (BufferId buffer : BuffersIn(program, path)) {
        const int64_t lanes =
            machine.vector_bytes / hlo::ByteWidth(program.buffer(buffer).type);
        for (int64_t parts : {lanes, 4 * lanes}) {
          const Step step = {"split_reduction", path, {buffer, parts}};
          if (loop.extent > parts && Apply(program, step).ok()) {
            steps.push_back(step);
          }
        }
      }
    });
  }

  absl::StatusOr<Program> Apply(const Program& program,
                                const Step& step) const override {
    HONE_RETURN_IF_ERROR(ExpectParameters(step, 2, "BUFFER PARTS"));
    HONE_RETURN_IF_ERROR(ExpectLoop(program, step.path));
    if (step.path.empty()) {
      return absl::InvalidArgumentError("the path is not that of a loop");
    }
    HONE_ASSIGN_OR_RETURN(const BufferId buffer,
                          BufferParameter(program, step, 0));
    const Loop& loop = *program.At(step.path).loop();
    const int64_t parts = step.parameters[1];
    if (!IsPowerOfTwo(parts) || parts < 2 || parts > kMostParts ||
        parts > loop.extent) {
      return absl::InvalidArgumentError(
          "expected parts that are a power of two from 2 to the loop's "
          "extent, 1024 at most");
    }
    if (loop.bound.has_value() && loop.extent % parts != 0) {
      return absl::InvalidArgumentError(
          "the loop has a bound already, so that its extent must be a "
          "multiple of the parts");
    }
    Program result = program;
    HONE_ASSIGN_OR_RETURN(
        const PartialResults partial,
        MakePartialResults(result, step.path, step.path, buffer, parts));
    std::vector<Node> nodes;
    nodes.push_back(Initialize(result, partial));
    nodes.push_back(ByTurns(result, loop, partial, buffer));
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
  // The loop as one over rounds with one over parts inside.
  static Node ByTurns(Program& program, const Loop& loop,
                      const PartialResults& partial, BufferId buffer) {
    Loop rounds = loop;
    rounds.var = program.NewVar();
    rounds.extent = (loop.extent + partial.parts - 1) / partial.parts;
    rounds.bound = std::nullopt;
    rounds.locals.clear();
    rounds.body.clear();
    Loop turn;
    turn.var = program.NewVar();
    turn.extent = partial.parts;
    turn.locals = loop.locals;
    const Affine begin = Affine::Var(rounds.var, partial.parts);
    if (loop.bound.has_value()) {
      turn.bound = *loop.bound - begin;
    } else if (loop.extent % partial.parts != 0) {
      turn.bound = Affine(loop.extent) - begin;
    }
    for (const Node& node : loop.body) {
      const Node mapped = MapAccesses(node, [&](const Access& access) {
        return access.buffer == buffer
                   ? PartOf(program, partial, access, Affine::Var(turn.var))
                   : access;
      });
      turn.body.push_back(
          Substitute(mapped, loop.var, begin + Affine::Var(turn.var)));
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
