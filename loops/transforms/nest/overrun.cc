// overrun PATH: drops the bound of a loop, so that it also runs the iterations
// past the bound. (Halide's tail strategy RoundUp has this effect.)
//
//   for j 8 < 13-8*i          for j 8
//   | a[8*i+j] += …      →    | a[8*i+j] += …
//
// For loops of statements that write to locals. Legal if no value that matters
// depends on what the additional iterations write, and everything that they
// read exists and is initialized. Pays off for vectors, which then need no
// masks: a register tile at the edge of a result is computed whole, and only
// the loop that copies it out keeps its bound.

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "loops/analysis/dependences.h"
#include "loops/analysis/verifier.h"
#include "loops/ir/rewrite.h"
#include "loops/transforms/analysis/coverage.h"
#include "loops/transforms/analysis/footprint.h"
#include "loops/transforms/checks.h"
#include "loops/transforms/locals.h"
#include "loops/transforms/registry.h"

namespace hone::loops {
namespace {

bool Reads(const AccessSite& site) {
  return !site.is_write || site.combine.has_value();
}

absl::Status CheckShape(const Program& program, const Loop& loop) {
  if (!loop.bound.has_value()) {
    return absl::InvalidArgumentError("the loop has no bound");
  }
  if (loop.mode == LoopMode::kParallel) {
    return absl::InvalidArgumentError("the loop is parallel");
  }
  for (const Node& node : loop.body) {
    if (node.statement() == nullptr) {
      return absl::InvalidArgumentError("the loop has inner loops");
    }
    const Statement& statement = *node.statement();
    if (!program.buffer(statement.target.buffer).IsLocal()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the loop writes ", program.buffer(statement.target.buffer).name,
          ", which is not a local"));
    }
    bool has_offset = false;
    VisitAccesses(statement, [&](const Access& access, bool) {
      for (const Index& index : access.indices) {
        has_offset = has_offset || index.offset != nullptr;
      }
    });
    if (has_offset) {
      return absl::InvalidArgumentError("an index in it depends on data");
    }
  }
  return absl::OkStatus();
}

// Returns `program` with the iterations past the bound as a separate loop after
// the one at `path`.
Program WithRest(const Program& program, const Path& path) {
  Program result = program;
  const Loop& loop = *program.At(path).loop();
  const VarId var = result.NewVar();
  auto rest = std::make_shared<Loop>(loop);
  rest->var = var;
  // They begin at the bound, even where that is below zero.
  const int64_t lowest = RangeOf(*loop.bound, program.LoopsAbove(path)).lo;
  rest->extent -= std::min<int64_t>(lowest, 0);
  rest->bound = Affine(loop.extent) - *loop.bound;
  rest->body = Substitute(loop.body, loop.var, *loop.bound + Affine::Var(var));
  result.Replace(path, {program.At(path), std::shared_ptr<const Loop>(rest)});
  return result;
}

// Returns InvalidArgument if another statement may read what the iterations
// past the bound write.
absl::Status CheckWrites(const Program& program, const Path& path) {
  const Program both = WithRest(program, path);
  const Path rest = Sibling(path, 1);
  for (const AccessSite& write : CollectAccesses(both, rest)) {
    if (!write.is_write) continue;
    for (const AccessSite& read : SitesOf(both, Path(), write.access.buffer)) {
      if (!Reads(read) || IsAtOrBelow(read.path, rest)) continue;
      const std::vector<Direction> any(CommonLoops(write, read),
                                       Direction::kAny);
      if (MayConflict(both, write, read, any)) {
        return absl::InvalidArgumentError(absl::StrCat(
            "what iterations past the bound write to ",
            both.buffer(write.access.buffer).name, " may be read"));
      }
    }
  }
  return absl::OkStatus();
}

// Returns InvalidArgument if the loop at `path` may read uninitialized
// elements.
absl::Status CheckReads(const Program& program, const Path& path) {
  for (const AccessSite& read : CollectAccesses(program, path)) {
    const Memory memory = program.buffer(read.access.buffer).memory;
    if (!Reads(read) || memory == Memory::kArgument ||
        memory == Memory::kConstant) {
      continue;
    }
    const Path above =
        FindDeclaration(program, read.access.buffer).value_or(Path());
    if (!IsCovered(program, above, read)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "iterations past the bound may read elements of ",
          program.buffer(read.access.buffer).name, " that have no value"));
    }
  }
  return absl::OkStatus();
}

class Overrun final : public Transform {
 public:
  absl::string_view name() const override { return "overrun"; }

  void Enumerate(const Program& program, const Machine&,
                 std::vector<Step>& steps) const override {
    VisitLoops(program, Path(), [&](const Path& path, const Loop&) {
      const Step step = {"overrun", path, {}};
      if (Apply(program, step).ok()) steps.push_back(step);
    });
  }

  absl::StatusOr<Program> Apply(const Program& program,
                                const Step& step) const override {
    HONE_RETURN_IF_ERROR(ExpectParameters(step, 0, "none"));
    HONE_ASSIGN_OR_RETURN(const Loop* loop, FindLoop(program, step));
    HONE_RETURN_IF_ERROR(CheckShape(program, *loop));
    HONE_RETURN_IF_ERROR(CheckWrites(program, step.path));
    Loop whole = *loop;
    whole.bound.reset();
    Program result = program;
    result.ReplaceLoop(step.path, std::move(whole));
    HONE_RETURN_IF_ERROR(CheckReads(result, step.path));
    // That all indices stay in bounds.
    HONE_RETURN_IF_ERROR(VerifyProgram(result));
    return result;
  }
};

}  // namespace

std::unique_ptr<Transform> MakeOverrun() { return std::make_unique<Overrun>(); }

}  // namespace hone::loops
