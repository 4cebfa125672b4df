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

bool Eliminate(Rewriter& r, InstructionId id) {
  const Shape& shape = r.shape(id);
  return shape.IsArray() && shape.num_elements() == 0 && !r[id].IsConstant() &&
         !shape.is_dynamic() && r.MayReplace(id, /*dynamic=*/true) &&
         r.Replace(id, MakeConstant(r, Literal(r[id].shape_ptr())));
}

class ZeroSizedHloElimination final : public Pass {
 public:
  absl::string_view name() const override {
    return "zero_sized_hlo_elimination";
  }

  absl::StatusOr<bool> Run(Module& module,
                           const RewriteOptions& options) const override {
    return RewriteModule(module, {.name = name(), .checks_itself = true},
                         options, Eliminate);
  }
};

}  // namespace

std::unique_ptr<Pass> MakeZeroSizedHloElimination() {
  return std::make_unique<ZeroSizedHloElimination>();
}

}  // namespace hone::hlo
