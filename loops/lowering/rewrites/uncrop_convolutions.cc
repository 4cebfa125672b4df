#include "loops/lowering/rewrites/uncrop_convolutions.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/division.h"
#include "hlo/rewrite/driver.h"
#include "hlo/rewrite/makers.h"
#include "loops/lowering/kernel/window.h"

namespace hone::loops {
namespace {

using hlo::InstructionId;
using hlo::Opcode;
using hlo::Rewriter;

// How one dimension of a convolution changes.
struct Uncropped {
  hlo::SliceDimension input;
  hlo::WindowDimension window;
  hlo::SliceDimension result;
};

// `inputs` > 0. Positions count in the dilated input: window position s reads
// s + tap·(dilation of the window), input element i is at i·(dilation of the
// base).
Uncropped Uncrop(const hlo::WindowDimension& w, int64_t inputs,
                 int64_t outputs) {
  const int64_t reach = (w.size - 1) * w.window_dilation;
  const int64_t first = -w.padding_low;
  const int64_t last = first + (outputs - 1) * w.stride;
  const int64_t begin =
      std::clamp<int64_t>(CeilDivide(first, w.base_dilation), 0, inputs - 1);
  const int64_t end = std::clamp<int64_t>(
      FloorDivide(last + reach, w.base_dilation), begin, inputs - 1);
  const int64_t origin = begin * w.base_dilation;
  const int64_t length = (end - begin) * w.base_dilation + 1;
  Uncropped uncropped;
  uncropped.input = {.start = begin, .limit = end + 1, .stride = 1};
  uncropped.window = w;
  uncropped.window.stride = 1;
  const int64_t low = std::max(reach, origin - first);
  const int64_t start = first - origin + low;
  const int64_t limit = last - origin + low + 1;
  const int64_t results = std::max(limit, length + low);
  uncropped.window.padding_low = low;
  uncropped.window.padding_high = results - low - length + reach;
  uncropped.result = {.start = start, .limit = limit, .stride = w.stride};
  return uncropped;
}

bool UncropConvolution(Rewriter& r, InstructionId id) {
  const hlo::Attributes& attributes = r[id].attributes();
  const InstructionId input = r.operand(id, 0);
  if (attributes.window == nullptr || attributes.convolution == nullptr ||
      CountPhases(*attributes.window) <= kManyPhases ||
      r.shape(input).num_elements() == 0 || r.shape(id).num_elements() == 0) {
    return false;
  }
  const hlo::ConvolutionDimensions& dims = *attributes.convolution;
  hlo::Window window = *attributes.window;
  const auto whole = [&](InstructionId array) {
    std::vector<hlo::SliceDimension> slice;
    for (int64_t size : r.dimensions_of(array)) {
      slice.push_back({.start = 0, .limit = size, .stride = 1});
    }
    return slice;
  };
  std::vector<hlo::SliceDimension> inputs = whole(input);
  std::vector<hlo::SliceDimension> results = whole(id);
  for (size_t d = 0; d < window.size(); ++d) {
    hlo::SliceDimension& in =
        inputs[static_cast<size_t>(dims.input_spatial[d])];
    hlo::SliceDimension& out =
        results[static_cast<size_t>(dims.output_spatial[d])];
    const Uncropped uncropped = Uncrop(window[d], in.limit, out.limit);
    window[d] = uncropped.window;
    in = uncropped.input;
    out = uncropped.result;
  }
  if (window == *attributes.window) return false;
  auto changed = std::make_shared<hlo::Attributes>(attributes);
  changed->window = std::make_shared<const hlo::Window>(std::move(window));
  const InstructionId made = r.AddOfType(
      hlo::Instruction(Opcode::kConvolution, nullptr,
                       {MakeSlice(r, input, inputs), r.operand(id, 1)},
                       std::move(changed)),
      r.shape(id).element_type());
  r.ReplaceUses(id, MakeSlice(r, made, results));
  return true;
}

}  // namespace

absl::Status UncropConvolutions(hlo::Module& module) {
  const hlo::RewriteRule rule = {.name = "uncrop_convolutions",
                                 .opcodes = {Opcode::kConvolution}};
  return RewriteModule(module, rule, {}, UncropConvolution).status();
}

}  // namespace hone::loops
