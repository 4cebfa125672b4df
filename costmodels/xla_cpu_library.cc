#include "costmodels/xla_cpu_library.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "absl/algorithm/container.h"

#include "costmodels/xla_cpu_rules.h"

namespace hone::costmodels {

using hlo::Computation;
using hlo::ElementType;
using hlo::Instruction;
using hlo::InstructionId;
using hlo::Module;
using hlo::Opcode;
using hlo::Shape;

namespace {

// Arrays below this are left to generated code.
constexpr int64_t kMinLibraryElements = 4096;
// Products whose sizes are all smaller, too.
constexpr double kMinLibrarySize = 8;
// Convolutions of at most so many features are left to other code.
constexpr int64_t kMaxSmallConvolution = 16;

bool IsLibraryType(ElementType type) {
  switch (type) {
    case ElementType::kF64:
    case ElementType::kF32:
    case ElementType::kBf16:
    case ElementType::kS8:
    case ElementType::kU8:
      return true;
    default:
      return false;
  }
}

bool IsLibraryElementwise(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAbs:
    case Opcode::kAdd:
    case Opcode::kCeil:
    case Opcode::kConvert:
    case Opcode::kCosine:
    case Opcode::kDivide:
    case Opcode::kErf:
    case Opcode::kExponential:
    case Opcode::kExponentialMinusOne:
    case Opcode::kFloor:
    case Opcode::kLog:
    case Opcode::kLogPlusOne:
    case Opcode::kLogistic:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kMultiply:
    case Opcode::kNegate:
    case Opcode::kPower:
    case Opcode::kRoundNearestEven:
    case Opcode::kRsqrt:
    case Opcode::kSign:
    case Opcode::kSine:
    case Opcode::kSqrt:
    case Opcode::kSubtract:
    case Opcode::kTan:
    case Opcode::kTanh:
      return true;
    default:
      return false;
  }
}

// Returns true if the instruction or an operand is large enough for the
// library.
bool IsLarge(const Computation& computation, const Instruction& instruction) {
  const auto large = [](const Shape& shape) {
    return shape.IsArray() && shape.num_elements() >= kMinLibraryElements;
  };
  return large(instruction.shape()) ||
         absl::c_any_of(instruction.operands(), [&](InstructionId id) {
           return large(computation[id].shape());
         });
}

bool IsLibraryDot(const Computation& computation, const Instruction& dot) {
  const auto& dims = dot.attributes().dot;
  const ElementType type = dot.shape().element_type();
  if (dims == nullptr || dims->lhs_contracting.size() != 1 ||
      (type != ElementType::kF32 && type != ElementType::kF64)) {
    return false;
  }
  const DotSizes sizes = SizesOf(computation, dot);
  if (sizes.m == 1 || sizes.n == 1 || sizes.k == 1) return false;
  if (std::max({sizes.m, sizes.n, sizes.k}) < kMinLibrarySize) return false;
  return dims->lhs_contracting[0] ==
         OperandShape(computation, dot, 0).rank() - 1;
}

// Returns true for a convolution over two dimensions of images whose features
// come last.
bool IsLibraryConvolution(const Computation& computation,
                          const Instruction& convolution) {
  const auto& dims = convolution.attributes().convolution;
  const auto& window = convolution.attributes().window;
  const ElementType type = convolution.shape().element_type();
  if (dims == nullptr || window == nullptr || window->size() != 2 ||
      (type != ElementType::kF32 && type != ElementType::kF64)) {
    return false;
  }
  const hlo::DimensionVector spatial = {1, 2};
  const hlo::DimensionVector kernel_spatial = {0, 1};
  if (dims->batch_group_count != 1 || dims->input_feature != 3 ||
      dims->output_feature != 3 || dims->kernel_input_feature != 2 ||
      dims->kernel_output_feature != 3 || dims->input_spatial != spatial ||
      dims->output_spatial != spatial ||
      dims->kernel_spatial != kernel_spatial) {
    return false;
  }
  const Shape& input = OperandShape(computation, convolution, 0);
  const Shape& kernel = OperandShape(computation, convolution, 1);
  const Shape& output = convolution.shape();
  if (std::max(input.dimension(3), output.dimension(3)) <=
      kMaxSmallConvolution) {
    return false;
  }
  for (size_t i = 0; i < 2; ++i) {
    const auto d = static_cast<int64_t>(i);
    if (output.dimension(d + 1) > input.dimension(d + 1) ||
        kernel.dimension(d) > input.dimension(d + 1) ||
        (*window)[i].base_dilation != 1 || (*window)[i].reversal) {
      return false;
    }
  }
  return true;
}

// Returns true if the region is a sum, maximum or minimum of its parameters.
bool IsSimpleReducer(const Module& module, const Instruction& reduction) {
  if (reduction.called().size() != 1) return false;
  const Computation& region = module.computation(reduction.called()[0]);
  if (region.live_count() != 3) return false;
  const Opcode root = region[region.root()].opcode();
  return root == Opcode::kAdd || root == Opcode::kMaximum ||
         root == Opcode::kMinimum;
}

bool HasDisjointWindows(const Instruction& reduction) {
  if (reduction.attributes().window == nullptr) return false;
  bool any = false;
  for (const hlo::WindowDimension& d : *reduction.attributes().window) {
    if (d.size == 1 && d.stride == 1) continue;
    if (d.size != d.stride || d.base_dilation != 1 || d.window_dilation != 1) {
      return false;
    }
    any = true;
  }
  return any;
}

bool IsLibraryReduction(const Module& module, const Computation& computation,
                        const Instruction& reduction) {
  const ElementType type = reduction.shape().element_type();
  if (reduction.operand_count() != 2 ||
      (type != ElementType::kF32 && type != ElementType::kF64) ||
      !IsLarge(computation, reduction) || !IsSimpleReducer(module, reduction)) {
    return false;
  }
  return reduction.opcode() == Opcode::kReduce ? !reduction.dimensions().empty()
                                               : HasDisjointWindows(reduction);
}

}  // namespace

bool IsPointwise(const Computation& computation,
                 const Instruction& convolution) {
  const auto& dims = convolution.attributes().convolution;
  const auto& window = convolution.attributes().window;
  if (dims == nullptr || window == nullptr || dims->feature_group_count != 1 ||
      dims->batch_group_count != 1) {
    return false;
  }
  const bool features_last =
      dims->input_feature ==
          OperandShape(computation, convolution, 0).rank() - 1 &&
      dims->output_feature == convolution.shape().rank() - 1;
  return features_last &&
         absl::c_all_of(*window, [](const hlo::WindowDimension& d) {
           return d.size == 1 && d.stride == 1 && d.padding_low == 0 &&
                  d.padding_high == 0 && d.base_dilation == 1;
         });
}

bool StartsLibraryCall(const Module& module, const Computation& computation,
                       const Instruction& instruction) {
  switch (instruction.opcode()) {
    case Opcode::kConvolution:
      return IsPointwise(computation, instruction) ||
             IsLibraryConvolution(computation, instruction);
    case Opcode::kDot:
      return IsLibraryDot(computation, instruction);
    case Opcode::kReduce:
    case Opcode::kReduceWindow:
      return IsLibraryReduction(module, computation, instruction);
    default:
      return false;
  }
}

bool LibraryCallTakes(const Module& module, const Computation& computation,
                      const Instruction& instruction) {
  if (!instruction.shape().IsArray() ||
      !IsLibraryType(instruction.shape().element_type())) {
    return false;
  }
  switch (instruction.opcode()) {
    case Opcode::kConvolution:
    case Opcode::kDot:
    case Opcode::kReduce:
    case Opcode::kReduceWindow:
      return StartsLibraryCall(module, computation, instruction);
    case Opcode::kBitcast:
    case Opcode::kReshape:
    case Opcode::kTranspose:
      return true;
    case Opcode::kBroadcast:
      return absl::c_is_sorted(instruction.dimensions());
    default:
      return IsLibraryElementwise(instruction.opcode()) &&
             IsLarge(computation, instruction) &&
             absl::c_all_of(instruction.operands(), [&](InstructionId id) {
               return IsLibraryType(computation[id].shape().element_type());
             });
  }
}

}  // namespace hone::costmodels
