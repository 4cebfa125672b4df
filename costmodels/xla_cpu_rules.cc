#include "costmodels/xla_cpu_rules.h"

#include <algorithm>

#include "absl/algorithm/container.h"

namespace hone::costmodels {

using hlo::Computation;
using hlo::ElementType;
using hlo::Instruction;
using hlo::InstructionId;
using hlo::Module;
using hlo::Opcode;
using hlo::Shape;
using hlo::ShapePtr;

namespace {

constexpr size_t kMaxConcatenateOperands = 8;
constexpr int64_t kMinConcatenateRowBytes = 64;
constexpr int64_t kMinConcatenateBytes = 2048;

int64_t TrueRank(const Shape& shape) {
  return absl::c_count_if(shape.dimensions(), [](int64_t d) { return d != 1; });
}

bool IsScalarConstant(const Instruction& instruction) {
  return instruction.IsConstant() && instruction.shape().num_elements() == 1;
}

}  // namespace

const Shape& OperandShape(const Computation& computation,
                          const Instruction& instruction, size_t i) {
  return computation[instruction.operand(i)].shape();
}

bool DoesNothing(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAddDependency:
    case Opcode::kAfterAll:
    case Opcode::kBitcast:
    case Opcode::kConstant:
    case Opcode::kDomain:
    case Opcode::kGetTupleElement:
    case Opcode::kOptBarrier:
    case Opcode::kParameter:
    case Opcode::kReshape:
    case Opcode::kTuple:
      return true;
    default:
      return false;
  }
}

int64_t LeafElements(const Shape& shape) {
  if (!shape.IsTuple()) return shape.num_elements();
  int64_t sum = 0;
  for (const ShapePtr& element : shape.tuple_elements()) {
    sum += LeafElements(*element);
  }
  return sum;
}

double Elements(const Shape& shape) {
  return shape.IsArray() ? static_cast<double>(shape.num_elements()) : 0;
}

double Bytes(const Shape& shape) {
  if (shape.IsTuple()) {
    double sum = 0;
    for (const ShapePtr& element : shape.tuple_elements()) {
      sum += Bytes(*element);
    }
    return sum;
  }
  if (!shape.IsArray()) return 0;
  return Elements(shape) *
         static_cast<double>(hlo::ByteWidth(shape.element_type()));
}

OpClass ClassOf(Opcode opcode) {
  switch (opcode) {
    case Opcode::kDivide:
    case Opcode::kRemainder:
    case Opcode::kRsqrt:
    case Opcode::kSqrt:
      return OpClass::kDivision;
    // Calls of the C library, element by element.
    case Opcode::kAtan2:
    case Opcode::kCosine:
    case Opcode::kPower:
    case Opcode::kSine:
    case Opcode::kTan:
      return OpClass::kSlowFunction;
    default:
      return hlo::IsTranscendental(opcode) ? OpClass::kFunction
                                           : OpClass::kFlop;
  }
}

bool IsReduction(Opcode opcode) {
  return opcode == Opcode::kReduce || opcode == Opcode::kReduceWindow;
}

DotSizes SizesOf(const Computation& computation, const Instruction& dot) {
  DotSizes sizes;
  if (dot.attributes().dot == nullptr) return sizes;
  const Shape& lhs = OperandShape(computation, dot, 0);
  const Shape& rhs = OperandShape(computation, dot, 1);
  const auto product = [](const Shape& shape, const auto& dimensions) {
    double result = 1;
    for (int64_t d : dimensions) {
      result *= static_cast<double>(shape.dimension(d));
    }
    return result;
  };
  const hlo::DotDimensions& dims = *dot.attributes().dot;
  sizes.batch = product(lhs, dims.lhs_batch);
  sizes.k = product(lhs, dims.lhs_contracting);
  const double inner = std::max(sizes.batch * sizes.k, 1.0);
  sizes.m = static_cast<double>(lhs.num_elements()) / inner;
  sizes.n = static_cast<double>(rhs.num_elements()) / inner;
  return sizes;
}

bool IsOuterProduct(const Computation& computation, const Instruction& dot) {
  return dot.opcode() == Opcode::kDot && dot.attributes().dot != nullptr &&
         SizesOf(computation, dot).k == 1;
}

bool IsLoopFusible(const Computation& computation,
                   const Instruction& instruction) {
  switch (instruction.opcode()) {
    case Opcode::kBitcast:
    case Opcode::kBroadcast:
    case Opcode::kConcatenate:
    case Opcode::kConstant:
    case Opcode::kDynamicSlice:
    case Opcode::kDynamicUpdateSlice:
    case Opcode::kGather:
    case Opcode::kIota:
    case Opcode::kPad:
    case Opcode::kReduce:
    case Opcode::kReshape:
    case Opcode::kReverse:
    case Opcode::kSlice:
    case Opcode::kTranspose:
      return true;
    case Opcode::kDot:
      return IsOuterProduct(computation, instruction);
    default:
      return hlo::IsElementwise(instruction.opcode());
  }
}

bool IsFusible(const Instruction& instruction) {
  switch (instruction.opcode()) {
    case Opcode::kCall:
    case Opcode::kConditional:
    case Opcode::kFusion:
    case Opcode::kParameter:
    case Opcode::kUnknown:
    case Opcode::kWhile:
      return false;
    default:
      return !hlo::IsOpaque(instruction.opcode()) &&
             instruction.shape().IsArray();
  }
}

bool IsExpensive(const Computation& computation,
                 const Instruction& instruction) {
  const ElementType type = instruction.shape().element_type();
  switch (instruction.opcode()) {
    case Opcode::kConvert:
      return type == ElementType::kBf16 &&
             OperandShape(computation, instruction, 0).element_type() ==
                 ElementType::kF32;
    case Opcode::kDivide:
    case Opcode::kRemainder: {
      if (hlo::KindOf(type) == hlo::ElementKind::kFloat ||
          hlo::KindOf(type) == hlo::ElementKind::kComplex) {
        return true;
      }
      const Instruction& divisor = computation[instruction.operand(1)];
      return !IsScalarConstant(divisor) &&
             !(divisor.opcode() == Opcode::kBroadcast &&
               IsScalarConstant(computation[divisor.operand(0)]));
    }
    case Opcode::kCosine:
    case Opcode::kSine:
    case Opcode::kTan:
    case Opcode::kAbs:
    case Opcode::kSign:
      return hlo::KindOf(type) == hlo::ElementKind::kComplex;
    case Opcode::kGather:
    case Opcode::kMap:
    case Opcode::kReduce:
    case Opcode::kReduceWindow:
      return true;
    default:
      return hlo::IsTranscendental(instruction.opcode());
  }
}

bool ReusesOperand(const Computation& computation,
                   const Instruction& instruction, size_t operand) {
  switch (instruction.opcode()) {
    case Opcode::kBitcast:
    case Opcode::kConcatenate:
    case Opcode::kGather:
    case Opcode::kReshape:
    case Opcode::kReverse:
    case Opcode::kSlice:
    case Opcode::kTranspose:
      return false;
    case Opcode::kPad:
      return operand > 0;
    case Opcode::kReduce:
      return operand >= instruction.operand_count() / 2;
    case Opcode::kDynamicUpdateSlice:
      return operand > 1;
    default:
      return !hlo::IsElementwise(instruction.opcode()) ||
             OperandShape(computation, instruction, operand).dimensions() !=
                 instruction.shape().dimensions();
  }
}

bool EffectivelyUnary(const Computation& computation,
                      const Instruction& instruction) {
  int64_t rank = 0;
  if (instruction.shape().IsArray()) rank = TrueRank(instruction.shape());
  for (const ShapePtr& element : instruction.shape().tuple_elements()) {
    if (element->IsArray()) rank = std::max(rank, TrueRank(*element));
  }
  return absl::c_count_if(instruction.operands(), [&](InstructionId id) {
           const Instruction& operand = computation[id];
           return operand.opcode() != Opcode::kBroadcast &&
                  operand.opcode() != Opcode::kIota &&
                  !IsScalarConstant(operand) &&
                  TrueRank(operand.shape()) >= rank;
         }) <= 1;
}

int64_t UniqueOperandElements(const Computation& computation,
                              const Instruction& instruction) {
  int64_t sum = 0;
  for (size_t i = 0; i < instruction.operand_count(); ++i) {
    const auto* const first = instruction.operands().begin();
    if (std::find(first, first + i, instruction.operand(i)) != first + i) {
      continue;
    }
    sum += LeafElements(OperandShape(computation, instruction, i));
  }
  return sum;
}

bool IsWideConcatenate(const Instruction& instruction) {
  if (instruction.opcode() != Opcode::kConcatenate) return false;
  if (instruction.operand_count() > kMaxConcatenateOperands) return true;
  const Shape& shape = instruction.shape();
  if (shape.rank() <= 1) return false;
  const int64_t dimension = instruction.dimensions()[0];
  const int64_t width = hlo::ByteWidth(shape.element_type());
  return dimension == shape.rank() - 1 &&
         shape.dimension(dimension) * width >= kMinConcatenateRowBytes &&
         shape.num_elements() * width >= kMinConcatenateBytes;
}

bool BreaksInPlaceUpdate(const Computation&, const Instruction& producer,
                         const Instruction& consumer) {
  return consumer.opcode() == Opcode::kDynamicUpdateSlice &&
         !hlo::IsElementwise(producer.opcode()) &&
         absl::c_linear_search(producer.operands(), consumer.operand(0));
}

bool HasControlFlow(Opcode opcode) {
  switch (opcode) {
    case Opcode::kConcatenate:
    case Opcode::kPad:
    case Opcode::kReduce:
      return true;
    default:
      return false;
  }
}

}  // namespace hone::costmodels
