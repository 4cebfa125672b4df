#include "loops/lowering/graph/unsupported.h"

#include <string>

#include "absl/strings/str_cat.h"

#include "base/excerpt.h"
#include "base/status_macros.h"
#include "loops/lowering/graph/opcode_traits.h"

namespace hone::loops {

using hlo::ElementType;

absl::Status Unsupported(const hlo::Instruction& instruction,
                         absl::string_view why) {
  const std::string opcode =
      instruction.unknown_opcode() == nullptr
          ? std::string(hlo::OpcodeName(instruction.opcode()))
          : Excerpt(*instruction.unknown_opcode());
  return absl::UnimplementedError(
      absl::StrCat("no kernel for ", opcode, " '", instruction.name(), "'",
                   why.empty() ? "" : ": ", why,
                   FormOf(instruction) == Form::kControlFlow
                       ? ", expected a module without control flow"
                       : ""));
}

bool IsSupportedType(ElementType type) {
  switch (type) {
    case ElementType::kPred:
    case ElementType::kS8:
    case ElementType::kS16:
    case ElementType::kS32:
    case ElementType::kS64:
    case ElementType::kU8:
    case ElementType::kU16:
    case ElementType::kU32:
    case ElementType::kU64:
    case ElementType::kF16:
    case ElementType::kBf16:
    case ElementType::kF32:
    case ElementType::kF64:
      return true;
    default:
      return false;
  }
}

absl::Status CheckShape(const hlo::Instruction& instruction,
                        const hlo::Shape& shape) {
  if (shape.IsTuple()) {
    for (const hlo::ShapePtr& element : shape.tuple_elements()) {
      HONE_RETURN_IF_ERROR(CheckShape(instruction, *element));
    }
    return absl::OkStatus();
  }
  if (!IsSupportedType(shape.element_type())) {
    return Unsupported(
        instruction, absl::StrCat("element type ",
                                  hlo::ElementTypeName(shape.element_type())));
  }
  if (shape.is_dynamic()) return Unsupported(instruction, "dynamic shape");
  return absl::OkStatus();
}

}  // namespace hone::loops
