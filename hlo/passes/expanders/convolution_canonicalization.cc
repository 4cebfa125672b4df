// convolution-canonicalization: gives convolutions the dimension order that
// libraries on CPUs know.
//
//   c = convolution(x, k), dim_labels=bf01_oi01->bf01
//   →
//   c' = convolution(transpose(x), transpose(k)), dim_labels=b01f_01io->b01f
//   c  = transpose(c')
//
// Stronger than upstream's: what is in that order already gets no transpose.
//
// Legal always. Numeric class: reassociates, as the order in which a kernel
// adds depends on how the operands lie. Upstream looks at the entry computation
// only, and so does this. transpose-folding goes the other way.

#include <memory>
#include <utility>

#include "hlo/passes/registry.h"
#include "hlo/rewrite/dimensions.h"
#include "hlo/rewrite/driver.h"
#include "hlo/rewrite/makers.h"

namespace hone::hlo {
namespace {

// `spatial` with one dimension in front and one behind.
DimensionVector Around(int64_t front, const DimensionVector& spatial,
                       int64_t back) {
  DimensionVector order = {front};
  order.insert(order.end(), spatial.begin(), spatial.end());
  order.push_back(back);
  return order;
}

// first, first + 1, …, first + size - 1.
DimensionVector Range(int64_t first, size_t size) {
  DimensionVector range = IdentityPermutation(static_cast<int64_t>(size));
  for (int64_t& d : range) d += first;
  return range;
}

bool Canonicalize(Rewriter& r, InstructionId id) {
  const Instruction& convolution = r[id];
  if (convolution.operand_count() != 2 ||
      convolution.attributes().convolution == nullptr) {
    return false;
  }
  ConvolutionDimensions d = *convolution.attributes().convolution;
  const size_t spatial = d.input_spatial.size();
  const DimensionVector input =
      Around(d.input_batch, d.input_spatial, d.input_feature);
  DimensionVector kernel = d.kernel_spatial;
  kernel.push_back(d.kernel_input_feature);
  kernel.push_back(d.kernel_output_feature);
  const DimensionVector output =
      Around(d.output_batch, d.output_spatial, d.output_feature);
  if (IsIdentityPermutation(input) && IsIdentityPermutation(kernel) &&
      IsIdentityPermutation(output)) {
    return false;
  }
  const int64_t last = static_cast<int64_t>(spatial) + 1;
  d.input_batch = d.output_batch = 0;
  d.input_spatial = d.output_spatial = Range(1, spatial);
  d.input_feature = d.output_feature = last;
  d.kernel_spatial = Range(0, spatial);
  d.kernel_input_feature = last - 1;
  d.kernel_output_feature = last;

  Attributes attributes = convolution.attributes();
  attributes.convolution =
      std::make_shared<const ConvolutionDimensions>(std::move(d));
  const InstructionId canonical =
      MakeLike(r, id,
               {MakeTranspose(r, convolution.operand(0), input),
                MakeTranspose(r, convolution.operand(1), kernel)},
               std::move(attributes));
  return r.Replace(id, MakeTranspose(r, canonical, InversePermutation(output)));
}

class ConvolutionCanonicalization final : public Pass {
 public:
  absl::string_view name() const override {
    return "convolution-canonicalization";
  }

  absl::StatusOr<bool> Run(Module& module,
                           const RewriteOptions& options) const override {
    return RewriteComputation(module, module.entry(),
                              {.name = name(),
                               .numeric_class = NumericClass::kReassociates,
                               .opcodes = {Opcode::kConvolution}},
                              options, Canonicalize);
  }
};

}  // namespace

std::unique_ptr<Pass> MakeConvolutionCanonicalization() {
  return std::make_unique<ConvolutionCanonicalization>();
}

}  // namespace hone::hlo
