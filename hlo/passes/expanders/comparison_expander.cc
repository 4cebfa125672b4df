// comparison-expander: compares floats by total order as integers.
//
//   compare(a, b), type=TOTALORDER  →  compare(key(a), key(b)), where
//     key(x) = select(i < 0, i xor max, i),  i = bitcast-convert(x),
//     max the largest signed integer of x's width
//
// Exact and legal because the bits of a float without its sign grow with its
// magnitude, infinities and NaNs included, and key turns the order of negative
// ones round. For code generators that only have the comparisons of IEEE 754.
// Not for types of 8 bits and less, not all of which have that form.

#include <memory>
#include <optional>

#include "hlo/passes/registry.h"
#include "hlo/passes/rule_pass.h"
#include "hlo/rewrite/makers.h"

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

bool ExpandComparison(Rewriter& r, InstructionId id) {
  const Instruction& compare = r[id];
  const InstructionId a = compare.operand(0);
  const InstructionId b = compare.operand(1);
  const std::optional<ElementType> type = IntegerOf(r.shape(a).element_type());
  if (compare.attributes().comparison_type != "TOTALORDER" ||
      !type.has_value()) {
    return false;
  }
  const auto uniform = [&](int64_t value) {
    return MakeUniform(r, Literal::ScalarInt(*type, value),
                       r.dimensions_of(id));
  };
  const InstructionId zero = uniform(0);
  const InstructionId max =
      uniform(static_cast<int64_t>((uint64_t{1} << (BitWidth(*type) - 1)) - 1));
  const auto key = [&](InstructionId x) {
    const InstructionId bits = r.Add(Instruction(
        Opcode::kBitcastConvert, WithElementType(r.shape(x), *type), {x}));
    return MakeSelect(r, MakeCompare(r, ComparisonDirection::kLt, bits, zero),
                      MakeBinary(r, Opcode::kXor, bits, max), bits);
  };
  const InstructionId lhs = key(a);
  return r.Replace(id, MakeCompare(r, compare.attributes().direction, lhs,
                                   a == b ? lhs : key(b)));
}

}  // namespace

std::unique_ptr<Pass> MakeComparisonExpander() {
  return MakeRulePass(
      {.name = "comparison-expander", .opcodes = {Opcode::kCompare}},
      ExpandComparison);
}

}  // namespace hone::hlo
