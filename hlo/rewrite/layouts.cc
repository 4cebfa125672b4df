#include "hlo/rewrite/layouts.h"

#include <utility>

#include "hlo/rewrite/carried_attributes.h"

namespace hone::hlo {

bool MayReplaceInLayout(const Rewriter& r, InstructionId id) {
  return !r.Is(id, Opcode::kParameter) && AttributesPermitReplacing(r[id]) &&
         !r.computation().HasControlDependency(id) &&
         !r.module().HasSideEffect(r[id]);
}

bool IsPlainArray(const Shape& shape) {
  return shape.IsArray() && !shape.is_dynamic() &&
         (shape.layout() == nullptr || shape.layout()->suffix.empty());
}

bool HaveSameLayout(const Shape& a, const Shape& b) {
  return a.layout() == b.layout() ||
         (a.layout() != nullptr && b.layout() != nullptr &&
          *a.layout() == *b.layout());
}

ShapePtr WithLayout(const Shape& shape, const Layout* layout) {
  auto result = std::make_shared<Shape>(shape);
  result->clear_layout();
  if (layout != nullptr) result->set_layout(*layout);
  return result;
}

InstructionId MakeCopyInto(Rewriter& r, InstructionId operand, ShapePtr shape,
                           Place place) {
  return r.Add(Instruction(Opcode::kCopy, std::move(shape), {operand}), place);
}

}  // namespace hone::hlo
