#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "loops/lowering/graph/opcode_traits.h"
#include "loops/lowering/graph/unsupported.h"
#include "loops/lowering/kernel/families.h"
#include "loops/lowering/kernel/kernel_writer.h"
#include "loops/lowering/kernel/scalar.h"

namespace hone::loops {
namespace {

using hlo::ElementType;
using hlo::Opcode;

ExpressionPtr ReadIota(ElementType type, const Index& index) {
  // An index has 64 bits; narrow types convert it.
  const bool is_plain = index.offset == nullptr && (type == ElementType::kS32 ||
                                                    type == ElementType::kS64);
  if (is_plain) {
    return index.affine.IsConstant()
               ? Expression::ConstantInt(type, index.affine.constant())
               : Expression::OfIndex(type, index.affine);
  }
  return Converted(type, AsExpression(index));
}

// Scalars that apply to every element (of select and clamp) have no indices.
absl::StatusOr<std::vector<ExpressionPtr>> ReadOperands(
    KernelWriter& writer, Nest& nest, ValueId value, const Indices& indices) {
  const ValueGraph& graph = writer.graph();
  std::vector<ExpressionPtr> elements;
  for (ValueId operand : graph.operands(graph[value].instruction)) {
    const bool is_scalar = graph[operand].shape->rank() == 0;
    HONE_ASSIGN_OR_RETURN(
        ExpressionPtr element,
        writer.Read(nest, operand, is_scalar ? Indices() : indices));
    elements.push_back(std::move(element));
  }
  return elements;
}

}  // namespace

absl::StatusOr<ExpressionPtr> KernelWriter::Read(Nest& nest, ValueId value,
                                                 const Indices& indices) {
  // The result of a discarded attempt is never used.
  if (nest.must_restart()) {
    return Expression::ConstantInt(graph_.type(value), 0);
  }
  if (!fusion_.IsStored(value)) return Compute(nest, value, indices);
  const ValueId source = graph_.Source(value);
  HONE_ASSIGN_OR_RETURN(const BufferId buffer, BufferToRead(source));
  return Load(AccessOf(nest, buffer, graph_.dimensions(value), indices));
}

absl::StatusOr<ExpressionPtr> KernelWriter::Compute(Nest& nest, ValueId value,
                                                    const Indices& indices) {
  const hlo::Instruction& instruction = graph_.instruction(value);
  const hlo::DimensionVector& dimensions = instruction.dimensions();
  // The origin of each operand index.
  Indices at;
  switch (instruction.opcode()) {
    case Opcode::kConstant:
      if (const hlo::Literal* literal = UniformConstant(graph_, value)) {
        return ConstantOf(*literal, 0);
      }
      return Unsupported(instruction, "its value is elided");
    case Opcode::kIota:
      return ReadIota(graph_.type(value),
                      indices[static_cast<size_t>(dimensions[0])]);
    case Opcode::kGetDimensionSize:
      return Expression::ConstantInt(
          graph_.type(value),
          graph_.dimensions(
              graph_.operand(value, 0))[static_cast<size_t>(dimensions[0])]);
    case Opcode::kBroadcast:
      for (int64_t d : dimensions)
        at.push_back(indices[static_cast<size_t>(d)]);
      return Read(nest, graph_.operand(value, 0), at);
    case Opcode::kTranspose:
      at.resize(dimensions.size());
      for (size_t i = 0; i < dimensions.size(); ++i) {
        at[static_cast<size_t>(dimensions[i])] = indices[i];
      }
      return Read(nest, graph_.operand(value, 0), at);
    case Opcode::kReverse:
      at = indices;
      for (int64_t d : dimensions) {
        Index& index = at[static_cast<size_t>(d)];
        index = Scaled(index, -1,
                       graph_.dimensions(value)[static_cast<size_t>(d)] - 1);
      }
      return Read(nest, graph_.operand(value, 0), at);
    case Opcode::kSlice:
      for (size_t i = 0; i < indices.size(); ++i) {
        const hlo::SliceDimension& slice = instruction.attributes().slice[i];
        at.push_back(Scaled(indices[i], slice.stride, slice.start));
      }
      return Read(nest, graph_.operand(value, 0), at);
    case Opcode::kReshape:
    case Opcode::kBitcast:
      return ReadReshape(*this, nest, value, indices);
    case Opcode::kBitcastConvert:
      if (hlo::BitWidth(graph_.type(value)) !=
          hlo::BitWidth(graph_.type(graph_.operand(value, 0)))) {
        return ReadBitcastConvert(*this, nest, value, indices);
      }
      break;
    case Opcode::kPad:
      return ReadPad(*this, nest, value, indices);
    case Opcode::kConcatenate:
      return ReadConcatenate(*this, nest, value, indices);
    case Opcode::kDynamicSlice:
      return ReadDynamicSlice(*this, nest, value, indices);
    case Opcode::kGather:
      return ReadGather(*this, nest, value, indices);
    default:
      break;
  }
  if (FormOf(instruction) != Form::kExpression) return Unsupported(instruction);
  HONE_ASSIGN_OR_RETURN(std::vector<ExpressionPtr> operands,
                        ReadOperands(*this, nest, value, indices));
  if (instruction.opcode() == Opcode::kMap) {
    HONE_ASSIGN_OR_RETURN(
        const std::vector<ExpressionPtr> results,
        ApplyRegion(graph_.module(), instruction.called()[0], operands));
    return results[0];
  }
  return ApplyElementwise(instruction, std::move(operands));
}

}  // namespace hone::loops
