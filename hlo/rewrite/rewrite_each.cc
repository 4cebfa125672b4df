#include "hlo/rewrite/rewrite_each.h"

#include <algorithm>

namespace hone::hlo {

using algsimp::Rewriter;

bool MayRewrite(const Rewriter& r, InstructionId id) {
  const Instruction& instruction = r[id];
  const auto& others = instruction.attributes().others;
  const bool only_precision =
      std::all_of(others.begin(), others.end(), [](const auto& attribute) {
        return attribute.first == "operand_precision" ||
               attribute.first == "algorithm";
      });
  if (!only_precision || instruction.shape().is_dynamic() ||
      r.computation().HasControlDependency(id) ||
      r.module().HasSideEffect(instruction)) {
    return false;
  }
  bool has_layout = instruction.shape().layout() != nullptr;
  for (InstructionId operand : instruction.operands()) {
    if (r.shape(operand).is_dynamic()) return false;
    has_layout |= r.shape(operand).layout() != nullptr;
  }
  return !has_layout || !r.LayoutIsSeen(id);
}

InstructionId AddTranspose(Rewriter& r, InstructionId operand,
                           absl::Span<const int64_t> permutation) {
  if (IsIdentityPermutation(permutation)) return operand;
  return r.Add(MakeTranspose(r.computation(), operand, permutation));
}

bool Contains(absl::Span<const int64_t> dimensions, int64_t dimension) {
  return std::find(dimensions.begin(), dimensions.end(), dimension) !=
         dimensions.end();
}

DimensionVector WithoutDimensions(absl::Span<const int64_t> dimensions,
                                  absl::Span<const int64_t> positions) {
  DimensionVector result;
  for (size_t i = 0; i < dimensions.size(); ++i) {
    if (!Contains(positions, static_cast<int64_t>(i))) {
      result.push_back(dimensions[i]);
    }
  }
  return result;
}

}  // namespace hone::hlo
