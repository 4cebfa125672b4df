#include "hlo/rewrite/builder.h"

#include <cstring>
#include <utility>

namespace hone::hlo {

Instruction MakeUnary(Opcode opcode, const Computation& computation,
                      InstructionId operand) {
  return Instruction(opcode, computation[operand].shape_ptr(), {operand});
}

Instruction MakeBinary(Opcode opcode, const Computation& computation,
                       InstructionId lhs, InstructionId rhs) {
  return Instruction(opcode, computation[lhs].shape_ptr(), {lhs, rhs});
}

Instruction MakeReshape(const Computation& computation, InstructionId operand,
                        absl::Span<const int64_t> dimensions) {
  return Instruction(
      Opcode::kReshape,
      Shape::Array(computation[operand].shape().element_type(), dimensions),
      {operand});
}

Instruction MakeBroadcast(const Computation& computation, InstructionId operand,
                          absl::Span<const int64_t> result_dimensions,
                          absl::Span<const int64_t> mapping) {
  return Instruction(Opcode::kBroadcast,
                     Shape::Array(computation[operand].shape().element_type(),
                                  result_dimensions),
                     {operand}, DimensionAttributes(mapping));
}

Instruction MakeTranspose(const Computation& computation, InstructionId operand,
                          absl::Span<const int64_t> permutation) {
  const Shape& shape = computation[operand].shape();
  DimensionVector dimensions;
  for (int64_t from : permutation) dimensions.push_back(shape.dimension(from));
  return Instruction(Opcode::kTranspose,
                     Shape::Array(shape.element_type(), dimensions), {operand},
                     DimensionAttributes(permutation));
}

Instruction MakeSlice(const Computation& computation, InstructionId operand,
                      absl::Span<const SliceDimension> slice) {
  DimensionVector dimensions;
  for (const SliceDimension& s : slice) {
    dimensions.push_back((s.limit - s.start + s.stride - 1) / s.stride);
  }
  auto attributes = std::make_shared<Attributes>();
  attributes->slice.assign(slice.begin(), slice.end());
  return Instruction(
      Opcode::kSlice,
      Shape::Array(computation[operand].shape().element_type(), dimensions),
      {operand}, std::move(attributes));
}

Instruction MakeFilledConstant(const Literal& value,
                               absl::Span<const int64_t> dimensions) {
  Literal filled(Shape::Array(value.shape().element_type(), dimensions));
  const size_t width = static_cast<size_t>(value.byte_size());
  std::byte* out = filled.MutableData();
  for (int64_t i = 0; i < filled.num_elements(); ++i, out += width) {
    std::memcpy(out, value.data(), width);
  }
  return Instruction::Constant(std::move(filled));
}

}  // namespace hone::hlo
