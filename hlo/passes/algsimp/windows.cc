// Reductions over windows, and convolutions.
//
//   reduce-window(x) → x                     windows of one element, from the
//                                            identity element
//   reduce-window(pad(x, e)) → reduce-window(x) with more padding: e is the
//     identity element of the reduction, which skips padding; init is free. The
//     padding is neither negative nor interior.
//   convolution(pad(x, 0), k) → convolution(x, k): the window pads instead, and
//     interior padding becomes base dilation. Only spatial dimensions padded,
//     never negatively. Floats: reassociates
//   convolution(x, pad(k, 0)) → convolution(x, k): only interior padding of
//     spatial dimensions, which becomes window dilation. Floats: reassociates
//
// and HoistNegation. Exact but for what is said: an infinity times a zero of
// the padding, which was NaN, is left out (so upstream). A reversed kernel
// stays: backends have no fast convolution that reads its window backwards.

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "hlo/passes/algsimp/rules.h"

namespace hone::hlo::algsimp {
namespace {

// Lets the window pad a dimension of `size` elements as `p` does. Returns false
// where it cannot.
bool AbsorbPadding(const PaddingDimension& p, int64_t size,
                   WindowDimension& w) {
  // Between no elements there are no holes.
  if (p.low < 0 || p.high < 0 || size == 0) return false;
  if (p.interior != 0 && w.base_dilation != 1) return false;
  w.padding_low += p.low * w.base_dilation;
  w.padding_high += p.high * w.base_dilation;
  if (p.interior != 0) w.base_dilation = p.interior + 1;
  return true;
}

bool ReplaceWindow(Rewriter& r, InstructionId id,
                   absl::Span<const InstructionId> operands, Window window) {
  Attributes attributes = r[id].attributes();
  attributes.window = std::make_shared<const Window>(std::move(window));
  return r.Replace(id, MakeLike(r, id, operands, std::move(attributes)));
}

bool IsZeroPad(const Rewriter& r, InstructionId id) {
  return r.Match(id, m::Pad(m::Op(), m::Uniform(0)));
}

bool IsUnpadded(const Rewriter& r, InstructionId pad, int64_t dimension) {
  return r[pad].attributes().padding[static_cast<size_t>(dimension)] ==
         PaddingDimension{};
}

bool FoldInputPad(Rewriter& r, InstructionId id) {
  const InstructionId pad = r.operand(id, 0);
  const ConvolutionDimensions& d = *r[id].attributes().convolution;
  if (!IsZeroPad(r, pad) || !IsUnpadded(r, pad, d.input_batch) ||
      !IsUnpadded(r, pad, d.input_feature)) {
    return false;
  }
  const InstructionId x = r.operand(pad, 0);
  Window window = *r[id].attributes().window;
  for (size_t i = 0; i < window.size(); ++i) {
    const size_t spatial = static_cast<size_t>(d.input_spatial[i]);
    if (!AbsorbPadding(r[pad].attributes().padding[spatial],
                       r.dimensions_of(x)[spatial], window[i])) {
      return false;
    }
  }
  return ReplaceWindow(r, id, {x, r.operand(id, 1)}, std::move(window));
}

bool FoldKernelPad(Rewriter& r, InstructionId id) {
  const InstructionId pad = r.operand(id, 1);
  const ConvolutionDimensions& d = *r[id].attributes().convolution;
  if (!IsZeroPad(r, pad) || !IsUnpadded(r, pad, d.kernel_input_feature) ||
      !IsUnpadded(r, pad, d.kernel_output_feature)) {
    return false;
  }
  const InstructionId kernel = r.operand(pad, 0);
  Window window = *r[id].attributes().window;
  for (size_t i = 0; i < window.size(); ++i) {
    const size_t spatial = static_cast<size_t>(d.kernel_spatial[i]);
    const PaddingDimension& p = r[pad].attributes().padding[spatial];
    if (p.low != 0 || p.high != 0) return false;
    if (p.interior == 0) continue;
    if (window[i].window_dilation != 1) return false;
    window[i].window_dilation = p.interior + 1;
    window[i].size = r.dimensions_of(kernel)[spatial];
  }
  return ReplaceWindow(r, id, {r.operand(id, 0), kernel}, std::move(window));
}

}  // namespace

bool SimplifyReduceWindow(Rewriter& r, InstructionId id) {
  if (r[id].operand_count() != 2) return false;
  const InstructionId x = r.operand(id, 0);
  const InstructionId init = r.operand(id, 1);
  Window window = *r[id].attributes().window;
  const std::optional<Opcode> opcode =
      ReductionOpcode(r.module().computation(r[id].called()[0]));
  const auto is_trivial = [](const WindowDimension& w) {
    return w.size == 1 && w.stride == 1 && w.padding_low == 0 &&
           w.padding_high == 0 && w.base_dilation == 1;
  };
  if (IsIdentityElement(r, init, opcode) &&
      std::all_of(window.begin(), window.end(), is_trivial)) {
    return r.Replace(id, x);
  }
  if (!r.Is(x, Opcode::kPad) ||
      !IsIdentityElement(r, r.operand(x, 1), opcode)) {
    return false;
  }
  const InstructionId source = r.operand(x, 0);
  for (size_t i = 0; i < window.size(); ++i) {
    const PaddingDimension& p = r[x].attributes().padding[i];
    if (p.interior != 0 ||
        !AbsorbPadding(p, r.dimensions_of(source)[i], window[i])) {
      return false;
    }
  }
  return ReplaceWindow(r, id, {source, init}, std::move(window));
}

bool SimplifyConvolution(Rewriter& r, InstructionId id) {
  const Attributes& attributes = r[id].attributes();
  if (r[id].operand_count() != 2 || attributes.window == nullptr ||
      attributes.convolution == nullptr) {
    return false;
  }
  return (MayRound(r, id) && (FoldInputPad(r, id) || FoldKernelPad(r, id))) ||
         HoistNegation(r, id);
}

}  // namespace hone::hlo::algsimp
