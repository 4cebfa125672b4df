// shrink PATH BUFFER: moves the declaration of a local into the loop at PATH,
// and reduces the local to the part that one iteration uses.
//
//   local t [64,64]; for i0 { … t[i0,j] … }
//     →  for i0 { local t [64]; … t[j] … }
//
// Legal if all accesses are in the loop, and none reads a value that another
// iteration of the loop, or of a loop between it and the declaration, wrote.

#include <algorithm>
#include <memory>
#include <optional>
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

class Shrink final : public Transform {
 public:
  absl::string_view name() const override { return "shrink"; }
  int32_t buffer_parameters() const override { return 1; }

  // The innermost loop possible, and every one that makes a local smaller.
  void Enumerate(const Program& program, const Machine&,
                 std::vector<Step>& steps) const override {
    VisitLoops(program, Path(), [&](const Path& path, const Loop&) {
      for (BufferId buffer : BuffersIn(program, path)) {
        if (!program.buffer(buffer).IsLocal()) continue;
        const Step step = {"shrink", path, {buffer}};
        if (Apply(program, step).ok()) steps.push_back(step);
      }
    });
  }

  absl::StatusOr<Program> Apply(const Program& program,
                                const Step& step) const override {
    HONE_RETURN_IF_ERROR(ExpectParameters(step, 1, "BUFFER"));
    if (step.path.empty() || !program.Has(step.path) ||
        program.At(step.path).loop() == nullptr) {
      return absl::InvalidArgumentError("the path is not that of a loop");
    }
    if (program.At(step.path).loop()->mode == LoopMode::kVector) {
      return absl::InvalidArgumentError(
          "the loop is a vector, which cannot declare locals");
    }
    HONE_ASSIGN_OR_RETURN(const BufferId buffer,
                          BufferParameter(program, step, 0));
    const std::optional<Path> declaration = FindDeclaration(program, buffer);
    if (!program.buffer(buffer).IsLocal() || !declaration.has_value() ||
        *declaration == step.path || !IsAtOrBelow(step.path, *declaration)) {
      return absl::InvalidArgumentError(
          "the buffer is not a local of a loop above");
    }
    const std::vector<AccessSite> sites = SitesOf(program, step.path, buffer);
    if (sites.empty() ||
        sites.size() != SitesOf(program, *declaration, buffer).size()) {
      return absl::InvalidArgumentError(
          "the buffer is used outside of the loop, or not at all");
    }
    for (const AccessSite& site : sites) {
      if ((!site.is_write || site.combine.has_value()) &&
          !IsCovered(program, step.path, site) &&
          TakesFromElsewhere(program, *declaration, step.path, sites, site)) {
        return absl::InvalidArgumentError(
            "an iteration may read what another one wrote");
      }
    }
    return Rewritten(program, step.path, sites);
  }

 private:
  // Returns true if `read` may read what another iteration wrote, of the loop
  // at `path` or one between it and the declaration.
  static bool TakesFromElsewhere(const Program& program,
                                 const Path& declaration, const Path& path,
                                 absl::Span<const AccessSite> sites,
                                 const AccessSite& read) {
    for (size_t level = declaration.size(); level < path.size(); ++level) {
      for (const AccessSite& write : sites) {
        if (!write.is_write) continue;
        std::vector<Direction> directions(level, Direction::kSame);
        directions.push_back(Direction::kEarlier);
        directions.resize(CommonLoops(write.path, read.path), Direction::kAny);
        if (MayConflict(program, write, read, directions)) return true;
      }
    }
    return false;
  }

  static size_t CommonLoops(const Path& a, const Path& b) {
    return std::min(CommonLength(a, b), std::min(a.size(), b.size()) - 1);
  }

  static absl::StatusOr<Program> Rewritten(
      const Program& program, const Path& path,
      const std::vector<AccessSite>& sites) {
    const BufferId buffer = sites.front().access.buffer;
    Program result = program;
    RemoveDeclaration(result, buffer);
    AddDeclaration(result, path, buffer);
    const absl::StatusOr<Box> box = BoxOf(program, path, sites, /*clip=*/true);
    // The buffer keeps its size if no smaller box describes the part in use.
    if (!box.ok() ||
        box->extents == DimensionsOf(program.buffer(buffer), box->form)) {
      return result;
    }
    Buffer smaller = program.buffer(buffer);
    smaller.dimensions = box->CompactExtents();
    smaller.strides = DenseStrides(smaller.dimensions);
    result.SetBuffer(buffer, std::move(smaller));
    std::vector<Node> body = BodyAt(result, path);
    for (Node& node : body) {
      node = MapAccesses(node, [&](const Access& access) {
        if (access.buffer != buffer) return access;
        return box->Localize(buffer, *IndicesOf(program, access, box->form));
      });
    }
    SetBody(result, path, std::move(body));
    return result;
  }
};

}  // namespace

std::unique_ptr<Transform> MakeShrink() { return std::make_unique<Shrink>(); }

}  // namespace hone::loops
