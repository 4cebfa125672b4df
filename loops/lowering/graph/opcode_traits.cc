#include "loops/lowering/graph/opcode_traits.h"

#include <algorithm>

#include "absl/strings/match.h"

namespace hone::loops {
namespace {

using hlo::Opcode;

// The largest number of operands of a concatenation that is worth a chain of
// comparisons.
constexpr size_t kMaxInlineConcatenation = 4;
// The work of operations that expand to a series of instructions.
constexpr int64_t kTranscendentalWork = 50;
// The work of slow instructions.
constexpr int64_t kDivisionWork = 6;
// The work of a data-dependent address.
constexpr int64_t kIndirectionWork = 3;

bool HasInteriorPadding(const hlo::Instruction& pad) {
  const auto& padding = pad.attributes().padding;
  return std::any_of(padding.begin(), padding.end(),
                     [](const auto& p) { return p.interior > 0; });
}

}  // namespace

bool IsLibraryCall(const hlo::Instruction& instruction) {
  return instruction.opcode() == Opcode::kCustomCall &&
         absl::StartsWith(instruction.attributes().custom_call_target,
                          kLibraryPrefix);
}

Form FormOf(const hlo::Instruction& instruction) {
  switch (instruction.opcode()) {
    case Opcode::kParameter:
    case Opcode::kConstant:
      return Form::kGiven;
    case Opcode::kWhile:
    case Opcode::kConditional:
      return Form::kControlFlow;
    case Opcode::kCustomCall:
      return IsLibraryCall(instruction) ? Form::kLibrary : Form::kUnsupported;
    case Opcode::kConvolution:
    case Opcode::kDot:
    case Opcode::kDynamicUpdateSlice:
    case Opcode::kReduce:
    case Opcode::kReduceWindow:
    case Opcode::kRngBitGenerator:
    case Opcode::kScatter:
    case Opcode::kSort:
    case Opcode::kTopk:
      return Form::kLoops;
    case Opcode::kConcatenate:
      return instruction.operand_count() > kMaxInlineConcatenation
                 ? Form::kLoops
                 : Form::kExpression;
    case Opcode::kPad:
      return HasInteriorPadding(instruction) ? Form::kLoops : Form::kExpression;
    case Opcode::kBitcast:
    case Opcode::kBroadcast:
    case Opcode::kDynamicSlice:
    case Opcode::kGather:
    case Opcode::kGetDimensionSize:
    case Opcode::kIota:
    case Opcode::kMap:
    case Opcode::kReshape:
    case Opcode::kReverse:
    case Opcode::kSlice:
    case Opcode::kTranspose:
      return Form::kExpression;
    default:
      return hlo::IsElementwise(instruction.opcode()) ? Form::kExpression
                                                      : Form::kUnsupported;
  }
}

bool IsPlanStep(Form form) {
  return form == Form::kControlFlow || form == Form::kLibrary;
}

bool IsReindexing(Opcode opcode) {
  switch (opcode) {
    case Opcode::kBitcast:
    case Opcode::kBroadcast:
    case Opcode::kCopy:
    case Opcode::kReshape:
    case Opcode::kReverse:
    case Opcode::kSlice:
    case Opcode::kTranspose:
      return true;
    default:
      return false;
  }
}

int64_t WorkOf(const hlo::Instruction& instruction) {
  const Opcode opcode = instruction.opcode();
  if (IsReindexing(opcode)) return 0;
  switch (opcode) {
    case Opcode::kGetDimensionSize:
    case Opcode::kIota:
      return 0;
    case Opcode::kDynamicSlice:
    case Opcode::kGather:
      return kIndirectionWork;
    case Opcode::kConcatenate:
      return static_cast<int64_t>(instruction.operand_count());
    case Opcode::kCountLeadingZeros:
    case Opcode::kDivide:
    case Opcode::kPopcnt:
    case Opcode::kRemainder:
    case Opcode::kRsqrt:
    case Opcode::kSqrt:
      return kDivisionWork;
    case Opcode::kMap:
      return kTranscendentalWork;
    default:
      return hlo::IsTranscendental(opcode) ? kTranscendentalWork : 1;
  }
}

bool ReadsRepeatedly(const hlo::Computation& computation,
                     const hlo::Instruction& instruction, size_t i) {
  const hlo::Shape& operand = computation[instruction.operand(i)].shape();
  switch (instruction.opcode()) {
    case Opcode::kBroadcast:
      return operand.num_elements() < instruction.shape().num_elements();
    case Opcode::kClamp:
    case Opcode::kSelect:
      return operand.rank() < instruction.shape().rank();
    case Opcode::kGather:
    case Opcode::kRngBitGenerator:
    case Opcode::kTopk:
      return true;
    case Opcode::kDynamicSlice:
    case Opcode::kPad:
      return i > 0;
    case Opcode::kDynamicUpdateSlice:
      return i > 1;
    case Opcode::kReduce:
      return i >= instruction.operand_count() / 2;
    case Opcode::kReduceWindow: {
      if (i >= instruction.operand_count() / 2) return true;
      const hlo::Window& window = *instruction.attributes().window;
      return std::any_of(window.begin(), window.end(), [](const auto& w) {
        return w.size > w.stride || w.window_dilation > 1 ||
               w.base_dilation > 1;
      });
    }
    case Opcode::kScatter:
      return i == instruction.operand_count() / 2;
    default:
      return false;
  }
}

}  // namespace hone::loops
