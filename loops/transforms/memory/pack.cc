// pack PATH BUFFER FORM [ORDER… or SITE]: copies the part of a buffer that one
// iteration of the loop at PATH (- for the whole program) reads to a local,
// before the loop's children, which then read the local.
//
//   for i1 { … b[64*i0+i1,j] … }  →  local c; for … { c[…] = b[…] }
//                                    for i1 { … c[i1,j] … }
//
// FORM 0: the local has the dimensions of the buffer, except those of extent 1
// (cache_read in TVM). FORM 1: it has one dimension for each inner loop that an
// index depends on, outermost first, so that it is read sequentially: panels of
// matrices, patches of convolutions. ORDER permutes these dimensions: which
// comes first, second and so on; the default is the identity. FORM 2: as FORM 1
// of what all iterations of the loop read, copied before the loop: an operand
// that is rearranged once.
// Legal if nothing in the loop writes the buffer, and the whole part is
// initialized before. Elements out of bounds, in the last tile of a split that
// does not divide, are 0.

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "loops/ir/rewrite.h"
#include "loops/transforms/analysis/coverage.h"
#include "loops/transforms/analysis/footprint.h"
#include "loops/transforms/analysis/same_expression.h"
#include "loops/transforms/locals.h"
#include "loops/transforms/memory/staged_copy.h"
#include "loops/transforms/registry.h"

namespace hone::loops {
namespace {

constexpr int64_t kByDimension = 0;
constexpr int64_t kByLoop = 1;
constexpr int64_t kBeforeLoop = 2;
constexpr int64_t kSiteByLoop = 3;
constexpr int64_t kSiteBeforeLoop = 4;

absl::StatusOr<CopyLayout> Reordered(const CopyLayout& layout,
                                     absl::Span<const int64_t> order) {
  CopyLayout result = layout;
  std::vector<int64_t> sorted(order.begin(), order.end());
  std::sort(sorted.begin(), sorted.end());
  for (size_t k = 0; k < sorted.size(); ++k) {
    if (sorted[k] != static_cast<int64_t>(k) ||
        sorted.size() != layout.dimensions.size()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the order is not one of ", layout.dimensions.size(), " dimensions"));
    }
    result.dimensions[k] = layout.dimensions[static_cast<size_t>(order[k])];
  }
  return result;
}

int64_t BytesOf(const Program& program, BufferId buffer,
                const CopyLayout& layout) {
  int64_t bytes = hlo::ByteWidth(program.buffer(buffer).type);
  for (const CopyLayout::Dimension& digit : layout.dimensions) {
    bytes *= digit.extent;
  }
  return bytes;
}

// The copy that a step asks for.
struct Plan {
  BufferId buffer = 0;
  CopyLayout layout;
  bool is_before_loop = false;
  // The only access that reads the copy; nullopt if all do.
  std::optional<Access> only;
};

// Removes sites other than those with the indices of the one that a step of
// form 3 or 4 names, and returns its access.
absl::StatusOr<Access> SelectSite(const Step& step,
                                  std::vector<AccessSite>& sites) {
  if (step.parameters.size() != 3 || step.parameters[2] < 0 ||
      step.parameters[2] >= static_cast<int64_t>(sites.size())) {
    return absl::InvalidArgumentError(absl::StrCat(
        "expected BUFFER FORM SITE, with a site below ", sites.size()));
  }
  const Access only = sites[static_cast<size_t>(step.parameters[2])].access;
  std::erase_if(sites, [&](const AccessSite& site) {
    return !SameAccess(site.access, only);
  });
  return only;
}

absl::StatusOr<Plan> PlanOf(const Program& program, const Step& step) {
  if (step.parameters.size() < 2) {
    return absl::InvalidArgumentError(
        "expected BUFFER FORM [ORDER…], or BUFFER FORM SITE");
  }
  HONE_RETURN_IF_ERROR(ExpectLoop(program, step.path));
  Plan plan;
  HONE_ASSIGN_OR_RETURN(plan.buffer, BufferParameter(program, step, 0));
  std::vector<AccessSite> sites = SitesOf(program, step.path, plan.buffer);
  if (sites.empty()) {
    return absl::InvalidArgumentError("the loop does not read the buffer");
  }
  for (const AccessSite& site : sites) {
    if (site.is_write) {
      return absl::InvalidArgumentError("the loop writes the buffer");
    }
  }
  const std::optional<Path> declaration = FindDeclaration(program, plan.buffer);
  if (declaration.has_value() && IsAtOrBelow(*declaration, step.path)) {
    return absl::InvalidArgumentError("the buffer is declared in the loop");
  }
  const int64_t form = step.parameters[1];
  if (form < kByDimension || form > kSiteBeforeLoop) {
    return absl::InvalidArgumentError(
        absl::StrCat("form ", form, ", expected 0 to 4"));
  }
  plan.is_before_loop = form == kBeforeLoop || form == kSiteBeforeLoop;
  if (plan.is_before_loop && step.path.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("form ", form, " needs a loop"));
  }
  if (form == kSiteByLoop || form == kSiteBeforeLoop) {
    HONE_ASSIGN_OR_RETURN(plan.only, SelectSite(step, sites));
  }
  if (form == kByDimension) {
    HONE_ASSIGN_OR_RETURN(plan.layout, LayoutByDimension(program, step.path,
                                                         sites, /*clip=*/true));
  } else {
    HONE_ASSIGN_OR_RETURN(
        plan.layout,
        LayoutByLoop(program,
                     plan.is_before_loop ? Parent(step.path) : step.path,
                     sites));
  }
  if (step.parameters.size() > 2 && !plan.only.has_value()) {
    HONE_ASSIGN_OR_RETURN(
        plan.layout,
        Reordered(plan.layout, absl::MakeSpan(step.parameters).subspan(2)));
  }
  return plan;
}

class Pack final : public Transform {
 public:
  absl::string_view name() const override { return "pack"; }
  int32_t buffer_parameters() const override { return 1; }

  // Lists places where something is read again and again: below a loop that
  // does not move its indices.
  void Enumerate(const Program& program, const Machine& machine,
                 std::vector<Step>& steps) const override {
    const int64_t most_bytes = std::max(machine.l2_bytes, machine.l3_bytes / 2);
    const auto try_at = [&](const Path& path) {
      for (BufferId buffer : BuffersIn(program, path)) {
        if (!ReadsAgain(program, path, buffer)) continue;
        EnumerateSites(program, path, buffer, most_bytes, steps);
        for (int64_t form : {kByDimension, kByLoop}) {
          const Step step = {"pack", path, {buffer, form}};
          const absl::StatusOr<Plan> plan = PlanOf(program, step);
          if (!plan.ok() || plan->layout.dimensions.empty() ||
              BytesOf(program, plan->buffer, plan->layout) > most_bytes) {
            continue;
          }
          // The same twice, or the buffer once more.
          if (form == kByLoop ? IsByDimension(*plan)
                              : IsWhole(program, *plan)) {
            continue;
          }
          if (Apply(program, step).ok()) steps.push_back(step);
        }
      }
    };
    try_at(Path());
    VisitLoops(program, Path(),
               [&](const Path& path, const Loop&) { try_at(path); });
    // Whole operands; in a single nest, those are packed at the root.
    for (size_t i = 0; program.body().size() > 1 && i < program.body().size();
         ++i) {
      const Path nest = {static_cast<int32_t>(i)};
      if (program.At(nest).loop() == nullptr) continue;
      for (BufferId buffer : BuffersIn(program, nest)) {
        const Step step = {"pack", nest, {buffer, kBeforeLoop}};
        const absl::StatusOr<Plan> plan = PlanOf(program, step);
        if (plan.ok() && !plan->layout.dimensions.empty() &&
            !IsByDimension(*plan) &&
            BytesOf(program, buffer, plan->layout) <= most_bytes &&
            Apply(program, step).ok()) {
          steps.push_back(step);
        }
      }
    }
  }

  absl::StatusOr<Program> Apply(const Program& program,
                                const Step& step) const override {
    HONE_ASSIGN_OR_RETURN(const Plan plan, PlanOf(program, step));
    const Buffer& buffer = program.buffer(plan.buffer);
    Program result = program;
    const bool in_front = plan.is_before_loop;
    const Path around = in_front ? Parent(step.path) : step.path;
    const Path copy = in_front ? step.path : Child(step.path, 0);
    const BufferId local = AddCopy(result, copy, plan.buffer, plan.layout,
                                   Expression::Constant(buffer.type, 0));
    std::vector<Node> body = BodyAt(result, around);
    const std::vector<const Loop*> outer = LoopsAt(result, around);
    const size_t first = static_cast<size_t>(copy.back()) + 1;
    const size_t end = in_front ? first + 1 : body.size();
    for (size_t i = first; i < end; ++i) {
      body[i] = UseCopy(
          result, body[i],
          [&](const Access& access) {
            return plan.only.has_value() ? SameAccess(access, *plan.only)
                                         : access.buffer == plan.buffer;
          },
          local, plan.layout, outer);
    }
    SetBody(result, around, std::move(body));
    HONE_RETURN_IF_ERROR(CheckRegisters(result));
    if (buffer.memory == Memory::kArgument ||
        buffer.memory == Memory::kConstant) {
      return result;
    }
    for (const AccessSite& site : SitesOf(result, copy, plan.buffer)) {
      if (!IsCovered(result, Path(), site)) {
        return absl::InvalidArgumentError(
            "a copied element may be uninitialized");
      }
    }
    return result;
  }

 private:
  // Lists copies of what is read by one of several accesses.
  void EnumerateSites(const Program& program, const Path& path, BufferId buffer,
                      int64_t most_bytes, std::vector<Step>& steps) const {
    const std::vector<AccessSite> sites = SitesOf(program, path, buffer);
    for (size_t k = 0; k < sites.size(); ++k) {
      const auto same = [&](const AccessSite& site) {
        return SameAccess(site.access, sites[k].access);
      };
      const auto first = std::find_if(sites.begin(), sites.end(), same);
      if (static_cast<size_t>(first - sites.begin()) != k ||
          std::all_of(sites.begin(), sites.end(), same)) {
        continue;
      }
      const Step step = {
          "pack", path, {buffer, kSiteByLoop, static_cast<int64_t>(k)}};
      const absl::StatusOr<Plan> plan = PlanOf(program, step);
      if (plan.ok() && !plan->layout.dimensions.empty() &&
          BytesOf(program, buffer, plan->layout) <= most_bytes &&
          Apply(program, step).ok()) {
        steps.push_back(step);
      }
    }
  }

  // Returns true if a loop inside the one at `path` reads the buffer without
  // moving an index of it.
  static bool ReadsAgain(const Program& program, const Path& path,
                         BufferId buffer) {
    for (const AccessSite& site : SitesOf(program, path, buffer)) {
      for (const Loop* loop : LoopsBetween(program, path, site)) {
        const bool is_used = std::any_of(
            site.access.indices.begin(), site.access.indices.end(),
            [&](const Index& index) { return index.affine.Uses(loop->var); });
        if (!is_used && loop->extent > 1) return true;
      }
    }
    return false;
  }

  // Returns true if the copy of a plan by dimension has all of the buffer.
  static bool IsWhole(const Program& program, const Plan& plan) {
    const Buffer& buffer = program.buffer(plan.buffer);
    return BytesOf(program, plan.buffer, plan.layout) ==
               buffer.allocated_bytes() &&
           buffer.IsDense();
  }

  // Returns true if the layout is the one that the other form gives.
  static bool IsByDimension(const Plan& plan) {
    for (size_t k = 0; k < plan.layout.dimensions.size(); ++k) {
      const CopyLayout::Dimension& digit = plan.layout.dimensions[k];
      if (digit.coefficient != 1) return false;
      if (k > 0 && digit.dimension <= plan.layout.dimensions[k - 1].dimension) {
        return false;
      }
    }
    return true;
  }
};

}  // namespace

std::unique_ptr<Transform> MakePack() { return std::make_unique<Pack>(); }

}  // namespace hone::loops
