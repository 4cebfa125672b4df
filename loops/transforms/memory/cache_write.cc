// cache_write PATH BUFFER: accumulates the part of BUFFER that one iteration of
// the loop at PATH writes in a local. The iteration ends with a copy of the
// local to the buffer, and starts with a copy from the buffer if it needs old
// values.
//
//   for k { for i { c[8*i0+i] += … } }
//     →  local a; for i { a[i] = c[8*i0+i] }
//        for k { for i { a[i] += … } }
//        for i { c[8*i0+i] = a[i] }
//
// Legal if all writes touch the same elements, and all reads touch these
// elements too, unless a write in the loop computes the value that is read.
// Not offered for loops without an inner reduction, where it only adds copies.

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
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

// Returns true if the first site reads all touched elements before the loop
// writes any: then they are initialized when an iteration begins.
bool ReadsAllAtFirst(const Program& program, const Path& path,
                     const std::vector<AccessSite>& sites) {
  const AccessSite& first = sites.front();
  if (!Reads(first) || !IsUnconditional(program, path, first)) return false;
  return std::all_of(sites.begin(), sites.end(), [&](const AccessSite& site) {
    const Path above = Prefix(
        first.path,
        std::min(CommonLength(first.path, site.path), first.path.size() - 1));
    return !site.is_write || TouchSame(program, above, site, first);
  });
}

// Returns true if every iteration of the loop writes all touched elements.
bool WritesAll(const Program& program, const Path& path,
               const std::vector<AccessSite>& sites) {
  return std::any_of(sites.begin(), sites.end(), [&](const AccessSite& site) {
    return site.is_write && !site.combine.has_value() &&
           IsUnconditional(program, path, site);
  });
}

class CacheWrite final : public Transform {
 public:
  absl::string_view name() const override { return "cache_write"; }
  int32_t buffer_parameters() const override { return 1; }

  // Loops with a reduction inside whose targets fit in registers.
  void Enumerate(const Program& program, const Machine& machine,
                 std::vector<Step>& steps) const override {
    const int64_t most_bytes = machine.vector_registers * machine.vector_bytes;
    VisitLoops(program, Path(), [&](const Path& path, const Loop&) {
      for (BufferId buffer : BuffersIn(program, path)) {
        if (!HasReduction(program, path, buffer)) continue;
        const Step step = {"cache_write", path, {buffer}};
        const absl::StatusOr<Program> result = Apply(program, step);
        if (!result.ok()) continue;
        const int64_t bytes = result->buffers().back()->allocated_bytes();
        if (bytes <= most_bytes &&
            bytes < program.buffer(buffer).allocated_bytes()) {
          steps.push_back(step);
        }
      }
    });
  }

  absl::StatusOr<Program> Apply(const Program& program,
                                const Step& step) const override {
    HONE_RETURN_IF_ERROR(ExpectParameters(step, 1, "BUFFER"));
    HONE_RETURN_IF_ERROR(ExpectLoop(program, step.path));
    HONE_ASSIGN_OR_RETURN(const BufferId buffer,
                          BufferParameter(program, step, 0));
    const std::optional<Path> declaration = FindDeclaration(program, buffer);
    if (declaration.has_value() && IsAtOrBelow(*declaration, step.path)) {
      return absl::InvalidArgumentError("the buffer is declared in the loop");
    }
    const std::vector<AccessSite> sites = SitesOf(program, step.path, buffer);
    const auto write =
        std::find_if(sites.begin(), sites.end(),
                     [](const AccessSite& site) { return site.is_write; });
    if (write == sites.end()) {
      return absl::InvalidArgumentError("the loop does not write the buffer");
    }
    bool copies_in = false;
    for (const AccessSite& site : sites) {
      const bool needs_value =
          Reads(site) && !IsCovered(program, step.path, site);
      copies_in |= needs_value;
      if ((site.is_write || needs_value) &&
          !TouchSame(program, step.path, site, *write)) {
        return absl::InvalidArgumentError(
            "accesses of the buffer touch different elements");
      }
    }
    if (copies_in ? !ReadsAllAtFirst(program, step.path, sites)
                  : !WritesAll(program, step.path, sites)) {
      return absl::InvalidArgumentError(
          "part of the buffer may be uninitialized in the loop");
    }
    HONE_ASSIGN_OR_RETURN(Box box,
                          BoxOf(program, step.path, sites, /*clip=*/true));
    LeaveGapsOut(program, step.path, sites, box);
    return Rewritten(program, step.path, *write, box, copies_in);
  }

 private:
  static bool HasReduction(const Program& program, const Path& path,
                           BufferId buffer) {
    for (const AccessSite& site : SitesOf(program, path, buffer)) {
      if (!site.combine.has_value()) continue;
      for (const Loop* loop : LoopsBetween(program, path, site)) {
        if (loop->extent > 1 &&
            std::none_of(site.access.indices.begin(), site.access.indices.end(),
                         [&](const Index& index) {
                           return index.affine.Uses(loop->var);
                         })) {
          return true;
        }
      }
    }
    return false;
  }

  static absl::StatusOr<Program> Rewritten(const Program& program,
                                           const Path& path,
                                           const AccessSite& write,
                                           const Box& box, bool copies_in) {
    const BufferId buffer = write.access.buffer;
    const hlo::ElementType type = program.buffer(buffer).type;
    Program result = program;
    const BufferId local = DeclareLocal(
        result, path, absl::StrCat(program.buffer(buffer).name, "_local"), type,
        box.CompactExtents());
    const auto localize = [&](const Access& access) {
      return box.Localize(local, *IndicesOf(program, access, box.form));
    };
    const auto copy = [&](bool is_in) {
      return SweepOf(result, path, write, [&](const Access& access) {
        Statement statement;
        statement.target = is_in ? localize(access) : access;
        statement.value =
            Expression::Load(type, is_in ? access : localize(access));
        return statement;
      });
    };
    std::vector<Node> body;
    if (copies_in) {
      HONE_ASSIGN_OR_RETURN(Node in, copy(/*is_in=*/true));
      body.push_back(std::move(in));
    }
    for (const Node& node : BodyAt(program, path)) {
      body.push_back(MapAccesses(node, [&](const Access& access) {
        return access.buffer == buffer ? localize(access) : access;
      }));
    }
    HONE_ASSIGN_OR_RETURN(Node out, copy(/*is_in=*/false));
    body.push_back(std::move(out));
    SetBody(result, path, std::move(body));
    HONE_RETURN_IF_ERROR(CheckRegisters(result));
    return result;
  }
};

}  // namespace

std::unique_ptr<Transform> MakeCacheWrite() {
  return std::make_unique<CacheWrite>();
}

}  // namespace hone::loops
