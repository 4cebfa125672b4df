// swap PATH: swaps a node and the node after it.
//
//   t[0] = x[0]    →    u[0] = x[1]
//   u[0] = x[1]         t[0] = x[0]
//
// Legal if the two touch no common elements, except to read them or to combine
// into them with the same operation. Pays off as a step towards fuse.

#include <algorithm>
#include <memory>
#include <vector>

#include "base/status_macros.h"
#include "loops/analysis/dependences.h"
#include "loops/ir/rewrite.h"
#include "loops/transforms/checks.h"
#include "loops/transforms/registry.h"

namespace hone::loops {
namespace {

absl::Status Check(const Program& program, const Path& path) {
  if (NextSibling(program, path) == nullptr) {
    return absl::InvalidArgumentError("no node follows, expected two in a row");
  }
  const std::vector<AccessSite> first = CollectAccesses(program, path);
  const std::vector<AccessSite> second =
      CollectAccesses(program, Sibling(path, 1));
  const std::vector<Direction> same(path.size() - 1, Direction::kSame);
  for (const AccessSite& a : first) {
    for (const AccessSite& b : second) {
      if (a.access.buffer != b.access.buffer || Commute(a, b)) continue;
      if (MayConflict(program, a, b, same)) {
        return absl::InvalidArgumentError(
            "the next node depends on this one, or this one on the next");
      }
    }
  }
  return absl::OkStatus();
}

void Enumerate(const Program& program, absl::Span<const Node> body, Path& path,
               std::vector<Step>& steps) {
  path.push_back(0);
  for (const Node& node : body) {
    if (Check(program, path).ok()) steps.push_back({"swap", path, {}});
    if (node.loop() != nullptr) {
      Enumerate(program, node.loop()->body, path, steps);
    }
    ++path.back();
  }
  path.pop_back();
}

class Swap final : public Transform {
 public:
  absl::string_view name() const override { return "swap"; }
  bool changes_rounding() const override { return true; }

  void Enumerate(const Program& program, const Machine&,
                 std::vector<Step>& steps) const override {
    Path path;
    loops::Enumerate(program, program.body(), path, steps);
  }

  absl::StatusOr<Program> Apply(const Program& program,
                                const Step& step) const override {
    HONE_RETURN_IF_ERROR(ExpectParameters(step, 0, "none"));
    if (step.path.empty() || !program.Has(step.path)) {
      return absl::InvalidArgumentError(
          "no node at this path, expected one that another follows");
    }
    HONE_RETURN_IF_ERROR(Check(program, step.path));
    Program result = program;
    const Path next = Sibling(step.path, 1);
    result.Replace(step.path, {program.At(next)});
    result.Replace(next, {program.At(step.path)});
    return result;
  }
};

}  // namespace

std::unique_ptr<Transform> MakeSwap() { return std::make_unique<Swap>(); }

}  // namespace hone::loops
