// tile PATH FACTOR FACTOR: two perfectly nested scopes, both split, with the
// inner of the first inside the outer of the second.
//
//   for i 64                         for i0 4
//   | for j 64                  →    | for j0 2
//   | | y[i,j] = x[j,i]              | | for i1 16
//                                    | | | for j1 32
//                                    | | | | y[16*i0+i1,32*j0+j1] = …
//
// Legal where split and interchange are; it is what the two give, as one move.
// Pays where each of the scopes reuses what the other goes through, and a block
// of that fits in a cache.

#include <memory>
#include <vector>

#include "base/status_macros.h"
#include "loops/rewrite.h"
#include "loops/transforms/checks.h"
#include "loops/transforms/registry.h"
#include "loops/transforms/script.h"

namespace hone::loops {
namespace {

// Blocks for registers, for the first and for the second cache.
constexpr int64_t kFactors[] = {8, 32, 128};

bool IsUseful(const Scope& scope, int64_t factor) {
  if (scope.mode != ScopeMode::kSequential || scope.extent <= factor) {
    return false;
  }
  return scope.extent % factor == 0 ||
         (!scope.bound.has_value() && scope.extent >= 4 * factor);
}

class Tile final : public Transform {
 public:
  absl::string_view name() const override { return "tile"; }
  bool changes_rounding() const override { return true; }

  void Enumerate(const Program& program, const Machine& machine,
                 std::vector<Step>& steps) const override {
    // Where whole scopes may change places their parts may, too.
    std::vector<Step> interchanges;
    MakeInterchange()->Enumerate(program, machine, interchanges);
    for (const Step& interchange : interchanges) {
      const Scope& outer = *program.At(interchange.path).scope();
      const Scope& inner = *outer.body[0].scope();
      for (int64_t outer_factor : kFactors) {
        if (!IsUseful(outer, outer_factor)) continue;
        for (int64_t inner_factor : kFactors) {
          if (!IsUseful(inner, inner_factor)) continue;
          steps.push_back(
              {"tile", interchange.path, {outer_factor, inner_factor}});
        }
      }
    }
  }

  absl::StatusOr<Program> Apply(const Program& program,
                                const Step& step) const override {
    HONE_RETURN_IF_ERROR(ExpectParameters(step, 2, "FACTOR FACTOR"));
    HONE_ASSIGN_OR_RETURN(const Scope* outer, FindScope(program, step));
    if (outer->body.size() != 1 || outer->body[0].scope() == nullptr) {
      return absl::InvalidArgumentError(
          "the scope has other children than a single scope");
    }
    const Path& path = step.path;
    const Path middle = Child(path, 0);
    return ApplyScript(program,
                       {{"split", path, {step.parameters[0]}},
                        {"split", Child(middle, 0), {step.parameters[1]}},
                        {"interchange", middle, {}}});
  }
};

}  // namespace

std::unique_ptr<Transform> MakeTile() { return std::make_unique<Tile>(); }

}  // namespace hone::loops
