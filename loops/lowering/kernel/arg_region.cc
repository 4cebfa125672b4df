#include "loops/lowering/kernel/arg_region.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include "absl/container/flat_hash_map.h"

// A region that only compares and selects its parameters depends on nothing but
// the order of the two values, which of them are NaN, and the order of the
// indices. A pair of numbers stands for each of these cases.

namespace hone::loops {
namespace {

using hlo::ComparisonDirection;
using hlo::Opcode;

// A value in one case: a parameter by number, or a truth value.
struct Symbol {
  int64_t parameter = -1;
  bool truth = false;
};

// The numbers that the four parameters stand for.
using Case = std::array<double, 4>;

bool Compare(ComparisonDirection direction, double a, double b) {
  switch (direction) {
    case ComparisonDirection::kEq:
      return a == b;
    case ComparisonDirection::kNe:
      return a != b;
    case ComparisonDirection::kLt:
      return a < b;
    case ComparisonDirection::kLe:
      return a <= b;
    case ComparisonDirection::kGt:
      return a > b;
    case ComparisonDirection::kGe:
      return a >= b;
  }
  return false;
}

// Returns true if parameters of these numbers may be compared or exchanged:
// both are values, or both are indices.
bool AreAlike(const Symbol& a, const Symbol& b) {
  return a.parameter >= 0 && b.parameter >= 0 &&
         a.parameter % 2 == b.parameter % 2;
}

// Returns the parameters that the region returns; nullopt if it does anything
// but compare and select.
std::optional<std::array<int64_t, 2>> Chosen(const hlo::Computation& region,
                                             const Case& numbers) {
  absl::flat_hash_map<hlo::InstructionId, Symbol> symbols;
  for (hlo::InstructionId id : region.PostOrder()) {
    const hlo::Instruction& instruction = region[id];
    const auto operand = [&](size_t i) {
      return symbols[instruction.operand(i)];
    };
    Symbol& symbol = symbols[id];
    switch (instruction.opcode()) {
      case Opcode::kParameter:
        symbol.parameter = instruction.index();
        break;
      case Opcode::kCompare: {
        const Symbol a = operand(0);
        const Symbol b = operand(1);
        if (!AreAlike(a, b) ||
            instruction.attributes().comparison_type == "TOTALORDER") {
          return std::nullopt;
        }
        symbol.truth = Compare(instruction.attributes().direction,
                               numbers[static_cast<size_t>(a.parameter)],
                               numbers[static_cast<size_t>(b.parameter)]);
        break;
      }
      case Opcode::kAnd:
      case Opcode::kOr:
      case Opcode::kNot: {
        const Symbol a = operand(0);
        const Symbol b = operand(instruction.operand_count() - 1);
        if (a.parameter >= 0 || b.parameter >= 0) return std::nullopt;
        symbol.truth = instruction.opcode() == Opcode::kAnd ? a.truth && b.truth
                       : instruction.opcode() == Opcode::kOr
                           ? a.truth || b.truth
                           : !a.truth;
        break;
      }
      case Opcode::kSelect:
        if (operand(0).parameter >= 0 || !AreAlike(operand(1), operand(2))) {
          return std::nullopt;
        }
        symbol = operand(0).truth ? operand(1) : operand(2);
        break;
      case Opcode::kTuple:
        if (id != region.root() || instruction.operand_count() != 2) {
          return std::nullopt;
        }
        return std::array<int64_t, 2>{operand(0).parameter,
                                      operand(1).parameter};
      default:
        return std::nullopt;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<bool> KeepsFirstExtremum(const hlo::Computation& region) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  // The values, and the pair that a maximum keeps: 0 the first, 1 the second,
  // -1 the first index with either of the equal values.
  struct Expected {
    double first, second;
    int kept;
  };
  const Expected cases[] = {{2, 1, 0},   {1, 2, 1},   {1, 1, -1},
                            {nan, 1, 0}, {1, nan, 1}, {nan, nan, 0}};
  if (region.parameters().size() != 4) return std::nullopt;
  const bool has_nan =
      hlo::IsFloat(region[region.parameters()[0]].shape().element_type());
  for (const bool is_max : {true, false}) {
    bool fits = true;
    for (const Expected& expected : cases) {
      const bool is_nan =
          std::isnan(expected.first) || std::isnan(expected.second);
      if (is_nan && !has_nan) continue;
      const double sign = is_max ? 1 : -1;
      const auto chosen =
          Chosen(region, {sign * expected.first, 0, sign * expected.second, 1});
      if (!chosen.has_value()) return std::nullopt;
      const auto [value, index] = *chosen;
      if (expected.kept < 0) {
        fits = fits && (value == 0 || value == 2) && index == 1;
      } else {
        fits = fits && value == 2 * expected.kept &&
               index == 2 * expected.kept + 1;
      }
    }
    if (fits) return is_max;
  }
  return std::nullopt;
}

}  // namespace hone::loops
