#include "hlo/ir/opcode.h"

#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "loops/ir/program.h"
#include "tests/backends/native_program.h"

namespace hone::backends {
namespace {

using hlo::ElementType;
using hlo::Literal;
using hlo::Opcode;
using loops::Affine;
using loops::Expression;
using loops::ExpressionPtr;

constexpr ElementType kTypes[] = {
    ElementType::kPred, ElementType::kS8,   ElementType::kS16,
    ElementType::kS32,  ElementType::kS64,  ElementType::kU8,
    ElementType::kU16,  ElementType::kU32,  ElementType::kU64,
    ElementType::kF16,  ElementType::kBf16, ElementType::kF32,
    ElementType::kF64};

// Numbers where operations differ from what an instruction does by itself.
std::vector<double> Numbers(ElementType type) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (type == ElementType::kPred) return {0, 1};
  if (hlo::IsFloat(type)) {
    return {0.0,  -0.0,  1.0,  -1.0,      0.5,        2.5,
            -3.5, 0.3,   -0.7, 7.0,       -8.0,       40,
            -120, 65000, 1e-7, kInfinity, -kInfinity, std::nan("")};
  }
  std::vector<double> numbers = {0, 1, 2, 3, 7, 31, 64, 100};
  const int bits = hlo::BitWidth(type);
  if (hlo::IsSigned(type)) {
    numbers.insert(numbers.end(), {-1, -2, -5, -std::exp2(bits - 1)});
  }
  if (bits < 64) {
    numbers.push_back(std::exp2(bits - (hlo::IsSigned(type) ? 1 : 0)) - 1);
  }
  return numbers;
}

// Applies `make` to operands of all combinations of numbers: one operation a
// lane, and one an iteration.
void ExpectOperationMatches(
    const std::vector<ElementType>& operand_types, ElementType result_type,
    const std::function<ExpressionPtr(std::vector<ExpressionPtr>)>& make) {
  int64_t n = 1;
  for (ElementType type : operand_types) {
    n *= static_cast<int64_t>(Numbers(type).size());
  }
  loops::Program program("operation");
  const auto add = [&](ElementType type, loops::Memory memory, int32_t number) {
    loops::Buffer buffer;
    buffer.name =
        absl::StrCat(memory == loops::Memory::kArgument ? "x" : "y", number);
    buffer.type = type;
    buffer.dimensions = {n};
    buffer.strides = {1};
    buffer.memory = memory;
    buffer.number = number;
    return program.AddBuffer(buffer);
  };
  std::vector<Literal> arguments;
  std::vector<loops::BufferId> operands;
  int64_t period = 1;
  for (ElementType type : operand_types) {
    const std::vector<double> numbers = Numbers(type);
    Literal argument(hlo::Shape::Array(type, {n}));
    for (int64_t i = 0; i < n; ++i) {
      argument.SetDouble(
          i, numbers[static_cast<size_t>(i / period) % numbers.size()]);
    }
    period *= static_cast<int64_t>(numbers.size());
    operands.push_back(add(type, loops::Memory::kArgument,
                           static_cast<int32_t>(operands.size())));
    arguments.push_back(std::move(argument));
  }
  for (int32_t i = 0; i < 2; ++i) {
    loops::Loop loop;
    loop.var = program.NewVar();
    loop.extent = n;
    loop.mode =
        i == 0 ? loops::LoopMode::kVector : loops::LoopMode::kSequential;
    const auto access = [&](loops::BufferId buffer) {
      loops::Access a;
      a.buffer = buffer;
      a.indices.emplace_back(Affine::Var(loop.var));
      return a;
    };
    std::vector<ExpressionPtr> loads;
    for (size_t k = 0; k < operands.size(); ++k) {
      loads.push_back(Expression::Load(operand_types[k], access(operands[k])));
    }
    loops::Statement statement;
    statement.target = access(add(result_type, loops::Memory::kResult, i));
    statement.value = make(std::move(loads));
    loop.body.emplace_back(
        std::make_shared<const loops::Statement>(std::move(statement)));
    program.mutable_body().emplace_back(
        std::make_shared<const loops::Loop>(std::move(loop)));
  }
  // The interpreter says which combinations there are.
  testing::ExpectMatchesInterpreter(program, arguments, 1e-5);
}

bool IsDefined(Opcode opcode, ElementType type) {
  const bool is_pred = type == ElementType::kPred;
  const bool is_float = hlo::IsFloat(type);
  const bool is_integer = !is_pred && !is_float;
  switch (opcode) {
    case Opcode::kAdd:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kMultiply:
      return true;
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor:
    case Opcode::kNot:
      return !is_float;
    case Opcode::kAbs:
    case Opcode::kDivide:
    case Opcode::kPower:
    case Opcode::kRemainder:
    case Opcode::kSubtract:
      return !is_pred;
    case Opcode::kNegate:
    case Opcode::kSign:
      return !is_pred;
    case Opcode::kCountLeadingZeros:
    case Opcode::kMulhi:
    case Opcode::kPopcnt:
    case Opcode::kShiftLeft:
    case Opcode::kShiftRightArithmetic:
    case Opcode::kShiftRightLogical:
      return is_integer;
    default:
      return is_float;
  }
}

constexpr Opcode kUnary[] = {Opcode::kAbs,
                             Opcode::kAcos,
                             Opcode::kAcosh,
                             Opcode::kAsin,
                             Opcode::kAsinh,
                             Opcode::kAtan,
                             Opcode::kAtanh,
                             Opcode::kCbrt,
                             Opcode::kCeil,
                             Opcode::kCosh,
                             Opcode::kCosine,
                             Opcode::kCountLeadingZeros,
                             Opcode::kErf,
                             Opcode::kExponential,
                             Opcode::kExponentialMinusOne,
                             Opcode::kFloor,
                             Opcode::kIsFinite,
                             Opcode::kLog,
                             Opcode::kLogPlusOne,
                             Opcode::kLogistic,
                             Opcode::kNegate,
                             Opcode::kNot,
                             Opcode::kPopcnt,
                             Opcode::kReal,
                             Opcode::kRoundNearestAfz,
                             Opcode::kRoundNearestEven,
                             Opcode::kRsqrt,
                             Opcode::kSign,
                             Opcode::kSine,
                             Opcode::kSinh,
                             Opcode::kSqrt,
                             Opcode::kTan,
                             Opcode::kTanh};

constexpr Opcode kBinary[] = {Opcode::kAdd,
                              Opcode::kAnd,
                              Opcode::kAtan2,
                              Opcode::kDivide,
                              Opcode::kMaximum,
                              Opcode::kMinimum,
                              Opcode::kMulhi,
                              Opcode::kMultiply,
                              Opcode::kOr,
                              Opcode::kPower,
                              Opcode::kRemainder,
                              Opcode::kShiftLeft,
                              Opcode::kShiftRightArithmetic,
                              Opcode::kShiftRightLogical,
                              Opcode::kSubtract,
                              Opcode::kXor};

class OpcodeTest : public ::testing::TestWithParam<ElementType> {};

TEST_P(OpcodeTest, UnaryOperations) {
  const ElementType type = GetParam();
  for (Opcode opcode : kUnary) {
    if (!IsDefined(opcode, type)) continue;
    SCOPED_TRACE(hlo::OpcodeName(opcode));
    const ElementType result =
        opcode == Opcode::kIsFinite ? ElementType::kPred : type;
    ExpectOperationMatches({type}, result, [&](auto operands) {
      return Expression::Apply(opcode, result, std::move(operands));
    });
    if (HasFatalFailure()) return;
  }
}

TEST_P(OpcodeTest, BinaryOperations) {
  const ElementType type = GetParam();
  for (Opcode opcode : kBinary) {
    if (!IsDefined(opcode, type)) continue;
    SCOPED_TRACE(hlo::OpcodeName(opcode));
    ExpectOperationMatches({type, type}, type, [&](auto operands) {
      return Expression::Apply(opcode, type, std::move(operands));
    });
    if (HasFatalFailure()) return;
  }
}

TEST_P(OpcodeTest, ComparisonsAndChoices) {
  using Direction = hlo::ComparisonDirection;
  const ElementType type = GetParam();
  for (Direction direction : {Direction::kEq, Direction::kNe, Direction::kGe,
                              Direction::kGt, Direction::kLe, Direction::kLt}) {
    for (bool total_order : {false, true}) {
      if (total_order && !hlo::IsFloat(type)) continue;
      ExpectOperationMatches(
          {type, type}, ElementType::kPred, [&](const auto& operands) {
            return Expression::Compare(direction, total_order, operands[0],
                                       operands[1]);
          });
    }
  }
  ExpectOperationMatches(
      {ElementType::kPred, type, type}, type, [&](auto operands) {
        return Expression::Apply(Opcode::kSelect, type, std::move(operands));
      });
  if (type == ElementType::kPred) return;
  ExpectOperationMatches({type, type, type}, type, [&](auto operands) {
    return Expression::Apply(Opcode::kClamp, type, std::move(operands));
  });
}

TEST_P(OpcodeTest, Conversions) {
  const ElementType from = GetParam();
  for (ElementType to : kTypes) {
    SCOPED_TRACE(hlo::ElementTypeName(to));
    ExpectOperationMatches({from}, to, [&](auto operands) {
      return Expression::Apply(Opcode::kConvert, to, std::move(operands));
    });
    if (from == ElementType::kPred || to == ElementType::kPred) continue;
    if (hlo::BitWidth(from) != hlo::BitWidth(to)) continue;
    ExpectOperationMatches({from}, to, [&](auto operands) {
      return Expression::Apply(Opcode::kBitcastConvert, to,
                               std::move(operands));
    });
  }
}

std::string TypeName(const ::testing::TestParamInfo<ElementType>& info) {
  return std::string(hlo::ElementTypeName(info.param));
}

INSTANTIATE_TEST_SUITE_P(Types, OpcodeTest, ::testing::ValuesIn(kTypes),
                         TypeName);

}  // namespace
}  // namespace hone::backends
