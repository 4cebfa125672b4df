// zero_sized_hlo_elimination: an array without elements is a constant.
//
//   f32[0,3] multiply(a, b)   →   f32[0,3] constant({})
//
// Legal because there is only one such value. Numeric class: exact. Dynamic
// shapes are left alone: their size is a bound.

#include <memory>

#include "hlo/passes/registry.h"
#include "hlo/rewrite/driver.h"
#include "hlo/rewrite/makers.h"

namespace hone::hlo {
namespace {

bool IsEmpty(const Instruction& instruction) {
  const Shape& shape = instruction.shape();
  return shape.IsArray() && shape.num_elements() == 0 && !shape.is_dynamic() &&
         !instruction.IsConstant();
}

void Eliminate(Rewriter& r) {
  for (const Instruction& instruction : r.computation().instructions()) {
    const InstructionId id = instruction.id();
    if (!IsEmpty(instruction) || !r.MayReplace(id, /*dynamic=*/true)) continue;
    r.Mark();
    if (!r.Replace(id, MakeConstant(r, Literal(instruction.shape_ptr())))) {
      r.DropUnused();
    }
  }
}

class ZeroSizedHloElimination final : public Pass {
 public:
  absl::string_view name() const override {
    return "zero_sized_hlo_elimination";
  }

  absl::StatusOr<bool> Run(Module& module,
                           const RewriteOptions& options) const override {
    return RewriteComputations(module, {.name = name()}, options, Eliminate);
  }
};

}  // namespace

std::unique_ptr<Pass> MakeZeroSizedHloElimination() {
  return std::make_unique<ZeroSizedHloElimination>();
}

}  // namespace hone::hlo
