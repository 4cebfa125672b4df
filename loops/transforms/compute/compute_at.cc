// compute_at PATH BUFFER: moves the nest that computes a local into the loop at
// PATH, its only reader, where it computes just the part that one iteration
// reads. The local shrinks accordingly.
//
//   for i 64 { t[i] = exp(x[i]) }; for j 8 { for k 8 { y[8*j+k] = t[8*j+k] } }
//     →  for j 8 { local t [8]; for i 8 { t[i] = exp(x[8*j+i]) }
//                  for k 8 { y[8*j+k] = t[k] } }
//
// Legal if the nest writes nothing else, each index of the local is the
// variable of one loop of the nest, the inputs of the nest do not change until
// the local is read, and no iteration reads a value of another one. Elements
// that several iterations read are recomputed.

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "base/status_macros.h"
#include "loops/ir/rewrite.h"
#include "loops/transforms/analysis/coverage.h"
#include "loops/transforms/analysis/footprint.h"
#include "loops/transforms/analysis/iteration_count.h"
#include "loops/transforms/checks.h"
#include "loops/transforms/locals.h"
#include "loops/transforms/registry.h"

namespace hone::loops {
namespace {

// The largest recomputation factor of steps that Enumerate offers.
constexpr double kMostRepetition = 4;

// The nest that computes a local, and its destination.
struct Move {
  BufferId buffer = 0;
  Path nest;
  Path loop;
  // The elements that one iteration of the loop reads.
  Box box;
  // The variable that is each index of the local in the nest.
  std::vector<VarId> vars;
};

absl::Status CheckNest(const Program& program, const Move& move,
                       size_t common) {
  for (const AccessSite& site : CollectAccesses(program, move.nest)) {
    if (site.access.buffer == move.buffer) continue;
    const std::optional<Path> declaration =
        FindDeclaration(program, site.access.buffer);
    if (declaration.has_value() && IsAtOrBelow(*declaration, move.nest)) {
      if (std::any_of(move.vars.begin(), move.vars.end(), [&](VarId var) {
            return std::any_of(
                site.access.indices.begin(), site.access.indices.end(),
                [var](const Index& index) { return index.affine.Uses(var); });
          })) {
        return absl::InvalidArgumentError(
            "a local of the nest has a place for each iteration");
      }
      continue;
    }
    if (site.is_write) {
      return absl::InvalidArgumentError("the nest writes something else too");
    }
    for (const AccessSite& other :
         SitesOf(program, Prefix(move.loop, common), site.access.buffer)) {
      if (other.is_write && other.path[common] > move.nest[common] &&
          other.path[common] <= move.loop[common]) {
        return absl::InvalidArgumentError(
            "what the nest reads may change before the local is read");
      }
    }
  }
  return absl::OkStatus();
}

// The variable of each index of the local, the same in every access of the
// nest.
absl::StatusOr<std::vector<VarId>> IndexVars(const Program& program,
                                             const Path& nest,
                                             BufferId buffer) {
  std::vector<VarId> vars;
  const Path parent = Prefix(nest, nest.size() - 1);
  for (const AccessSite& site : SitesOf(program, nest, buffer)) {
    const std::vector<const Loop*> below = LoopsBetween(program, parent, site);
    if (site.access.indices.size() !=
        program.buffer(buffer).dimensions.size()) {
      return absl::InvalidArgumentError("the local is accessed as flat");
    }
    std::vector<VarId> of_site;
    for (const Index& index : site.access.indices) {
      const SeenIndex seen = SeenFrom(index.affine, below);
      if (index.offset != nullptr || seen.digits.size() != 1 ||
          seen.fixed != Affine(0) || seen.digits[0].coefficient != 1 ||
          seen.digits[0].loop->bound.has_value() ||
          std::count(of_site.begin(), of_site.end(),
                     seen.digits[0].loop->var) != 0) {
        return absl::InvalidArgumentError(
            "an index of the local in its nest is not a loop's variable");
      }
      of_site.push_back(seen.digits[0].loop->var);
    }
    if (!vars.empty() && of_site != vars) {
      return absl::InvalidArgumentError(
          "the nest's accesses of the local have different variables");
    }
    vars = of_site;
  }
  return vars;
}

absl::StatusOr<Move> PlanOf(const Program& program, const Step& step) {
  HONE_RETURN_IF_ERROR(ExpectParameters(step, 1, "BUFFER"));
  HONE_RETURN_IF_ERROR(ExpectLoop(program, step.path));
  Move move;
  move.loop = step.path;
  HONE_ASSIGN_OR_RETURN(move.buffer, BufferParameter(program, step, 0));
  if (step.path.empty() || !program.buffer(move.buffer).IsLocal()) {
    return absl::InvalidArgumentError("expected a loop and a local");
  }
  std::optional<size_t> common;
  std::vector<AccessSite> reads;
  for (const AccessSite& site : SitesOf(program, Path(), move.buffer)) {
    if (IsAtOrBelow(site.path, move.loop)) {
      if (site.is_write) {
        return absl::InvalidArgumentError("the loop writes the local");
      }
      reads.push_back(site);
      continue;
    }
    const size_t here = CommonLength(site.path, move.loop);
    const Path nest = Prefix(site.path, here + 1);
    if ((common.has_value() && nest != move.nest) ||
        nest[here] > move.loop[here]) {
      return absl::InvalidArgumentError(
          "the local is used beside one nest before the loop");
    }
    common = here;
    move.nest = nest;
  }
  if (!common.has_value() || reads.empty()) {
    return absl::InvalidArgumentError(
        "the loop does not read what a nest before it computes");
  }
  const std::optional<Path> declaration = FindDeclaration(program, move.buffer);
  if (!declaration.has_value() || declaration->size() > *common) {
    return absl::InvalidArgumentError("the local is not declared above both");
  }
  if (declaration->size() < *common &&
      !std::all_of(reads.begin(), reads.end(), [&](const AccessSite& read) {
        return IsCovered(program, move.nest, read);
      })) {
    return absl::InvalidArgumentError(
        "the loop may read a value of another iteration");
  }
  HONE_ASSIGN_OR_RETURN(move.vars, IndexVars(program, move.nest, move.buffer));
  HONE_RETURN_IF_ERROR(CheckNest(program, move, *common));
  HONE_ASSIGN_OR_RETURN(move.box,
                        BoxOf(program, move.loop, reads, /*clip=*/true));
  if (move.box.form == IndexForm::kFlat) {
    return absl::InvalidArgumentError("the local is accessed as flat");
  }
  return move;
}

// Rewrites the nest to compute the box only.
class Narrower {
 public:
  Narrower(const Program& program, const Move& move,
           std::vector<const Loop*> outer)
      : program_(program), move_(move), outer_(std::move(outer)) {}

  Node Narrow(const Node& node, std::vector<const Loop*> loops) {
    if (node.statement() != nullptr) return Guarded(node, loops);
    Loop loop = *node.loop();
    for (size_t d = 0; d < move_.vars.size(); ++d) {
      if (move_.vars[d] != loop.var) continue;
      // The number of lanes or copies may no longer be right.
      if (loop.extent != move_.box.extents[d]) {
        loop.mode = LoopMode::kSequential;
      }
      loop.extent = move_.box.extents[d];
    }
    if (loop.mode == LoopMode::kParallel) {
      loop.mode = LoopMode::kSequential;
    }
    const std::shared_ptr<const Loop> kept = std::make_shared<const Loop>(loop);
    kept_.push_back(kept);
    loops.push_back(kept.get());
    for (Node& child : loop.body) child = Narrow(child, loops);
    return MakeNode(std::move(loop));
  }

 private:
  // The part may go beyond the local, where nothing reads it: any value does.
  Node Guarded(const Node& node, const std::vector<const Loop*>& loops) {
    std::vector<const Loop*> all = outer_;
    all.insert(all.end(), loops.begin(), loops.end());
    std::vector<Range> ranges;
    const hlo::DimensionVector& dimensions =
        program_.buffer(move_.buffer).dimensions;
    for (size_t d = 0; d < dimensions.size(); ++d) {
      if (std::none_of(loops.begin(), loops.end(), [&](const Loop* loop) {
            return loop->var == move_.vars[d];
          })) {
        continue;
      }
      // Still without the base, which all of the nest gets.
      const Affine var = Affine::Var(move_.vars[d]);
      const Interval interval = RangeOf(move_.box.base[d] + var, all);
      if (interval.lo < 0 || interval.hi >= dimensions[d]) {
        ranges.push_back({var, 0, dimensions[d]});
      }
    }
    if (ranges.empty()) return node;
    Statement statement = *node.statement();
    if (statement.predicate != nullptr) {
      statement.predicate = Expression::Where(
          ranges, statement.predicate,
          Expression::ConstantInt(hlo::ElementType::kPred, 0));
    }
    statement.value =
        Expression::Where(std::move(ranges), statement.value,
                          Expression::Constant(statement.value->type(), 0));
    return MakeNode(std::move(statement));
  }

  const Program& program_;
  const Move& move_;
  const std::vector<const Loop*> outer_;
  std::vector<std::shared_ptr<const Loop>> kept_;
};

class ComputeAt final : public Transform {
 public:
  absl::string_view name() const override { return "compute_at"; }
  int32_t buffer_parameters() const override { return 1; }

  void Enumerate(const Program& program, const Machine&,
                 std::vector<Step>& steps) const override {
    VisitLoops(program, Path(), [&](const Path& path, const Loop& loop) {
      for (BufferId buffer : BuffersIn(program, path)) {
        if (!program.buffer(buffer).IsLocal()) continue;
        const Step step = {"compute_at", path, {buffer}};
        const absl::StatusOr<Move> move = PlanOf(program, step);
        if (!move.ok()) continue;
        double before = 1;
        double after =
            static_cast<double>(loop.extent) * IterationCount(program, path);
        for (size_t d = 0; d < move->box.extents.size(); ++d) {
          before *= static_cast<double>(program.buffer(buffer).dimensions[d]);
          after *= static_cast<double>(move->box.extents[d]);
        }
        before *= IterationCount(program, move->nest);
        if (after <= kMostRepetition * before && Apply(program, step).ok()) {
          steps.push_back(step);
        }
      }
    });
  }

  absl::StatusOr<Program> Apply(const Program& program,
                                const Step& step) const override {
    HONE_ASSIGN_OR_RETURN(const Move original, PlanOf(program, step));
    // The nest and the loop may share variables.
    Program result = program;
    result.Replace(original.nest,
                   {WithNewVars(result, program.At(original.nest))});
    HONE_ASSIGN_OR_RETURN(const Move move, PlanOf(result, step));
    Narrower narrower(program, move, LoopsAt(program, move.loop));
    Node nest = Localized(program, move, result.At(move.nest), narrower);
    std::vector<Node> body = BodyAt(program, move.loop);
    for (Node& node : body) {
      node = MapAccesses(node, [&](const Access& access) {
        if (access.buffer != move.buffer) return access;
        return move.box.Localize(move.buffer,
                                 *IndicesOf(program, access, move.box.form));
      });
    }
    body.insert(body.begin(), std::move(nest));

    RemoveDeclaration(result, move.buffer);
    SetBody(result, move.loop, std::move(body));
    AddDeclaration(result, move.loop, move.buffer);
    Buffer smaller = program.buffer(move.buffer);
    smaller.dimensions = move.box.CompactExtents();
    smaller.strides = DenseStrides(smaller.dimensions);
    result.SetBuffer(move.buffer, std::move(smaller));
    RemoveNode(result, move.nest);
    HONE_RETURN_IF_ERROR(CheckRegisters(result));
    return result;
  }

 private:
  // Returns the nest with variables that count from the box's base.
  static Node Localized(const Program& program, const Move& move,
                        const Node& nest, Narrower& narrower) {
    const Node narrow = narrower.Narrow(nest, {});
    const Node moved = MapAffines(narrow, [&](const Affine& affine) {
      Affine result = affine;
      for (size_t d = 0; d < move.vars.size(); ++d) {
        result += move.box.base[d] * affine.coefficient(move.vars[d]);
      }
      return result;
    });
    return MapAccesses(moved, [&](const Access& access) {
      if (access.buffer != move.buffer) return access;
      return move.box.Localize(move.buffer,
                               *IndicesOf(program, access, move.box.form));
    });
  }
};

}  // namespace

std::unique_ptr<Transform> MakeComputeAt() {
  return std::make_unique<ComputeAt>();
}

}  // namespace hone::loops
