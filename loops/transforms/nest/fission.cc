// fission PATH POSITION: distributes a loop over two parts of its body, the
// second with the children from POSITION on.
//
//   for i 8               for i 8
//   | t[i] = x[i]    →    | t[i] = x[i]
//   | y[i] = t[i]         for i 8
//                         | y[i] = t[i]
//
// Legal if the first part neither needs nor overwrites anything that the second
// part does in earlier iterations, and no local of the loop is used by both.
// Reductions may be reordered. Pays off as a step towards perfect nests, which
// reorder requires.

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "loops/analysis/dependences.h"
#include "loops/ir/rewrite.h"
#include "loops/transforms/checks.h"
#include "loops/transforms/registry.h"

namespace hone::loops {
namespace {

bool Mention(absl::Span<const Node> nodes, BufferId buffer) {
  return std::any_of(nodes.begin(), nodes.end(), [buffer](const Node& node) {
    return Mentions(node, buffer);
  });
}

absl::Status Check(const Program& program, const Path& path, const Loop& loop,
                   int64_t position, const std::vector<AccessSite>& sites) {
  const size_t split = static_cast<size_t>(position);
  if (position < 1 || split >= loop.body.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("position ", position, ", expected 1 … ",
                     static_cast<int64_t>(loop.body.size()) - 1));
  }
  const absl::Span<const Node> body = loop.body;
  for (BufferId local : loop.locals) {
    if (Mention(body.subspan(0, split), local) &&
        Mention(body.subspan(split), local)) {
      return absl::InvalidArgumentError(
          absl::StrCat("local ", program.buffer(local).name,
                       " of the loop is used on both sides"));
    }
  }
  const size_t depth = path.size() - 1;
  std::vector<Direction> directions(path.size(), Direction::kSame);
  directions[depth] = Direction::kEarlier;
  const auto is_first = [&](const AccessSite& site) {
    return static_cast<size_t>(site.path[depth + 1]) < split;
  };
  for (const AccessSite& a : sites) {
    if (!is_first(a)) break;
    for (const AccessSite& b : sites) {
      if (is_first(b) || a.access.buffer != b.access.buffer || Commute(a, b)) {
        continue;
      }
      if (MayConflict(program, b, a, directions)) {
        return absl::InvalidArgumentError(
            "iterations that depend on each other would change their order");
      }
    }
  }
  return absl::OkStatus();
}

// Returns `loop` with its children from `begin` to `end` and the locals that
// they use.
Node Part(const Loop& loop, size_t begin, size_t end) {
  auto part = std::make_shared<Loop>();
  part->var = loop.var;
  part->extent = loop.extent;
  part->bound = loop.bound;
  part->mode = loop.mode;
  part->body.assign(loop.body.begin() + static_cast<ptrdiff_t>(begin),
                    loop.body.begin() + static_cast<ptrdiff_t>(end));
  for (BufferId local : loop.locals) {
    if (Mention(part->body, local)) part->locals.push_back(local);
  }
  return std::shared_ptr<const Loop>(std::move(part));
}

class Fission final : public Transform {
 public:
  absl::string_view name() const override { return "fission"; }
  bool changes_rounding() const override { return true; }

  void Enumerate(const Program& program, const Machine&,
                 std::vector<Step>& steps) const override {
    VisitLoops(program, Path(), [&](const Path& path, const Loop& loop) {
      if (loop.body.size() < 2) return;
      const std::vector<AccessSite> sites = CollectAccesses(program, path);
      const auto last = static_cast<int64_t>(loop.body.size()) - 1;
      for (int64_t position = 1; position <= last; ++position) {
        if (Check(program, path, loop, position, sites).ok()) {
          steps.push_back({"fission", path, {position}});
        }
      }
    });
  }

  absl::StatusOr<Program> Apply(const Program& program,
                                const Step& step) const override {
    HONE_RETURN_IF_ERROR(ExpectParameters(step, 1, "POSITION"));
    HONE_ASSIGN_OR_RETURN(const Loop* loop, FindLoop(program, step));
    const int64_t position = step.parameters[0];
    HONE_RETURN_IF_ERROR(Check(program, step.path, *loop, position,
                               CollectAccesses(program, step.path)));
    const size_t split = static_cast<size_t>(position);
    Program result = program;
    result.Replace(step.path, {Part(*loop, 0, split),
                               Part(*loop, split, loop->body.size())});
    return result;
  }
};

}  // namespace

std::unique_ptr<Transform> MakeFission() { return std::make_unique<Fission>(); }

}  // namespace hone::loops
