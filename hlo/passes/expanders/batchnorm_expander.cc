// batchnorm_expander: spells batch normalization out.
//
//   batch-norm-inference(x, scale, offset, mean, variance)
//     →  (x - mean) * rsqrt(variance + epsilon) * scale + offset
//   batch-norm-training(x, scale, offset)
//     →  (y, mean, variance),  mean and variance of x over all but the feature
//        dimension,  y = (x - mean) * rsqrt(variance + epsilon) * scale +
//        offset
//   batch-norm-grad(x, scale, mean, variance, dy)
//     →  (dx, dscale, sum(dy)),  dscale = sum(dy * z),
//        z = (x - mean) * r,  r = rsqrt(variance + epsilon),
//        dx = scale * r * (dy - sum(dy) / n - z * dscale / n)
//
// where feature vectors are broadcast and n is the elements per feature. For
// code generators that have no such instruction, and so that what it consists
// of can be simplified and fused.
//
// Reassociates: these are the definitions, in their order of operations and, as
// n and sums of n elements leave the range of narrow types, in f32 at least.
// Upstream computes inference as x * s + (offset - mean * s) with
// s = scale * rsqrt(variance + epsilon), an operation less, which overflows
// where x - mean does not: a change of range, so only with numerics=fast. The
// variance is the mean of squared differences, where upstream subtracts
// squares. Not for dynamic or empty arrays.

#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "hlo/passes/registry.h"
#include "hlo/rewrite/dimensions.h"
#include "hlo/rewrite/driver.h"
#include "hlo/rewrite/makers.h"
#include "hlo/rewrite/regions/named_region.h"

namespace hone::hlo {
namespace {

// Regions that add scalars, by element type.
using SumRegions = absl::flat_hash_map<ElementType, ComputationId>;

// Expands one instruction.
class Expander {
 public:
  Expander(Module& module, Rewriter& r, InstructionId id, SumRegions& sums)
      : module_(module),
        r_(r),
        id_(id),
        sums_(sums),
        feature_(r[id].attributes().feature_index),
        sizes_(r.dimensions_of(r.operand(id, 0))),
        given_(r.shape(r.operand(id, 0)).element_type()),
        type_(BitWidth(given_) < 32 ? ElementType::kF32 : given_) {
    for (InstructionId operand : r[id].operands()) {
      operands_.push_back(MakeConvert(r, operand, type_));
    }
  }

  InstructionId Run() {
    switch (r_[id_].opcode()) {
      case Opcode::kBatchNormInference:
        return r_.Permits(NumericClass::kChangesRange) ? ScaledInference()
                                                       : Inference();
      case Opcode::kBatchNormTraining:
        return Training();
      default:
        return Gradient();
    }
  }

 private:
  InstructionId Plus(InstructionId a, InstructionId b) {
    return MakeBinary(r_, Opcode::kAdd, a, b);
  }
  InstructionId Minus(InstructionId a, InstructionId b) {
    return MakeBinary(r_, Opcode::kSubtract, a, b);
  }
  InstructionId Times(InstructionId a, InstructionId b) {
    return MakeBinary(r_, Opcode::kMultiply, a, b);
  }
  // The same value for every feature.
  InstructionId PerFeature(double value) {
    return MakeUniform(r_, Literal::Scalar(type_, value),
                       {sizes_[static_cast<size_t>(feature_)]});
  }
  // A value per feature for every element.
  InstructionId Spread(InstructionId vector) {
    return MakeBroadcast(r_, vector, sizes_, {feature_});
  }
  InstructionId SumPerFeature(InstructionId x) {
    auto [sum, is_new] = sums_.try_emplace(type_, kNoComputation);
    if (is_new) sum->second = AddSumRegion(module_, type_);
    return MakeReduce(
        r_, x, MakeConstant(r_, Literal::Scalar(type_, 0)),
        OtherDimensions({feature_}, static_cast<int64_t>(sizes_.size())),
        sum->second);
  }
  double ElementsPerFeature() const {
    double n = 1;
    for (int64_t size : sizes_) n *= static_cast<double>(size);
    return n / static_cast<double>(sizes_[static_cast<size_t>(feature_)]);
  }
  InstructionId MeanPerFeature(InstructionId x) {
    return MakeBinary(r_, Opcode::kDivide, SumPerFeature(x),
                      PerFeature(ElementsPerFeature()));
  }
  // rsqrt(variance + epsilon)
  InstructionId InverseDeviation(InstructionId variance) {
    const auto epsilon = static_cast<double>(r_[id_].attributes().epsilon);
    return MakeUnary(r_, Opcode::kRsqrt, Plus(variance, PerFeature(epsilon)));
  }
  // The result in the type of the instruction.
  InstructionId Result(InstructionId value) {
    return MakeConvert(r_, value, given_);
  }
  InstructionId Results(InstructionId a, InstructionId b, InstructionId c) {
    return MakeTuple(r_, {Result(a), Result(b), Result(c)});
  }

  // (x - mean) * rsqrt(variance + epsilon) * scale + offset
  InstructionId Normalized(InstructionId centered, InstructionId variance) {
    const InstructionId z = Times(centered, Spread(InverseDeviation(variance)));
    return Plus(Times(z, Spread(operands_[1])), Spread(operands_[2]));
  }

  InstructionId Inference() {
    const InstructionId centered = Minus(operands_[0], Spread(operands_[3]));
    return Result(Normalized(centered, operands_[4]));
  }

  InstructionId ScaledInference() {
    const InstructionId scale =
        Times(operands_[1], InverseDeviation(operands_[4]));
    const InstructionId shift = Minus(operands_[2], Times(operands_[3], scale));
    return Result(Plus(Times(operands_[0], Spread(scale)), Spread(shift)));
  }

  InstructionId Training() {
    const InstructionId mean = MeanPerFeature(operands_[0]);
    const InstructionId centered = Minus(operands_[0], Spread(mean));
    const InstructionId variance = MeanPerFeature(Times(centered, centered));
    return Results(Normalized(centered, variance), mean, variance);
  }

  InstructionId Gradient() {
    const InstructionId dy = operands_[4];
    const InstructionId inverse = InverseDeviation(operands_[3]);
    const InstructionId z =
        Times(Minus(operands_[0], Spread(operands_[2])), Spread(inverse));
    const InstructionId dscale = SumPerFeature(Times(dy, z));
    const InstructionId doffset = SumPerFeature(dy);
    const InstructionId share = PerFeature(1 / ElementsPerFeature());
    // What dy contributes through the mean, and through the variance.
    const InstructionId by_mean = Spread(Times(doffset, share));
    const InstructionId by_variance = Times(z, Spread(Times(dscale, share)));
    const InstructionId change = Minus(Minus(dy, by_mean), by_variance);
    const InstructionId dx =
        Times(change, Spread(Times(operands_[1], inverse)));
    return Results(dx, dscale, doffset);
  }

  Module& module_;
  Rewriter& r_;
  const InstructionId id_;
  SumRegions& sums_;
  const int64_t feature_;
  // Of the operand.
  const DimensionVector sizes_;
  // The element type of the instruction, and the one computed in.
  const ElementType given_;
  const ElementType type_;
  std::vector<InstructionId> operands_;
};

class BatchnormExpander final : public Pass {
 public:
  absl::string_view name() const override { return "batchnorm_expander"; }

  absl::StatusOr<bool> Run(Module& module,
                           const RewriteOptions& options) const override {
    SumRegions sums;
    return RewriteModule(
        module,
        {.name = name(),
         .numeric_class = NumericClass::kReassociates,
         .opcodes = {Opcode::kBatchNormGrad, Opcode::kBatchNormInference,
                     Opcode::kBatchNormTraining}},
        options, [&](Rewriter& r, InstructionId id) {
          if (r.shape(r.operand(id, 0)).num_elements() == 0) return false;
          return r.Replace(id, Expander(module, r, id, sums).Run());
        });
  }
};

}  // namespace

std::unique_ptr<Pass> MakeBatchnormExpander() {
  return std::make_unique<BatchnormExpander>();
}

}  // namespace hone::hlo
