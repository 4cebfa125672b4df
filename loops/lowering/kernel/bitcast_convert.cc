#include <utility>

#include "base/status_macros.h"
#include "loops/lowering/kernel/families.h"
#include "loops/lowering/kernel/scalar.h"

namespace hone::loops {
namespace {

using hlo::ElementType;
using hlo::Opcode;

// Returns the bits of `value` as an unsigned integer.
ExpressionPtr BitsOf(ExpressionPtr value) {
  const ElementType bits = UnsignedOf(value->type());
  if (bits == value->type()) return value;
  return Expression::Apply(Opcode::kBitcastConvert, bits, {std::move(value)});
}

ExpressionPtr FromBits(ElementType type, ExpressionPtr bits) {
  if (bits->type() == type) return bits;
  return Expression::Apply(Opcode::kBitcastConvert, type, {std::move(bits)});
}

}  // namespace

absl::StatusOr<ExpressionPtr> ReadBitcastConvert(KernelWriter& writer,
                                                 Nest& nest, ValueId value,
                                                 const Indices& indices) {
  const ValueGraph& graph = writer.graph();
  const ValueId operand = graph.operand(value, 0);
  const ElementType type = graph.type(value);
  const ElementType bits = UnsignedOf(type);
  const int width = hlo::BitWidth(type);
  const int operand_width = hlo::BitWidth(graph.type(operand));
  Indices at = indices;
  if (width < operand_width) {
    const ExpressionPtr part =
        Converted(UnsignedOf(graph.type(operand)), AsExpression(at.back()));
    at.pop_back();
    HONE_ASSIGN_OR_RETURN(ExpressionPtr whole, writer.Read(nest, operand, at));
    const ElementType whole_bits = part->type();
    ExpressionPtr shift =
        Expression::Apply(Opcode::kMultiply, whole_bits,
                          {part, Expression::ConstantInt(whole_bits, width)});
    return FromBits(
        type,
        Converted(bits, Expression::Apply(
                            Opcode::kShiftRightLogical, whole_bits,
                            {BitsOf(std::move(whole)), std::move(shift)})));
  }
  ExpressionPtr result;
  for (int i = 0; i < width / operand_width; ++i) {
    Indices part_at = at;
    part_at.push_back(Index(Affine(i)));
    HONE_ASSIGN_OR_RETURN(ExpressionPtr part,
                          writer.Read(nest, operand, part_at));
    part = Converted(bits, BitsOf(std::move(part)));
    if (i == 0) {
      result = std::move(part);
      continue;
    }
    part = Expression::Apply(
        Opcode::kShiftLeft, bits,
        {std::move(part), Expression::ConstantInt(bits, i * operand_width)});
    result = Expression::Apply(Opcode::kOr, bits,
                               {std::move(result), std::move(part)});
  }
  return FromBits(type, std::move(result));
}

}  // namespace hone::loops
