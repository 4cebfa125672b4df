// How instructions on complex arrays are written with their parts.

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "loops/lowering/complex/computation_expander.h"
#include "loops/lowering/complex/part_shapes.h"
#include "loops/lowering/graph/opcode_traits.h"
#include "loops/lowering/graph/unsupported.h"

namespace hone::loops {

using hlo::Computation;
using hlo::ComputationId;
using hlo::Instruction;
using hlo::InstructionId;
using hlo::Opcode;
using hlo::Shape;
using hlo::ShapePtr;

namespace {

bool IsReduction(Opcode opcode) {
  return opcode == Opcode::kReduce || opcode == Opcode::kReduceWindow ||
         opcode == Opcode::kScatter;
}

// Returns true if the region adds its two parameters.
bool IsSum(const Computation& region) {
  const Instruction& root = region[region.root()];
  return region.parameters().size() == 2 && root.opcode() == Opcode::kAdd &&
         region[root.operand(0)].opcode() == Opcode::kParameter &&
         region[root.operand(1)].opcode() == Opcode::kParameter &&
         root.operand(0) != root.operand(1);
}

}  // namespace

// Also control flow and tuples: complex arrays in them are tuples.
absl::Status ComputationExpander::WriteUnchanged(
    const Instruction& instruction) {
  std::vector<InstructionId> operands;
  for (InstructionId operand : instruction.operands()) {
    operands.push_back(Whole(operand));
  }
  Instruction made = instruction.WithOperands(operands);
  made.set_shape(TupleShape(instruction.shape_ptr()));
  hlo::ComputationIds called;
  for (ComputationId callee : instruction.called()) {
    HONE_ASSIGN_OR_RETURN(const ComputationId id,
                          expander_.Expanded(callee, Interface::kTuples));
    called.push_back(id);
  }
  made.set_called(std::move(called));
  wholes_[instruction.id()] = Add(std::move(made));
  return absl::OkStatus();
}

void ComputationExpander::WriteEachPart(const Instruction& instruction) {
  std::vector<InstructionId> re;
  std::vector<InstructionId> im;
  for (InstructionId operand : instruction.operands()) {
    const ComplexParts parts = PartsOrBoth(operand);
    re.push_back(parts.re);
    im.push_back(parts.im);
  }
  const auto add = [&](const std::vector<InstructionId>& operands) {
    Instruction made = instruction.WithOperands(operands);
    made.set_shape(PartShape(instruction.shape()));
    return Add(std::move(made));
  };
  const InstructionId first = add(re);
  parts_[instruction.id()] = {first, add(im)};
}

// The real and imaginary parts of a sum are sums.
absl::Status ComputationExpander::WriteSum(const Instruction& instruction) {
  const ComputationId sum =
      expander_.Sum(PartShape(instruction.shape())->element_type());
  WriteEachPart(instruction);
  const ComplexParts parts = parts_[instruction.id()];
  to_.mutable_instruction(parts.re).set_called({sum});
  to_.mutable_instruction(parts.im).set_called({sum});
  return absl::OkStatus();
}

absl::Status ComputationExpander::WriteRegion(const Instruction& instruction) {
  const bool is_sort = instruction.opcode() == Opcode::kSort;
  const bool is_complex = IsComplex(instruction.id());
  if (is_complex && IsReduction(instruction.opcode()) &&
      IsSum(expander_.module().computation(instruction.called()[0]))) {
    return WriteSum(instruction);
  }
  if (!is_sort && !IsReduction(instruction.opcode())) {
    return Unsupported(instruction, "complex numbers");
  }
  HONE_ASSIGN_OR_RETURN(
      const ComputationId region,
      expander_.Expanded(instruction.called()[0],
                         is_sort ? Interface::kPairs : Interface::kParameters));
  Instruction made = instruction.WithOperands(Flat(instruction.operands()));
  std::vector<ShapePtr> shapes;
  const auto add_shape = [&](const ShapePtr& shape) {
    shapes.insert(shapes.end(), HasComplex(*shape) ? 2 : 1, PartShape(*shape));
  };
  if (instruction.shape().IsTuple()) {
    for (const ShapePtr& shape : instruction.shape().tuple_elements()) {
      add_shape(shape);
    }
  } else {
    add_shape(instruction.shape_ptr());
  }
  const bool is_tuple = instruction.shape().IsTuple() || shapes.size() > 1;
  made.set_shape(is_tuple ? Shape::Tuple(shapes) : shapes[0]);
  made.set_called({region});
  SetFlatResult(instruction, Add(std::move(made)));
  return absl::OkStatus();
}

// dot and convolution: products of parts.
absl::Status ComputationExpander::WriteProduct(const Instruction& instruction) {
  const ShapePtr shape = PartShape(instruction.shape());
  const auto product = [&](InstructionId a, InstructionId b) {
    Instruction made = instruction.WithOperands({a, b});
    made.set_shape(shape);
    return Add(std::move(made));
  };
  const auto combined = [&](Opcode opcode, InstructionId a, InstructionId b) {
    return Add(Instruction(opcode, shape, {a, b}));
  };
  const InstructionId lhs = instruction.operand(0);
  const InstructionId rhs = instruction.operand(1);
  const ComplexParts a = PartsOrBoth(lhs);
  const ComplexParts b = PartsOrBoth(rhs);
  ComplexParts& result = parts_[instruction.id()];
  if (IsComplex(lhs) && IsComplex(rhs)) {
    result.re =
        combined(Opcode::kSubtract, product(a.re, b.re), product(a.im, b.im));
    result.im =
        combined(Opcode::kAdd, product(a.re, b.im), product(a.im, b.re));
  } else {
    result.re = product(a.re, b.re);
    result.im = product(a.im, b.im);
  }
  return absl::OkStatus();
}

absl::Status ComputationExpander::WriteLibraryCall(
    const Instruction& instruction) {
  const bool is_pairs =
      instruction.attributes().custom_call_target == kFftFunction;
  std::vector<InstructionId> operands;
  for (InstructionId operand : instruction.operands()) {
    if (!IsComplex(operand)) {
      operands.push_back(Whole(operand));
    } else if (is_pairs) {
      const ComplexParts parts = Parts(operand);
      operands.insert(operands.end(), {parts.re, parts.im});
    } else {
      operands.push_back(ToBytes(Parts(operand)));
    }
  }
  Instruction made = instruction.WithOperands(operands);
  made.set_shape(is_pairs ? TupleShape(instruction.shape().tuple_element(0))
                          : BytesShape(instruction.shape_ptr()));
  if (is_pairs && !made.shape().IsTuple()) {
    made.set_shape(Shape::Tuple({made.shape_ptr()}));
  }
  const InstructionId id = Add(std::move(made));
  wholes_[instruction.id()] = !is_pairs
                                  ? WholeFromBytes(instruction.shape_ptr(), id)
                              : HasComplex(instruction.shape()) ? Tuple({id})
                                                                : id;
  return absl::OkStatus();
}

absl::Status ComputationExpander::WriteArithmetic(
    const Instruction& instruction) {
  const InstructionId id = instruction.id();
  const InstructionId first = instruction.operand(0);
  ComplexArithmetic arithmetic(to_, PartShape(instruction.shape()), name_);
  switch (instruction.opcode()) {
    case Opcode::kComplex:
      parts_[id] = {Whole(first), Whole(instruction.operand(1))};
      return absl::OkStatus();
    case Opcode::kReal:
      wholes_[id] = Parts(first).re;
      return absl::OkStatus();
    case Opcode::kImag:
      wholes_[id] = Parts(first).im;
      return absl::OkStatus();
    case Opcode::kAbs:
      wholes_[id] = arithmetic.Abs(Parts(first));
      return absl::OkStatus();
    case Opcode::kCompare: {
      const auto direction = instruction.attributes().direction;
      const bool is_ne = direction == hlo::ComparisonDirection::kNe;
      if (!is_ne && direction != hlo::ComparisonDirection::kEq) break;
      wholes_[id] =
          arithmetic.Equal(Parts(first), Parts(instruction.operand(1)), is_ne);
      return absl::OkStatus();
    }
    case Opcode::kConvert: {
      if (!IsComplex(first)) {
        const InstructionId re = Add(Instruction(
            Opcode::kConvert, PartShape(instruction.shape()), {Whole(first)}));
        parts_[id] = {re, arithmetic.Constant(0)};
        return absl::OkStatus();
      }
      if (IsComplex(id)) {
        WriteEachPart(instruction);
        return absl::OkStatus();
      }
      wholes_[id] = Add(Instruction(Opcode::kConvert, instruction.shape_ptr(),
                                    {Parts(first).re}));
      return absl::OkStatus();
    }
    default: {
      std::vector<ComplexParts> operands;
      for (InstructionId operand : instruction.operands()) {
        operands.push_back(PartsOrBoth(operand));
      }
      const std::optional<ComplexParts> parts =
          IsComplex(id) ? arithmetic.Apply(instruction.opcode(), operands)
                        : std::nullopt;
      if (!parts.has_value()) break;
      parts_[id] = *parts;
      return absl::OkStatus();
    }
  }
  return Unsupported(instruction, "complex numbers");
}

absl::Status ComputationExpander::Write(const Instruction& instruction) {
  const auto is_complex = [this](InstructionId id) { return IsComplex(id); };
  const InstructionId id = instruction.id();
  const auto& operands = instruction.operands();
  const bool is_concerned =
      IsComplex(id) ||
      std::any_of(operands.begin(), operands.end(), is_complex);
  switch (instruction.opcode()) {
    case Opcode::kConditional:
    case Opcode::kGetTupleElement:
    case Opcode::kOptBarrier:
    case Opcode::kTuple:
    case Opcode::kWhile:
      return WriteUnchanged(instruction);
    case Opcode::kCustomCall:
      if (!IsLibraryCall(instruction)) break;
      return WriteLibraryCall(instruction);
    default:
      break;
  }
  if (!is_concerned) {
    std::vector<InstructionId> mapped;
    for (InstructionId operand : operands) mapped.push_back(Whole(operand));
    wholes_[id] = Add(instruction.WithOperands(mapped));
    return absl::OkStatus();
  }
  switch (instruction.opcode()) {
    case Opcode::kConstant:
      if (instruction.literal()->is_elided()) {
        return Unsupported(instruction, "its value is elided");
      }
      parts_[id].re =
          Add(Instruction::Constant(PartOf(*instruction.literal(), 0)));
      parts_[id].im =
          Add(Instruction::Constant(PartOf(*instruction.literal(), 1)));
      return absl::OkStatus();
    case Opcode::kIota:
      parts_[id].re =
          Add(Instruction(Opcode::kIota, PartShape(instruction.shape()), {},
                          instruction.attributes_ptr()));
      parts_[id].im =
          ComplexArithmetic(to_, PartShape(instruction.shape()), name_)
              .Constant(0);
      return absl::OkStatus();
    case Opcode::kBitcast:
    case Opcode::kBroadcast:
    case Opcode::kConcatenate:
    case Opcode::kCopy:
    case Opcode::kDynamicSlice:
    case Opcode::kDynamicUpdateSlice:
    case Opcode::kGather:
    case Opcode::kPad:
    case Opcode::kReshape:
    case Opcode::kReverse:
    case Opcode::kSelect:
    case Opcode::kSlice:
    case Opcode::kTranspose:
      WriteEachPart(instruction);
      return absl::OkStatus();
    case Opcode::kConvolution:
    case Opcode::kDot:
      return WriteProduct(instruction);
    default:
      if (!instruction.called().empty()) return WriteRegion(instruction);
      if (!hlo::IsElementwise(instruction.opcode())) {
        return Unsupported(instruction, "complex numbers");
      }
      return WriteArithmetic(instruction);
  }
}

}  // namespace hone::loops
