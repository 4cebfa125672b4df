// convolution-group-converter: makes grouped convolutions plain ones.
//
//   c = f32[1,6,6] convolution(f32[1,6,8] x, f32[3,2,6] k), window={size=3},
//       dim_labels=bf0_0io->b0f, feature_group_count=3
//   →
//   c' = f32[1,6,3,2] convolution(f32[1,3,2,8] reshape(x),
//            f32[3,2,3,2] reshape(k)), dim_labels=b1f0_0i1o->b01f,
//        window={size=3x3 stride=1x2 lhs_dilate=1x3}
//   c  = f32[1,6,6] reshape(c')
//
// The groups become a spatial dimension: a window of G elements, in steps of
// G - 1 over positions G apart, meets in its place i the group i and nothing
// else. Batch groups likewise. Numeric class: exact for integers, else
// changes_range, as XLA fills the holes of lhs_dilate with zeros and adds terms
// 0 · k, which are NaN for an infinite k of another group. For backends that
// know no groups; a convolution that a CPU library computes as it is (f32 or
// f16 with feature groups, dim_labels=b01f_01io->b01f, no reversal) stays.
// Upstream masks a larger kernel instead when every group has one feature.

#include <memory>
#include <utility>

#include "hlo/passes/registry.h"
#include "hlo/passes/rule_pass.h"
#include "hlo/rewrite/makers.h"

namespace hone::hlo {
namespace {

bool AreSpatial(const DimensionVector& dimensions, int64_t first) {
  for (size_t i = 0; i < dimensions.size(); ++i) {
    if (dimensions[i] != first + static_cast<int64_t>(i)) return false;
  }
  return true;
}

bool IsLibraryConvolution(const Instruction& convolution, ElementType type) {
  const Attributes& attributes = convolution.attributes();
  const ConvolutionDimensions& d = *attributes.convolution;
  const int64_t last = static_cast<int64_t>(d.input_spatial.size()) + 1;
  if ((type != ElementType::kF32 && type != ElementType::kF16) || last < 2 ||
      last > 4 || d.batch_group_count != 1) {
    return false;
  }
  for (const WindowDimension& window : *attributes.window) {
    if (window.reversal) return false;
  }
  return d.input_batch == 0 && d.input_feature == last &&
         AreSpatial(d.input_spatial, 1) && d.output_batch == 0 &&
         d.output_feature == last && AreSpatial(d.output_spatial, 1) &&
         d.kernel_input_feature == last - 1 &&
         d.kernel_output_feature == last && AreSpatial(d.kernel_spatial, 0);
}

// The sizes with dimension `d` split into (groups, rest of it).
DimensionVector SplitSizes(DimensionVector sizes, int64_t d, int64_t groups) {
  sizes[static_cast<size_t>(d)] /= groups;
  sizes.insert(sizes.begin() + d, groups);
  return sizes;
}

// Renames the dimensions of an array of which `split` (one of them) became the
// groups and, behind them, itself; the groups become its last spatial one.
void RenameSplit(int64_t& split, int64_t& other, DimensionVector& spatial) {
  if (other > split) ++other;
  for (int64_t& d : spatial) d += d > split ? 1 : 0;
  spatial.push_back(split);
  ++split;
}

bool Convert(Rewriter& r, InstructionId id) {
  const Instruction& convolution = r[id];
  const Attributes& old = convolution.attributes();
  if (convolution.operand_count() != 2 || old.convolution == nullptr ||
      old.window == nullptr) {
    return false;
  }
  if (!IsIntegral(convolution.shape().element_type()) &&
      !r.Permits(NumericClass::kChangesRange)) {
    return false;
  }
  ConvolutionDimensions d = *old.convolution;
  const bool is_batch = d.batch_group_count > 1;
  const int64_t groups = is_batch ? d.batch_group_count : d.feature_group_count;
  // So that groups * groups, the size of the dilated dimension, is in range.
  constexpr int64_t kMaxGroups = int64_t{1} << 30;
  if (groups == 1 || groups > kMaxGroups ||
      convolution.shape().num_elements() == 0 ||
      IsLibraryConvolution(convolution,
                           r.shape(convolution.operand(0)).element_type())) {
    return false;
  }
  int64_t& input_split = is_batch ? d.input_batch : d.input_feature;
  int64_t& input_other = is_batch ? d.input_feature : d.input_batch;
  const auto split = [&](InstructionId operand, int64_t dimension) {
    return MakeReshape(r, operand,
                       SplitSizes(r.dimensions_of(operand), dimension, groups));
  };
  const InstructionId input = split(convolution.operand(0), input_split);
  const InstructionId kernel =
      split(convolution.operand(1), d.kernel_output_feature);
  RenameSplit(input_split, input_other, d.input_spatial);
  RenameSplit(d.kernel_output_feature, d.kernel_input_feature,
              d.kernel_spatial);
  RenameSplit(d.output_feature, d.output_batch, d.output_spatial);
  (is_batch ? d.batch_group_count : d.feature_group_count) = 1;

  Window window = *old.window;
  WindowDimension group_window;
  group_window.size = groups;
  group_window.stride = groups - 1;
  group_window.base_dilation = groups;
  window.push_back(group_window);
  Attributes attributes = old;
  attributes.convolution =
      std::make_shared<const ConvolutionDimensions>(std::move(d));
  attributes.window = std::make_shared<const Window>(std::move(window));
  const InstructionId plain =
      MakeLike(r, id, {input, kernel}, std::move(attributes));
  return r.Replace(id, MakeReshape(r, plain, r.dimensions_of(id)));
}

}  // namespace

std::unique_ptr<Pass> MakeConvolutionGroupConverter() {
  return MakeRulePass({.name = "convolution-group-converter",
                       .opcodes = {Opcode::kConvolution}},
                      Convert);
}

}  // namespace hone::hlo
