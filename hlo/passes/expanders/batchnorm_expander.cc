// batchnorm_expander: spells batch normalisation out.
//
//   batch-norm-inference(x, scale, offset, mean, variance)
//     →  x * s + (offset - mean * s),  s = scale * rsqrt(variance + epsilon)
//   batch-norm-training(x, scale, offset)
//     →  (y, mean, variance),  mean and variance of x over all but the feature
//        dimension,  y = (x - mean) * rsqrt(variance + epsilon) * scale +
//        offset
//   batch-norm-grad(x, scale, mean, variance, dy)
//     →  (dx, dscale, sum(dy)),  dscale = sum(dy * (x - mean)) * r,
//        r = rsqrt(variance + epsilon),
//        dx = scale * r * (dy - (sum(dy) + (x - mean) * r * dscale) / n)
//
// where feature vectors are broadcast and n is the elements per feature. For
// code generators that have no such instruction, and so that what it consists
// of can be simplified and fused. Legal up to rounding; the variance is the
// mean of squared differences, where upstream subtracts squares. Not for
// dynamic or empty arrays, sharded results, ends of control dependencies and
// scheduled modules.

#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "hlo/passes/registry.h"
#include "hlo/rewrite/builder.h"
#include "hlo/rewrite/call_sites.h"
#include "hlo/rewrite/named_region.h"

namespace hone::hlo {
namespace {

// Regions that add scalars, by element type.
using SumRegions = absl::flat_hash_map<ElementType, ComputationId>;

// Expands one instruction.
class Expander {
 public:
  Expander(Computation& computation, InstructionId id, const SumRegions& sums)
      : computation_(computation),
        id_(id),
        sum_(sums.at(computation[operand(0)].shape().element_type())),
        feature_(computation[id].attributes().feature_index) {}

  void Run() {
    InstructionId result = kNoInstruction;
    switch (computation_[id_].opcode()) {
      case Opcode::kBatchNormInference:
        result = Inference();
        break;
      case Opcode::kBatchNormTraining:
        result = Training();
        break;
      default:
        result = Gradient();
        break;
    }
    computation_.ReplaceAllUses(id_, result);
    computation_.Remove(id_);
  }

 private:
  InstructionId operand(size_t i) const { return computation_[id_].operand(i); }
  const Shape& shape(InstructionId id) const {
    return computation_[id].shape();
  }

  InstructionId Add(Instruction instruction) {
    instruction.set_metadata(computation_[id_].metadata());
    return computation_.AddInstruction(std::move(instruction));
  }
  InstructionId Binary(Opcode opcode, InstructionId a, InstructionId b) {
    return Add(MakeBinary(opcode, computation_, a, b));
  }
  InstructionId Plus(InstructionId a, InstructionId b) {
    return Binary(Opcode::kAdd, a, b);
  }
  InstructionId Minus(InstructionId a, InstructionId b) {
    return Binary(Opcode::kSubtract, a, b);
  }
  InstructionId Times(InstructionId a, InstructionId b) {
    return Binary(Opcode::kMultiply, a, b);
  }
  InstructionId Scalar(double value) {
    return Add(Instruction::Constant(
        Literal::Scalar(shape(operand(0)).element_type(), value)));
  }
  // Of the shape of `like`.
  InstructionId Filled(double value, InstructionId like) {
    const InstructionId scalar = Scalar(value);
    return Add(
        MakeBroadcast(computation_, scalar, shape(like).dimensions(), {}));
  }
  // A value per feature for every element.
  InstructionId Spread(InstructionId vector) {
    return Add(MakeBroadcast(computation_, vector,
                             shape(operand(0)).dimensions(), {feature_}));
  }
  InstructionId SumPerFeature(InstructionId x) {
    DimensionVector others;
    for (int64_t d = 0; d < shape(x).rank(); ++d) {
      if (d != feature_) others.push_back(d);
    }
    const InstructionId zero = Scalar(0);
    const InstructionId sum = Add(Instruction(
        Opcode::kReduce,
        Shape::Array(shape(x).element_type(), {shape(x).dimension(feature_)}),
        {x, zero}, DimensionAttributes(others)));
    computation_.mutable_instruction(sum).set_called({sum_});
    return sum;
  }
  double ElementsPerFeature() const {
    const Shape& x = shape(operand(0));
    return static_cast<double>(x.num_elements() / x.dimension(feature_));
  }
  InstructionId MeanPerFeature(InstructionId x) {
    const InstructionId sum = SumPerFeature(x);
    return Binary(Opcode::kDivide, sum, Filled(ElementsPerFeature(), sum));
  }
  // rsqrt(variance + epsilon)
  InstructionId InverseDeviation(InstructionId variance) {
    const InstructionId epsilon = Filled(
        static_cast<double>(computation_[id_].attributes().epsilon), variance);
    return Add(
        MakeUnary(Opcode::kRsqrt, computation_, Plus(variance, epsilon)));
  }
  InstructionId Tuple(const InstructionIds& elements) {
    return Add(
        Instruction(Opcode::kTuple, computation_[id_].shape_ptr(), elements));
  }

  InstructionId Inference() {
    const InstructionId scale = Times(operand(1), InverseDeviation(operand(4)));
    const InstructionId shift = Minus(operand(2), Times(operand(3), scale));
    const InstructionId scaled = Times(operand(0), Spread(scale));
    return Plus(scaled, Spread(shift));
  }

  InstructionId Training() {
    const InstructionId x = operand(0);
    const InstructionId mean = MeanPerFeature(x);
    const InstructionId centred = Minus(x, Spread(mean));
    const InstructionId variance = MeanPerFeature(Times(centred, centred));
    const InstructionId scale = Times(operand(1), InverseDeviation(variance));
    const InstructionId scaled = Times(centred, Spread(scale));
    return Tuple({Plus(scaled, Spread(operand(2))), mean, variance});
  }

  InstructionId Gradient() {
    const InstructionId x = operand(0);
    const InstructionId dy = operand(4);
    const InstructionId inverse = InverseDeviation(operand(3));
    const InstructionId centred = Minus(x, Spread(operand(2)));
    const InstructionId dscale =
        Times(SumPerFeature(Times(dy, centred)), inverse);
    const InstructionId doffset = SumPerFeature(dy);
    const InstructionId share = Filled(1 / ElementsPerFeature(), doffset);
    // What dy contributes through the mean, and through the variance.
    const InstructionId by_mean = Spread(Times(doffset, share));
    const InstructionId by_variance =
        Times(centred, Spread(Times(Times(dscale, inverse), share)));
    const InstructionId change = Minus(Minus(dy, by_mean), by_variance);
    const InstructionId dx = Times(change, Spread(Times(operand(1), inverse)));
    return Tuple({dx, dscale, doffset});
  }

  Computation& computation_;
  const InstructionId id_;
  const ComputationId sum_;
  const int64_t feature_;
};

bool IsExpandable(const Computation& computation, InstructionId id) {
  const Instruction& instruction = computation[id];
  if (!instruction.is_live() ||
      (instruction.opcode() != Opcode::kBatchNormInference &&
       instruction.opcode() != Opcode::kBatchNormTraining &&
       instruction.opcode() != Opcode::kBatchNormGrad)) {
    return false;
  }
  const Shape& shape = computation[instruction.operand(0)].shape();
  return !shape.is_dynamic() && shape.num_elements() > 0 &&
         !IsSharded(instruction) && !computation.HasControlDependency(id);
}

class BatchnormExpander final : public Pass {
 public:
  absl::string_view name() const override { return "batchnorm_expander"; }

  absl::StatusOr<bool> Run(Module& module,
                           const RewriteOptions& /*options*/) const override {
    if (module.is_scheduled()) return false;
    bool changed = false;
    SumRegions sums;
    std::vector<InstructionId> found;
    const ComputationId slots = module.computation_slots();
    for (ComputationId c = 0; c < slots; ++c) {
      if (!module.has_computation(c)) continue;
      found.clear();
      const Computation& shared = module.computation(c);
      for (InstructionId id = 0; id < shared.slot_count(); ++id) {
        if (IsExpandable(shared, id)) found.push_back(id);
      }
      for (InstructionId id : found) {
        Expand(module, c, id, sums);
        changed = true;
      }
    }
    if (changed) module.RemoveUnreachableComputations();
    return changed;
  }

 private:
  static void Expand(Module& module, ComputationId c, InstructionId id,
                     SumRegions& sums) {
    const Computation& shared = module.computation(c);
    const ElementType type =
        shared[shared[id].operand(0)].shape().element_type();
    // Inference sums nothing up: RemoveUnreachableComputations takes it away.
    if (!sums.contains(type)) sums[type] = AddSumRegion(module, type);
    Expander(module.mutable_computation(c), id, sums).Run();
  }
};

}  // namespace

std::unique_ptr<Pass> MakeBatchnormExpander() {
  return std::make_unique<BatchnormExpander>();
}

}  // namespace hone::hlo
