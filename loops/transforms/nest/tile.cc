// tile PATH FACTOR FACTOR: splits two perfectly nested loops, and moves the
// inner loop of the first inside the outer loop of the second.
//
//   for i 64                         for i0 4
//   | for j 64                  →    | for j0 2
//   | | y[i,j] = x[j,i]              | | for i1 16
//                                    | | | for j1 32
//                                    | | | | y[16*i0+i1,32*j0+j1] = …
//
// Equals two splits and a reorder, and is legal if they are. Pays off if each
// loop reuses the data of the other, and a block of that data fits in a cache.

#include <memory>
#include <vector>

#include "base/status_macros.h"
#include "loops/ir/rewrite.h"
#include "loops/transforms/checks.h"
#include "loops/transforms/registry.h"
#include "loops/transforms/script.h"

namespace hone::loops {
namespace {

// Blocks for registers, for the first and for the second cache.
constexpr int64_t kFactors[] = {8, 32, 128};

bool IsUseful(const Loop& loop, int64_t factor) {
  if (loop.mode != LoopMode::kSequential || loop.extent <= factor) {
    return false;
  }
  return loop.extent % factor == 0 ||
         (!loop.bound.has_value() && loop.extent >= 4 * factor);
}

class Tile final : public Transform {
 public:
  absl::string_view name() const override { return "tile"; }
  bool changes_rounding() const override { return true; }

  void Enumerate(const Program& program, const Machine& machine,
                 std::vector<Step>& steps) const override {
    // If whole loops may change places, their parts may, too.
    std::vector<Step> reorders;
    MakeReorder()->Enumerate(program, machine, reorders);
    for (const Step& reorder : reorders) {
      const Loop& outer = *program.At(reorder.path).loop();
      const Loop& inner = *outer.body[0].loop();
      for (int64_t outer_factor : kFactors) {
        if (!IsUseful(outer, outer_factor)) continue;
        for (int64_t inner_factor : kFactors) {
          if (!IsUseful(inner, inner_factor)) continue;
          steps.push_back({"tile", reorder.path, {outer_factor, inner_factor}});
        }
      }
    }
  }

  absl::StatusOr<Program> Apply(const Program& program,
                                const Step& step) const override {
    HONE_RETURN_IF_ERROR(ExpectParameters(step, 2, "FACTOR FACTOR"));
    HONE_ASSIGN_OR_RETURN(const Loop* outer, FindLoop(program, step));
    if (outer->body.size() != 1 || outer->body[0].loop() == nullptr) {
      return absl::InvalidArgumentError(
          "the loop has children other than a single loop");
    }
    const Path& path = step.path;
    const Path middle = Child(path, 0);
    return ApplyScript(program,
                       {{"split", path, {step.parameters[0]}},
                        {"split", Child(middle, 0), {step.parameters[1]}},
                        {"reorder", middle, {}}});
  }
};

}  // namespace

std::unique_ptr<Transform> MakeTile() { return std::make_unique<Tile>(); }

}  // namespace hone::loops
