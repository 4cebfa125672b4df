#include "loops/ir/dot_products.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "loops/ir/element_number.h"

namespace hone::loops {
namespace {

using hlo::ElementType;

// Returns the access that is loaded and maybe converted; null for any other
// expression.
const Access* ConvertedLoad(const Expression& e) {
  const bool is_converted = e.kind() == Expression::Kind::kApply &&
                            e.opcode() == hlo::Opcode::kConvert;
  const Expression& load = is_converted ? *e.operands()[0] : e;
  return load.kind() == Expression::Kind::kLoad ? &load.access() : nullptr;
}

// Collects the summands of a sum; returns false if there are more than four.
bool CollectTerms(const ExpressionPtr& e,
                  std::vector<const Expression*>& terms) {
  if (e->kind() == Expression::Kind::kApply &&
      e->opcode() == hlo::Opcode::kAdd) {
    return CollectTerms(e->operands()[0], terms) &&
           CollectTerms(e->operands()[1], terms);
  }
  terms.push_back(e.get());
  return terms.size() <= 4;
}

bool IsShortInteger(ElementType type) {
  return type == ElementType::kS8 || type == ElementType::kU8 ||
         type == ElementType::kS16;
}

}  // namespace

DotProducts MatchDotProducts(const Program& program, const Statement& statement,
                             const DotInstructions& instructions) {
  const ElementType sum = program.buffer(statement.target.buffer).type;
  DotProducts dot;
  std::vector<const Expression*> terms;
  if (statement.combine != hlo::Opcode::kAdd ||
      !CollectTerms(statement.value, terms)) {
    return {};
  }
  for (size_t i = 0; i < terms.size(); ++i) {
    if (terms[i]->kind() != Expression::Kind::kApply ||
        terms[i]->opcode() != hlo::Opcode::kMultiply) {
      return {};
    }
    for (size_t side = 0; side < 2; ++side) {
      const Access* load = ConvertedLoad(*terms[i]->operands()[side]);
      if (load == nullptr) return {};
      if (i == 0) dot.factors[side] = load;
      dot.last_factors[side] = load;
      if (!IsBehind(program, *dot.factors[side], *load,
                    static_cast<int64_t>(i))) {
        return {};
      }
    }
  }
  const ElementType a = program.buffer(dot.factors[0]->buffer).type;
  const ElementType b = program.buffer(dot.factors[1]->buffer).type;
  const bool is_integer_sum =
      sum == ElementType::kS32 || sum == ElementType::kU32;
  using Kind = DotProducts::Kind;
  if (instructions.has_bf16 && terms.size() == 2 && sum == ElementType::kF32 &&
      a == ElementType::kBf16 && b == a) {
    dot.kind = Kind::kBf16;
  } else if (instructions.has_integer && is_integer_sum && terms.size() == 2 &&
             IsShortInteger(a) && IsShortInteger(b)) {
    dot.kind = Kind::kS16;
  } else if (instructions.has_integer && is_integer_sum && terms.size() == 4 &&
             std::minmax(a, b) ==
                 std::minmax(ElementType::kS8, ElementType::kU8)) {
    dot.kind = Kind::kBytes;
    // The instruction takes the unsigned factor first.
    if (a != ElementType::kU8) {
      std::swap(dot.factors[0], dot.factors[1]);
      std::swap(dot.last_factors[0], dot.last_factors[1]);
    }
  }
  return dot;
}

}  // namespace hone::loops
