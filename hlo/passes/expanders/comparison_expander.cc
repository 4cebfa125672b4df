// comparison-expander: compares floats by total order as integers.
//
//   compare(a, b), type=TOTALORDER  →  compare(key(a), key(b)), where
//     key(x) = select(i < 0, i xor max, i),  i = bitcast-convert(x),
//     max the largest signed integer of x's width
//
// Legal because the bits of a float without its sign grow with its magnitude,
// infinities and NaNs included, and key turns the order of negative ones round.
// For code generators that only have the comparisons of IEEE 754. Not for types
// of 8 bits and less, not all of which have that form, nor for ends of control
// dependencies and scheduled modules.

#include <memory>
#include <optional>
#include <utility>

#include "hlo/passes/registry.h"
#include "hlo/rewrite/builder.h"
#include "hlo/rewrite/rewrite_each.h"

namespace hone::hlo {
namespace {

// The signed integer as wide as a float; nullopt for other types.
std::optional<ElementType> IntegerOf(ElementType type) {
  switch (type) {
    case ElementType::kF16:
    case ElementType::kBf16:
      return ElementType::kS16;
    case ElementType::kF32:
      return ElementType::kS32;
    case ElementType::kF64:
      return ElementType::kS64;
    default:
      return std::nullopt;
  }
}

bool IsByTotalOrder(const Computation& computation, InstructionId id) {
  const Instruction& compare = computation[id];
  return compare.opcode() == Opcode::kCompare &&
         compare.attributes().comparison_type == "TOTALORDER" &&
         IntegerOf(computation[compare.operand(0)].shape().element_type())
             .has_value() &&
         !compare.shape().is_dynamic() && !computation.HasControlDependency(id);
}

// Expands one comparison.
class Expander {
 public:
  Expander(Computation& computation, InstructionId id)
      : computation_(computation), id_(id) {}

  void Run() {
    const Instruction& compare = computation_[id_];
    const Shape& shape = computation_[compare.operand(0)].shape();
    type_ = *IntegerOf(shape.element_type());
    const InstructionId zero = Filled(0);
    const InstructionId max =
        Filled((uint64_t{1} << (BitWidth(type_) - 1)) - 1);
    const InstructionId lhs = Key(compare.operand(0), zero, max);
    const InstructionId rhs = compare.operand(1) == compare.operand(0)
                                  ? lhs
                                  : Key(compare.operand(1), zero, max);
    computation_.ReplaceWithNew(
        id_, Compare(lhs, rhs, compare.attributes().direction));
  }

 private:
  // A constant of the shape of the operands.
  InstructionId Filled(uint64_t value) {
    const InstructionId scalar =
        computation_.AddInstruction(Instruction::Constant(
            Literal::ScalarInt(type_, static_cast<int64_t>(value))));
    const Shape& shape = computation_[id_].shape();
    if (shape.IsScalar()) return scalar;
    return computation_.AddInstruction(
        MakeBroadcast(computation_, scalar, shape.dimensions(), {}));
  }

  InstructionId Key(InstructionId x, InstructionId zero, InstructionId max) {
    const ShapePtr shape = WithElementType(computation_[x].shape(), type_);
    const InstructionId bits = computation_.AddInstruction(
        Instruction(Opcode::kBitcastConvert, shape, {x}));
    const InstructionId negative = computation_.AddInstruction(
        Compare(bits, zero, ComparisonDirection::kLt));
    const InstructionId turned = computation_.AddInstruction(
        Instruction(Opcode::kXor, shape, {bits, max}));
    return computation_.AddInstruction(
        Instruction(Opcode::kSelect, shape, {negative, turned, bits}));
  }

  Instruction Compare(InstructionId lhs, InstructionId rhs,
                      ComparisonDirection direction) const {
    auto attributes = std::make_shared<Attributes>();
    attributes->direction = direction;
    return Instruction(Opcode::kCompare, computation_[id_].shape_ptr(),
                       {lhs, rhs}, std::move(attributes));
  }

  Computation& computation_;
  const InstructionId id_;
  ElementType type_ = ElementType::kInvalid;
};

class ComparisonExpander final : public Pass {
 public:
  absl::string_view name() const override { return "comparison-expander"; }

  absl::StatusOr<bool> Run(Module& module,
                           const RewriteOptions& /*options*/) const override {
    return ExpandEach(module, IsByTotalOrder,
                      [](Computation& computation, InstructionId id) {
                        Expander(computation, id).Run();
                      });
  }
};

}  // namespace

std::unique_ptr<Pass> MakeComparisonExpander() {
  return std::make_unique<ComparisonExpander>();
}

}  // namespace hone::hlo
