#include "hlo/rewrite/builder.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

namespace hone::hlo {

const Literal* ConstantLiteral(const Computation& computation,
                               InstructionId id) {
  const Instruction& instruction = computation[id];
  if (!instruction.IsConstant()) return nullptr;
  const Literal* literal = instruction.literal().get();
  if (literal == nullptr || literal->is_elided() || !literal->shape().IsArray())
    return nullptr;
  return literal;
}

const Literal* UniformLiteral(const Computation& computation,
                              InstructionId id) {
  while (computation[id].opcode() == Opcode::kBroadcast ||
         computation[id].opcode() == Opcode::kReshape) {
    id = computation[id].operand(0);
  }
  const Literal* literal = ConstantLiteral(computation, id);
  return literal != nullptr && literal->num_elements() == 1 ? literal : nullptr;
}

bool IsUniform(const Computation& computation, InstructionId id, double value) {
  const Literal* literal = UniformLiteral(computation, id);
  return literal != nullptr && !IsComplex(literal->shape().element_type()) &&
         literal->AsDouble(0) == value;
}

InstructionId ScalarSource(const Computation& computation, InstructionId id) {
  const Instruction& instruction = computation[id];
  if (instruction.shape().IsScalar()) return id;
  if (instruction.opcode() == Opcode::kBroadcast &&
      computation[instruction.operand(0)].shape().IsScalar()) {
    return instruction.operand(0);
  }
  return kNoInstruction;
}

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

std::shared_ptr<const Attributes> DimensionAttributes(
    absl::Span<const int64_t> dimensions) {
  if (dimensions.empty()) return NoAttributes();
  auto attributes = std::make_shared<Attributes>();
  attributes->dimensions.assign(dimensions.begin(), dimensions.end());
  return attributes;
}

DimensionVector IdentityPermutation(int64_t size) {
  DimensionVector permutation;
  for (int64_t i = 0; i < size; ++i) permutation.push_back(i);
  return permutation;
}

bool IsIdentityPermutation(absl::Span<const int64_t> permutation) {
  for (size_t i = 0; i < permutation.size(); ++i) {
    if (permutation[i] != static_cast<int64_t>(i)) return false;
  }
  return true;
}

DimensionVector InversePermutation(absl::Span<const int64_t> permutation) {
  DimensionVector inverse(permutation.size());
  for (size_t i = 0; i < permutation.size(); ++i) {
    inverse[static_cast<size_t>(permutation[i])] = static_cast<int64_t>(i);
  }
  return inverse;
}

std::optional<DimensionVector> UnmodifiedDimensions(
    absl::Span<const int64_t> from, absl::Span<const int64_t> to,
    absl::Span<const int64_t> ids) {
  DimensionVector found;
  size_t i = 0;
  size_t j = 0;
  // Elements in front: the product of from[0 … i) and of to[0 … j).
  int64_t before_i = 1;
  int64_t before_j = 1;
  for (int64_t id : ids) {
    for (; i < static_cast<size_t>(id); ++i) before_i *= from[i];
    const int64_t size = from[i];
    // Of an array without elements nothing can be said.
    if (before_i == 0 || size == 0) return std::nullopt;
    while (j < to.size() &&
           (before_j < before_i ||
            (before_j == before_i && to[j] != size && to[j] == 1))) {
      before_j *= to[j++];
    }
    if (j == to.size() || before_j != before_i || to[j] != size) {
      return std::nullopt;
    }
    found.push_back(static_cast<int64_t>(j));
    before_j *= to[j++];
  }
  return found;
}

bool OnlyDegenerateDimensionsDiffer(absl::Span<const int64_t> a,
                                    absl::Span<const int64_t> b) {
  size_t j = 0;
  for (int64_t size : a) {
    if (size == 1) continue;
    while (j < b.size() && b[j] == 1) ++j;
    if (j == b.size() || b[j] != size) return false;
    ++j;
  }
  while (j < b.size() && b[j] == 1) ++j;
  return j == b.size();
}

std::optional<Opcode> ReductionOpcode(const Computation& region) {
  if (region.parameters().size() != 2 || region.live_count() != 3) {
    return std::nullopt;
  }
  const Instruction& root = region[region.root()];
  switch (root.opcode()) {
    case Opcode::kAdd:
    case Opcode::kMultiply:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor:
      break;
    default:
      return std::nullopt;
  }
  if (!root.shape().IsScalar() ||
      region[root.operand(0)].opcode() != Opcode::kParameter ||
      region[root.operand(1)].opcode() != Opcode::kParameter ||
      root.operand(0) == root.operand(1)) {
    return std::nullopt;
  }
  return root.opcode();
}

bool IsReductionIdentity(Opcode opcode, const Literal& value) {
  const ElementType type = value.shape().element_type();
  if (value.is_elided() || IsComplex(type)) return false;
  const bool is_pred = KindOf(type) == ElementKind::kPred;
  const int bits = is_pred ? 1 : BitWidth(type);
  switch (opcode) {
    case Opcode::kAdd:
      return !is_pred && value.AsDouble(0) == 0;
    case Opcode::kMultiply:
      return !is_pred && value.AsDouble(0) == 1;
    case Opcode::kMaximum:
      if (IsFloat(type)) {
        return value.AsDouble(0) == -std::numeric_limits<double>::infinity();
      }
      if (IsSigned(type)) {
        return value.AsInt(0) ==
               std::numeric_limits<int64_t>::min() >> (64 - bits);
      }
      return value.AsInt(0) == 0;
    case Opcode::kMinimum:
      if (IsFloat(type)) {
        return value.AsDouble(0) == std::numeric_limits<double>::infinity();
      }
      if (IsSigned(type)) {
        return value.AsInt(0) ==
               std::numeric_limits<int64_t>::max() >> (64 - bits);
      }
      return static_cast<uint64_t>(value.AsInt(0)) ==
             std::numeric_limits<uint64_t>::max() >> (64 - bits);
    case Opcode::kAnd:
      if (IsSigned(type)) return value.AsInt(0) == -1;
      return static_cast<uint64_t>(value.AsInt(0)) ==
             std::numeric_limits<uint64_t>::max() >> (64 - bits);
    case Opcode::kOr:
    case Opcode::kXor:
      return value.AsInt(0) == 0;
    default:
      return false;
  }
}

}  // namespace hone::hlo
