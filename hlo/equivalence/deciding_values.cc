#include "hlo/equivalence/deciding_values.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hlo/evaluator/coverage.h"

namespace hone::hlo {
namespace {

// Beyond these, doubles round integers.
constexpr int kExactBits = 53;
// The range of the integers that are tried.
constexpr double kSmallest = std::numeric_limits<int32_t>::min();
constexpr double kLargest = std::numeric_limits<int32_t>::max();

// Returns true if constants of the instruction decide what happens: they are
// what it compares with, or where its result wraps around or makes a step.
bool Decides(Opcode opcode) {
  switch (opcode) {
    case Opcode::kClamp:
    case Opcode::kCompare:
    case Opcode::kDivide:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kRemainder:
      return true;
    default:
      return false;
  }
}

std::vector<double> NearZeroFirst(const std::set<double>& values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](double a, double b) {
    return std::fabs(a) < std::fabs(b);
  });
  return sorted;
}

}  // namespace

DecidingValues::DecidingValues(const Module& module, const Influence& influence)
    : integers_{0, 1, -1, 2, 9, -9, 1000, 100'000, kSmallest, kLargest},
      floats_{0, 1, -1, 2, 9, 1000, -1000, 100'000, 1e30, -1e30} {
  for (const Computation& computation : module.computations()) {
    AddConstants(module, influence, computation.id());
  }
}

void DecidingValues::AddConstants(const Module& module,
                                  const Influence& influence,
                                  ComputationId id) {
  const Computation& computation = module.computation(id);
  for (const Instruction& instruction : computation.instructions()) {
    const bool has_say = std::any_of(
        instruction.operands().begin(), instruction.operands().end(),
        [&](InstructionId operand) { return influence.Of(id, operand) != 0; });
    if (!has_say) continue;
    if (instruction.opcode() == Opcode::kConditional &&
        influence.Of(id, instruction.operand(0)) != 0) {
      for (size_t i = 0; i <= instruction.called().size(); ++i) {
        integers_.insert(static_cast<double>(i));
      }
    }
    // The ends of the ranges of indices.
    for (const Boundary& boundary : BoundariesOf(computation, instruction)) {
      if (!boundary.bound &&
          influence.Of(id, instruction.operand(boundary.value)) != 0) {
        AddInteger(boundary.constant);
      }
    }
    if (!Decides(instruction.opcode())) continue;
    for (InstructionId operand : instruction.operands()) {
      const Literal* constant = ScalarConstant(computation, operand);
      if (constant != nullptr) AddConstant(*constant);
    }
  }
}

void DecidingValues::AddConstant(const Literal& constant) {
  const double value = constant.AsDouble(0);
  if (!std::isfinite(value)) return;
  // A parameter may be converted before it is compared.
  AddInteger(std::floor(value));
  AddInteger(std::ceil(value));
  const double step = 0.001 * std::fabs(value);
  floats_.insert({value - step, value, value + step});
  if (!IsFloat(constant.shape().element_type())) {
    floats_.insert({value - 1, value + 1});
  }
}

void DecidingValues::AddInteger(double value) {
  for (double neighbour : {value - 1, value, value + 1}) {
    if (neighbour >= kSmallest && neighbour <= kLargest) {
      integers_.insert(neighbour);
    }
  }
}

std::vector<double> DecidingValues::For(ElementType type) const {
  if (KindOf(type) == ElementKind::kPred) return {0, 1};
  return NearZeroFirst(IsFloat(type) ? floats_ : integers_);
}

std::vector<double> DecidingValues::All() const {
  std::set<double> all = integers_;
  all.insert(floats_.begin(), floats_.end());
  return NearZeroFirst(all);
}

Literal ScalarArgument(const ShapePtr& shape, double value) {
  Literal literal(shape);
  const ElementType type = shape->element_type();
  if (KindOf(type) == ElementKind::kPred) {
    literal.SetInt(0, value > 0 ? 1 : 0);
  } else if (IsIntegral(type)) {
    const int bits =
        std::min(BitWidth(type), IsSigned(type) ? kExactBits + 1 : kExactBits);
    const double range = std::ldexp(1, IsSigned(type) ? bits - 1 : bits);
    literal.SetDouble(
        0, std::clamp(value, IsSigned(type) ? -range : 0, range - 1));
  } else {
    literal.SetDouble(0, value);
  }
  return literal;
}

const Literal* ScalarConstant(const Computation& computation,
                              InstructionId id) {
  for (;;) {
    const Instruction& instruction = computation[id];
    switch (instruction.opcode()) {
      case Opcode::kBroadcast:
      case Opcode::kConvert:
      case Opcode::kCopy:
      case Opcode::kReshape:
        id = instruction.operand(0);
        continue;
      case Opcode::kConstant:
        return instruction.shape().IsScalar() &&
                       !IsComplex(instruction.shape().element_type()) &&
                       !instruction.literal()->is_elided()
                   ? instruction.literal().get()
                   : nullptr;
      default:
        return nullptr;
    }
  }
}

}  // namespace hone::hlo
