#include "hlo/evaluator/kernels.h"

#include "absl/strings/str_cat.h"

#include "base/excerpt.h"
#include "hlo/ir/opcode.h"

namespace hone::hlo::evaluator {

Kernel KernelFor(Opcode opcode) {
  if (IsElementwise(opcode)) {
    switch (opcode) {
      case Opcode::kBitcastConvert:
        return &EvaluateBitcastConvert;
      case Opcode::kCopy:
        return &EvaluateForward;
      case Opcode::kReducePrecision:
        return &EvaluateReducePrecision;
      default:
        return &EvaluateElementwise;
    }
  }
  switch (opcode) {
    case Opcode::kBatchNormGrad:
      return &EvaluateBatchNormGrad;
    case Opcode::kBatchNormInference:
      return &EvaluateBatchNormInference;
    case Opcode::kBatchNormTraining:
      return &EvaluateBatchNormTraining;
    case Opcode::kBitcast:
      return &EvaluateBitcast;
    case Opcode::kBroadcast:
      return &EvaluateBroadcast;
    case Opcode::kCall:
    case Opcode::kFusion:
      return &EvaluateCall;
    case Opcode::kCholesky:
      return &EvaluateCholesky;
    case Opcode::kConcatenate:
      return &EvaluateConcatenate;
    case Opcode::kConditional:
      return &EvaluateConditional;
    case Opcode::kConstant:
      return &EvaluateConstant;
    case Opcode::kConvolution:
      return &EvaluateConvolution;
    case Opcode::kCustomCall:
      return &EvaluateCustomCall;
    case Opcode::kDot:
      return &EvaluateDot;
    case Opcode::kDynamicSlice:
      return &EvaluateDynamicSlice;
    case Opcode::kDynamicUpdateSlice:
      return &EvaluateDynamicUpdateSlice;
    case Opcode::kFft:
      return &EvaluateFft;
    case Opcode::kGather:
      return &EvaluateGather;
    case Opcode::kGetDimensionSize:
      return &EvaluateGetDimensionSize;
    case Opcode::kGetTupleElement:
      return &EvaluateGetTupleElement;
    case Opcode::kIota:
      return &EvaluateIota;
    case Opcode::kMap:
      return &EvaluateMap;
    case Opcode::kOptBarrier:
      return &EvaluateForward;
    case Opcode::kPad:
      return &EvaluatePad;
    case Opcode::kReduce:
      return &EvaluateReduce;
    case Opcode::kReduceWindow:
      return &EvaluateReduceWindow;
    case Opcode::kReshape:
      return &EvaluateReshape;
    case Opcode::kReverse:
      return &EvaluateReverse;
    case Opcode::kRngBitGenerator:
      return &EvaluateRngBitGenerator;
    case Opcode::kScatter:
      return &EvaluateScatter;
    case Opcode::kSelectAndScatter:
      return &EvaluateSelectAndScatter;
    case Opcode::kSlice:
      return &EvaluateSlice;
    case Opcode::kSort:
      return &EvaluateSort;
    case Opcode::kTopk:
      return &EvaluateTopK;
    case Opcode::kTranspose:
      return &EvaluateTranspose;
    case Opcode::kTriangularSolve:
      return &EvaluateTriangularSolve;
    case Opcode::kTuple:
      return &EvaluateTuple;
    case Opcode::kWhile:
      return &EvaluateWhile;
    default:
      return nullptr;
  }
}

absl::Status UnimplementedError(const Instruction& instruction,
                                absl::string_view why) {
  std::string what(OpcodeName(instruction.opcode()));
  if (instruction.unknown_opcode() != nullptr) {
    what = Excerpt(*instruction.unknown_opcode());
  } else if (instruction.opcode() == Opcode::kCustomCall) {
    absl::StrAppend(&what, " to \"",
                    Excerpt(instruction.attributes().custom_call_target), "\"");
  }
  absl::StrAppend(&what, " of shape ", instruction.shape().ToString());
  if (!instruction.name().empty()) {
    absl::StrAppend(&what, " (instruction ", instruction.name(), ")");
  }
  if (!why.empty()) absl::StrAppend(&what, ": ", why);
  return absl::UnimplementedError(absl::StrCat("cannot evaluate ", what));
}

}  // namespace hone::hlo::evaluator
