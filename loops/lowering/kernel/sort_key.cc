#include "loops/lowering/kernel/sort_key.h"

#include <limits>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "loops/lowering/kernel/scalar.h"

namespace hone::loops {
namespace {

using hlo::ComparisonDirection;
using hlo::ElementKind;
using hlo::ElementType;
using hlo::Opcode;

// Parameters are stood in for by variables of their numbers.
std::vector<ExpressionPtr> StandIns(absl::Span<const ElementType> types) {
  std::vector<ExpressionPtr> arguments;
  for (ElementType type : types) {
    for (int i = 0; i < 2; ++i) {
      const VarId var = static_cast<VarId>(arguments.size());
      arguments.push_back(Expression::OfIndex(type, Affine::Var(var)));
    }
  }
  return arguments;
}

// Returns true if both are the same expression, `a` of parameter `of_a` alone
// and `b` of parameter `of_b`.
bool AreSame(const Expression& a, VarId of_a, const Expression& b, VarId of_b) {
  if (a.kind() != b.kind() || a.type() != b.type() ||
      a.operands().size() != b.operands().size()) {
    return false;
  }
  switch (a.kind()) {
    case Expression::Kind::kConstant:
      return a.integer() == b.integer() &&
             (a.number() == b.number() ||
              (a.number() != a.number() && b.number() != b.number()));
    case Expression::Kind::kIndex:
      return a.index() == Affine::Var(of_a) && b.index() == Affine::Var(of_b);
    case Expression::Kind::kApply:
      break;
    default:
      return false;
  }
  if (a.opcode() != b.opcode() || a.direction() != b.direction() ||
      a.total_order() != b.total_order()) {
    return false;
  }
  for (size_t i = 0; i < a.operands().size(); ++i) {
    if (!AreSame(*a.operands()[i], of_a, *b.operands()[i], of_b)) return false;
  }
  return true;
}

}  // namespace

std::optional<SortKey> AsSortKey(const hlo::Module& module,
                                 hlo::ComputationId comparator,
                                 absl::Span<const ElementType> types) {
  const auto result = ApplyRegion(module, comparator, StandIns(types));
  if (!result.ok()) return std::nullopt;
  const Expression& root = *(*result)[0];
  if (root.kind() != Expression::Kind::kApply ||
      root.opcode() != Opcode::kCompare ||
      (root.direction() != ComparisonDirection::kLt &&
       root.direction() != ComparisonDirection::kGt)) {
    return std::nullopt;
  }
  const Expression& left = *root.operands()[0];
  const Expression& right = *root.operands()[1];
  SortKey key;
  key.comparator = comparator;
  key.operand_count = types.size();
  key.total_order = root.total_order();
  const bool is_less = root.direction() == ComparisonDirection::kLt;
  for (size_t i = 0; i < types.size(); ++i) {
    key.operand = i;
    const VarId first = static_cast<VarId>(2 * i);
    for (const bool is_left : {true, false}) {
      const VarId of_left = is_left ? first : first + 1;
      const VarId of_right = is_left ? first + 1 : first;
      if (!AreSame(left, of_left, right, of_right)) continue;
      // A sort by a constant has no key.
      if (AreSame(left, of_right, right, of_left)) return std::nullopt;
      key.is_left = is_left;
      key.is_descending = is_less != is_left;
      return key;
    }
  }
  return std::nullopt;
}

absl::StatusOr<ExpressionPtr> KeyBits(const hlo::Module& module,
                                      const SortKey& key,
                                      ExpressionPtr element) {
  // The other arguments are not used.
  const std::vector<ExpressionPtr> arguments(2 * key.operand_count, element);
  HONE_ASSIGN_OR_RETURN(const std::vector<ExpressionPtr> result,
                        ApplyRegion(module, key.comparator, arguments));
  return OrderedBits(result[0]->operands()[key.is_left ? 0 : 1],
                     key.total_order, key.is_descending);
}

ExpressionPtr OrderedBits(ExpressionPtr number, bool total_order,
                          bool is_descending) {
  const ElementType type = number->type();
  const ElementType bits = UnsignedOf(type);
  const int width = hlo::BitWidth(bits);
  const auto constant = [&](uint64_t value) {
    return Expression::ConstantInt(bits, static_cast<int64_t>(value));
  };
  const uint64_t sign = uint64_t{1} << (width - 1);
  ExpressionPtr key;
  if (hlo::IsFloat(type)) {
    if (!total_order) {
      const auto choose = [&](ComparisonDirection direction, ExpressionPtr with,
                              double value) {
        return Expression::Apply(
            Opcode::kSelect, type,
            {Expression::Compare(direction, false, number, std::move(with)),
             Expression::Constant(type, value), number});
      };
      number =
          choose(ComparisonDirection::kEq, Expression::Constant(type, 0), 0);
      number = choose(ComparisonDirection::kNe, number,
                      std::numeric_limits<double>::quiet_NaN());
    }
    key = Expression::Apply(Opcode::kBitcastConvert, bits, {std::move(number)});
    // Negative numbers in reverse, then the others.
    const ExpressionPtr is_negative =
        Apply(Opcode::kShiftRightLogical, key,
              constant(static_cast<uint64_t>(width - 1)));
    key = Apply(
        Opcode::kXor, key,
        Apply(Opcode::kOr, Apply(Opcode::kSubtract, constant(0), is_negative),
              constant(sign)));
  } else if (hlo::KindOf(type) == ElementKind::kPred) {
    key = Converted(bits, std::move(number));
  } else if (hlo::IsSigned(type)) {
    key = Apply(
        Opcode::kXor,
        Expression::Apply(Opcode::kBitcastConvert, bits, {std::move(number)}),
        constant(sign));
  } else {
    key = std::move(number);
  }
  if (!is_descending) return key;
  return Expression::Apply(Opcode::kNot, bits, {std::move(key)});
}

}  // namespace hone::loops
