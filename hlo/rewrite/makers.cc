#include "hlo/rewrite/makers.h"

#include <cstring>
#include <utility>

#include "hlo/inference/shape_inference.h"
#include "hlo/rewrite/dimensions.h"

namespace hone::hlo {
namespace {

ElementType TypeOf(const Rewriter& r, InstructionId id) {
  return r.shape(id).element_type();
}

bool HasSizes(const Rewriter& r, InstructionId id,
              absl::Span<const int64_t> sizes) {
  return id != kNoInstruction &&
         absl::MakeConstSpan(r.dimensions_of(id)) == sizes;
}

}  // namespace

InstructionId MakeConstant(Rewriter& r, Literal literal, Place place) {
  return r.Add(Instruction::Constant(std::move(literal)), place);
}

InstructionId MakeUniform(Rewriter& r, Literal value,
                          absl::Span<const int64_t> sizes, Place place) {
  const InstructionId constant = MakeConstant(r, std::move(value), place);
  if (sizes.empty()) return constant;
  return MakeBroadcast(r, constant, sizes, {}, place);
}

InstructionId MakeFilledConstant(Rewriter& r, const Literal& value,
                                 absl::Span<const int64_t> sizes, Place place) {
  Literal filled(Shape::Array(value.shape().element_type(), sizes));
  const size_t width = static_cast<size_t>(value.byte_size());
  std::byte* out = filled.MutableData();
  for (int64_t i = 0; i < filled.num_elements(); ++i, out += width) {
    std::memcpy(out, value.data(), width);
  }
  return MakeConstant(r, std::move(filled), place);
}

InstructionId Make(Rewriter& r, Opcode opcode,
                   absl::Span<const InstructionId> operands, Place place) {
  return r.Add(Instruction(opcode, nullptr, operands), place);
}

InstructionId MakeUnary(Rewriter& r, Opcode opcode, InstructionId operand,
                        Place place) {
  return Make(r, opcode, {operand}, place);
}

InstructionId MakeBinary(Rewriter& r, Opcode opcode, InstructionId lhs,
                         InstructionId rhs, Place place) {
  return Make(r, opcode, {lhs, rhs}, place);
}

namespace {

// Adds `instruction`, which has the opcode of `prototype`.
InstructionId AddLike(Rewriter& r, InstructionId prototype,
                      Instruction instruction, Place place) {
  switch (instruction.opcode()) {
    // The shape says what operands and attributes do not: all of it, …
    case Opcode::kBitcast:
    case Opcode::kBroadcast:
    case Opcode::kConstant:
    case Opcode::kCustomCall:
    case Opcode::kIota:
    case Opcode::kParameter:
    case Opcode::kReshape:
    case Opcode::kRng:
      return r.Add(std::move(instruction), place);
    // … or the element type, …
    case Opcode::kBitcastConvert:
    case Opcode::kConvert:
    case Opcode::kConvolution:
    case Opcode::kDot:
      return r.AddOfType(std::move(instruction),
                         r.shape(prototype).element_type(), place);
    // … or nothing.
    default:
      instruction.set_shape(nullptr);
      return r.Add(std::move(instruction), place);
  }
}

}  // namespace

InstructionId MakeLike(Rewriter& r, InstructionId prototype,
                       absl::Span<const InstructionId> operands, Place place) {
  return AddLike(r, prototype, r[prototype].WithOperands(operands), place);
}

InstructionId MakeLike(Rewriter& r, InstructionId prototype,
                       absl::Span<const InstructionId> operands,
                       Attributes attributes, Place place) {
  Instruction instruction = r[prototype].WithOperands(operands);
  instruction.set_attributes(
      std::make_shared<const Attributes>(std::move(attributes)));
  return AddLike(r, prototype, std::move(instruction), place);
}

InstructionId MakeLike(Rewriter& r, InstructionId prototype,
                       absl::Span<const InstructionId> operands,
                       ElementType type, Place place) {
  Instruction instruction = r[prototype].WithOperands(operands);
  instruction.set_shape(WithElementType(instruction.shape(), type));
  return r.Add(std::move(instruction), place);
}

InstructionId MakeCompare(Rewriter& r, ComparisonDirection direction,
                          InstructionId lhs, InstructionId rhs, Place place) {
  auto attributes = std::make_shared<Attributes>();
  attributes->direction = direction;
  return r.Add(
      Instruction(Opcode::kCompare, nullptr, {lhs, rhs}, std::move(attributes)),
      place);
}

InstructionId MakeSelect(Rewriter& r, InstructionId pred, InstructionId on_true,
                         InstructionId on_false, Place place) {
  return Make(r, Opcode::kSelect, {pred, on_true, on_false}, place);
}

InstructionId MakeConvert(Rewriter& r, InstructionId operand, ElementType type,
                          Place place) {
  if (operand != kNoInstruction && TypeOf(r, operand) == type) return operand;
  return r.Add(Instruction(Opcode::kConvert,
                           WithElementType(r.shape(operand), type), {operand}),
               place);
}

InstructionId MakeReshape(Rewriter& r, InstructionId operand,
                          absl::Span<const int64_t> sizes, Place place) {
  if (HasSizes(r, operand, sizes)) return operand;
  return r.Add(Instruction(Opcode::kReshape,
                           Shape::Array(TypeOf(r, operand), sizes), {operand}),
               place);
}

InstructionId MakeBroadcast(Rewriter& r, InstructionId operand,
                            absl::Span<const int64_t> sizes,
                            absl::Span<const int64_t> mapping, Place place) {
  return r.Add(
      Instruction(Opcode::kBroadcast, Shape::Array(TypeOf(r, operand), sizes),
                  {operand}, DimensionAttributes(mapping)),
      place);
}

InstructionId MakeTranspose(Rewriter& r, InstructionId operand,
                            absl::Span<const int64_t> permutation,
                            Place place) {
  if (operand != kNoInstruction && IsIdentityPermutation(permutation) &&
      permutation.size() == r.dimensions_of(operand).size()) {
    return operand;
  }
  return r.Add(Instruction(Opcode::kTranspose, nullptr, {operand},
                           DimensionAttributes(permutation)),
               place);
}

InstructionId MakeSlice(Rewriter& r, InstructionId operand,
                        absl::Span<const SliceDimension> slice, Place place) {
  auto attributes = std::make_shared<Attributes>();
  attributes->slice.assign(slice.begin(), slice.end());
  return r.Add(
      Instruction(Opcode::kSlice, nullptr, {operand}, std::move(attributes)),
      place);
}

InstructionId MakePad(Rewriter& r, InstructionId operand, InstructionId value,
                      absl::Span<const PaddingDimension> padding, Place place) {
  auto attributes = std::make_shared<Attributes>();
  attributes->padding.assign(padding.begin(), padding.end());
  return r.Add(Instruction(Opcode::kPad, nullptr, {operand, value},
                           std::move(attributes)),
               place);
}

InstructionId MakeConcatenate(Rewriter& r,
                              absl::Span<const InstructionId> operands,
                              int64_t dimension, Place place) {
  if (operands.size() == 1) return operands[0];
  return r.Add(Instruction(Opcode::kConcatenate, nullptr, operands,
                           DimensionAttributes({dimension})),
               place);
}

InstructionId MakeIota(Rewriter& r, ElementType type,
                       absl::Span<const int64_t> sizes, int64_t dimension,
                       Place place) {
  return r.Add(Instruction(Opcode::kIota, Shape::Array(type, sizes), {},
                           DimensionAttributes({dimension})),
               place);
}

InstructionId MakeDynamicSlice(Rewriter& r, InstructionId operand,
                               absl::Span<const InstructionId> starts,
                               absl::Span<const int64_t> sizes, Place place) {
  InstructionIds operands = {operand};
  operands.insert(operands.end(), starts.begin(), starts.end());
  return r.Add(Instruction(Opcode::kDynamicSlice, nullptr, operands,
                           DimensionAttributes(sizes)),
               place);
}

InstructionId MakeDynamicUpdateSlice(Rewriter& r, InstructionId operand,
                                     InstructionId update,
                                     absl::Span<const InstructionId> starts,
                                     Place place) {
  InstructionIds operands = {operand, update};
  operands.insert(operands.end(), starts.begin(), starts.end());
  return Make(r, Opcode::kDynamicUpdateSlice, operands, place);
}

InstructionId MakeReduce(Rewriter& r, InstructionId operand, InstructionId init,
                         absl::Span<const int64_t> dimensions,
                         ComputationId region, Place place) {
  Instruction reduce(Opcode::kReduce, nullptr, {operand, init},
                     DimensionAttributes(dimensions));
  reduce.set_called({region});
  return r.Add(std::move(reduce), place);
}

InstructionId MakeDot(Rewriter& r, InstructionId lhs, InstructionId rhs,
                      const DotDimensions& dimensions, ElementType type,
                      InstructionId precision, Place place) {
  auto attributes = std::make_shared<Attributes>();
  attributes->dot = std::make_shared<const DotDimensions>(dimensions);
  for (const auto& attribute : r[precision].attributes().others) {
    if (attribute.first == "operand_precision" ||
        attribute.first == "algorithm") {
      attributes->others.push_back(attribute);
    }
  }
  return r.AddOfType(
      Instruction(Opcode::kDot, nullptr, {lhs, rhs}, std::move(attributes)),
      type, place);
}

InstructionId MakeTuple(Rewriter& r, absl::Span<const InstructionId> elements,
                        Place place) {
  return Make(r, Opcode::kTuple, elements, place);
}

InstructionId MakeGetTupleElement(Rewriter& r, InstructionId tuple,
                                  int32_t index, Place place) {
  return r.Add(Instruction::GetTupleElement(nullptr, tuple, index), place);
}

std::shared_ptr<const Attributes> DimensionAttributes(
    absl::Span<const int64_t> dimensions) {
  if (dimensions.empty()) return NoAttributes();
  auto attributes = std::make_shared<Attributes>();
  attributes->dimensions.assign(dimensions.begin(), dimensions.end());
  return attributes;
}

}  // namespace hone::hlo
