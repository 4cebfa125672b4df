#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "hlo/passes/algsimp/rules.h"

namespace hone::hlo::algsimp {
namespace {

// op(-x, y) → -op(x, y), op(-x, -y) → op(x, y): the negation has no other
// user. Signs move towards the root, where additions absorb them. Not where
// integers are widened, as the smallest one has no positive.
bool HoistNegation(Rewriter& r, InstructionId id) {
  InstructionIds operands = r[id].operands();
  const ElementType type = r.shape(operands[0]).element_type();
  if (operands[0] == operands[1] ||
      (IsIntegral(type) && type != r.shape(id).element_type())) {
    return false;
  }
  int negations = 0;
  for (InstructionId& operand : operands) {
    if (!r.Is(operand, Opcode::kNegate) || !r.DiesWith(operand, id)) continue;
    operand = r.operand(operand, 0);
    ++negations;
  }
  if (negations == 0) return false;
  const InstructionId product = r.Add(Instruction(
      r[id].opcode(), r[id].shape_ptr(), operands, r[id].attributes_ptr()));
  if (negations == 2) return r.Replace(id, product);
  return r.Replace(id, MakeUnary(r, Opcode::kNegate, product));
}

bool IsUnpadded(const PaddingDimension& p) { return p == PaddingDimension{}; }

bool IsZeroPad(const Rewriter& r, InstructionId id) {
  return r.Is(id, Opcode::kPad) &&
         IsUniform(r.computation(), r.operand(id, 1), 0);
}

Instruction MakeConvolution(const Rewriter& r, InstructionId id,
                            InstructionId input, InstructionId kernel,
                            Window window) {
  auto attributes = std::make_shared<Attributes>(r[id].attributes());
  attributes->window = std::make_shared<const Window>(std::move(window));
  return Instruction(Opcode::kConvolution, r[id].shape_ptr(), {input, kernel},
                     std::move(attributes));
}

// convolution(pad(x, 0), k) → convolution(x, k): the window pads instead, and
// interior padding becomes base dilation. Only spatial dimensions padded, never
// negatively. As upstream has it, here and below: an infinity times a zero of
// the padding was NaN and is left out now.
bool FoldInputPad(Rewriter& r, InstructionId id) {
  const InstructionId pad = r.operand(id, 0);
  if (!IsZeroPad(r, pad)) return false;
  const ConvolutionDimensions& d = *r[id].attributes().convolution;
  const std::vector<PaddingDimension>& padding = r[pad].attributes().padding;
  if (!IsUnpadded(padding[static_cast<size_t>(d.input_batch)]) ||
      !IsUnpadded(padding[static_cast<size_t>(d.input_feature)])) {
    return false;
  }
  Window window = *r[id].attributes().window;
  for (size_t i = 0; i < window.size(); ++i) {
    const PaddingDimension& p =
        padding[static_cast<size_t>(d.input_spatial[i])];
    WindowDimension& w = window[i];
    if (p.low < 0 || p.high < 0 || (p.interior != 0 && w.base_dilation != 1)) {
      return false;
    }
    w.padding_low += p.low * w.base_dilation;
    w.padding_high += p.high * w.base_dilation;
    if (p.interior != 0) w.base_dilation = p.interior + 1;
  }
  return r.ReplaceWith(
      id, MakeConvolution(r, id, r.operand(pad, 0), r.operand(id, 1),
                          std::move(window)));
}

// convolution(x, pad(k, 0)) → convolution(x, k): only interior padding of
// spatial dimensions, which becomes window dilation.
bool FoldKernelPad(Rewriter& r, InstructionId id) {
  const InstructionId pad = r.operand(id, 1);
  if (!IsZeroPad(r, pad)) return false;
  const ConvolutionDimensions& d = *r[id].attributes().convolution;
  const std::vector<PaddingDimension>& padding = r[pad].attributes().padding;
  if (!IsUnpadded(padding[static_cast<size_t>(d.kernel_input_feature)]) ||
      !IsUnpadded(padding[static_cast<size_t>(d.kernel_output_feature)])) {
    return false;
  }
  Window window = *r[id].attributes().window;
  for (size_t i = 0; i < window.size(); ++i) {
    const size_t spatial = static_cast<size_t>(d.kernel_spatial[i]);
    const PaddingDimension& p = padding[spatial];
    WindowDimension& w = window[i];
    if (p.low != 0 || p.high != 0) return false;
    if (p.interior == 0) continue;
    if (w.window_dilation != 1) return false;
    w.window_dilation = p.interior + 1;
    w.size = r.dimensions_of(r.operand(pad, 0))[spatial];
  }
  return r.ReplaceWith(
      id, MakeConvolution(r, id, r.operand(id, 0), r.operand(pad, 0),
                          std::move(window)));
}

}  // namespace

// dot(x, y) → broadcast(0): nothing to sum
// HoistNegation
bool SimplifyDot(Rewriter& r, InstructionId id) {
  const Shape& shape = r.shape(id);
  if (shape.num_elements() > 0 &&
      r.shape(r.operand(id, 0)).num_elements() == 0) {
    return r.Replace(id,
                     MakeUniform(r, Literal::ScalarInt(shape.element_type(), 0),
                                 r.dimensions_of(id)));
  }
  return HoistNegation(r, id);
}

// FoldInputPad, FoldKernelPad, HoistNegation. A reversed kernel stays: backends
// have no fast convolution that reads its window backwards.
bool SimplifyConvolution(Rewriter& r, InstructionId id) {
  const Attributes& attributes = r[id].attributes();
  if (r[id].operand_count() != 2 || attributes.window == nullptr ||
      attributes.convolution == nullptr) {
    return false;
  }
  return FoldInputPad(r, id) || FoldKernelPad(r, id) || HoistNegation(r, id);
}

}  // namespace hone::hlo::algsimp
