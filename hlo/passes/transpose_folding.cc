#include <algorithm>
#include <memory>
#include <utility>

#include "hlo/passes/builder.h"
#include "hlo/passes/registry.h"

namespace hone::hlo {
namespace {

// Names dimensions of a transpose's operand in place of those of its result.
void MapThrough(const DimensionVector& permutation,
                DimensionVector& dimensions) {
  for (int64_t& d : dimensions) d = permutation[static_cast<size_t>(d)];
}
void MapThrough(const DimensionVector& permutation, int64_t& dimension) {
  dimension = permutation[static_cast<size_t>(dimension)];
}

// The instruction `id` with other operands, attributes and, if given, shape.
Instruction Rebuilt(const Instruction& instruction, InstructionIds operands,
                    Attributes attributes, ShapePtr shape) {
  Instruction result(instruction.opcode(), std::move(shape), operands,
                     std::make_shared<const Attributes>(std::move(attributes)));
  result.set_metadata(instruction.metadata());
  return result;
}

// Whether what Hone does not know about the instruction says nothing about its
// dimensions (a sharding would).
bool HasOnlyPrecision(const Attributes& attributes) {
  return std::all_of(attributes.others.begin(), attributes.others.end(),
                     [](const auto& attribute) {
                       return attribute.first == "operand_precision" ||
                              attribute.first == "algorithm";
                     });
}

// The dimensions of an operand that are neither batch nor contracting
// stay in ascending order when renamed by `permutation`.
bool KeepsFreeOrder(const DimensionVector& permutation,
                    const DimensionVector& batch,
                    const DimensionVector& contracting) {
  const auto contains = [](const DimensionVector& v, int64_t d) {
    return std::find(v.begin(), v.end(), d) != v.end();
  };
  int64_t last = -1;
  for (int64_t d = 0; d < static_cast<int64_t>(permutation.size()); ++d) {
    if (contains(batch, d) || contains(contracting, d)) continue;
    const int64_t source = permutation[static_cast<size_t>(d)];
    if (source < last) return false;
    last = source;
  }
  return true;
}

class Folder {
 public:
  Folder(Module& module, ComputationId id)
      : module_(module), id_(id), current_(&module.computation(id)) {}

  bool Run() {
    bool changed = false;
    const InstructionId slots = current_->slot_count();
    for (InstructionId id = 0; id < slots; ++id) {
      // A fold leaves a new instruction, which may fold again.
      InstructionId next = id;
      while (next != kNoInstruction && (*current_)[next].is_live()) {
        next = Fold(next);
        changed |= next != kNoInstruction;
      }
    }
    return changed;
  }

 private:
  // The instruction that replaces `id`, or kNoInstruction.
  InstructionId Fold(InstructionId id) {
    const Instruction& instruction = (*current_)[id];
    switch (instruction.opcode()) {
      case Opcode::kDot:
        return FoldDot(id);
      case Opcode::kConvolution:
        return FoldConvolutionOperand(id);
      case Opcode::kTranspose:
        return FoldConvolutionResult(id);
      default:
        return kNoInstruction;
    }
  }

  bool IsEligible(const Instruction& instruction, InstructionId id) const {
    return instruction.operand_count() == 2 &&
           HasOnlyPrecision(instruction.attributes()) &&
           !current_->HasControlDependency(id);
  }

  // A transpose whose operand may be used in its place.
  bool IsTranspose(InstructionId id) const {
    const Instruction& instruction = (*current_)[id];
    return instruction.opcode() == Opcode::kTranspose &&
           !instruction.shape().is_dynamic();
  }

  InstructionId FoldDot(InstructionId id) {
    const Instruction& dot = (*current_)[id];
    if (!IsEligible(dot, id) || dot.attributes().dot == nullptr) {
      return kNoInstruction;
    }
    InstructionIds operands = dot.operands();
    DotDimensions dimensions = *dot.attributes().dot;
    bool folded = false;
    for (size_t i = 0; i < 2; ++i) {
      const Instruction& operand = (*current_)[operands[i]];
      if (!IsTranspose(operands[i])) continue;
      DimensionVector& batch =
          i == 0 ? dimensions.lhs_batch : dimensions.rhs_batch;
      DimensionVector& contracting =
          i == 0 ? dimensions.lhs_contracting : dimensions.rhs_contracting;
      if (!KeepsFreeOrder(operand.dimensions(), batch, contracting)) continue;
      MapThrough(operand.dimensions(), batch);
      MapThrough(operand.dimensions(), contracting);
      operands[i] = operand.operand(0);
      folded = true;
    }
    if (!folded) return kNoInstruction;
    Attributes attributes = dot.attributes();
    attributes.dot = std::make_shared<DotDimensions>(std::move(dimensions));
    return Replace(
        id, Rebuilt(dot, operands, std::move(attributes), dot.shape_ptr()));
  }

  InstructionId FoldConvolutionOperand(InstructionId id) {
    const Instruction& convolution = (*current_)[id];
    if (!IsEligible(convolution, id) ||
        convolution.attributes().convolution == nullptr) {
      return kNoInstruction;
    }
    InstructionIds operands = convolution.operands();
    ConvolutionDimensions d = *convolution.attributes().convolution;
    bool folded = false;
    if (IsTranspose(operands[0])) {
      const DimensionVector& permutation =
          (*current_)[operands[0]].dimensions();
      MapThrough(permutation, d.input_batch);
      MapThrough(permutation, d.input_feature);
      MapThrough(permutation, d.input_spatial);
      operands[0] = (*current_)[operands[0]].operand(0);
      folded = true;
    }
    if (IsTranspose(operands[1])) {
      const DimensionVector& permutation =
          (*current_)[operands[1]].dimensions();
      MapThrough(permutation, d.kernel_input_feature);
      MapThrough(permutation, d.kernel_output_feature);
      MapThrough(permutation, d.kernel_spatial);
      operands[1] = (*current_)[operands[1]].operand(0);
      folded = true;
    }
    if (!folded) return kNoInstruction;
    Attributes attributes = convolution.attributes();
    attributes.convolution =
        std::make_shared<ConvolutionDimensions>(std::move(d));
    return Replace(id, Rebuilt(convolution, operands, std::move(attributes),
                               convolution.shape_ptr()));
  }

  InstructionId FoldConvolutionResult(InstructionId id) {
    const Instruction& transpose = (*current_)[id];
    const InstructionId operand = transpose.operand(0);
    const Instruction& convolution = (*current_)[operand];
    if (convolution.opcode() != Opcode::kConvolution ||
        convolution.users().size() != 1 || operand == current_->root() ||
        convolution.attributes().convolution == nullptr ||
        transpose.shape().is_dynamic() || !IsEligible(convolution, operand) ||
        current_->HasControlDependency(id) ||
        !transpose.attributes().others.empty()) {
      return kNoInstruction;
    }
    const DimensionVector inverse = InversePermutation(transpose.dimensions());
    ConvolutionDimensions d = *convolution.attributes().convolution;
    MapThrough(inverse, d.output_batch);
    MapThrough(inverse, d.output_feature);
    MapThrough(inverse, d.output_spatial);
    Attributes attributes = convolution.attributes();
    attributes.convolution =
        std::make_shared<ConvolutionDimensions>(std::move(d));
    return Replace(id, Rebuilt(convolution, convolution.operands(),
                               std::move(attributes), transpose.shape_ptr()));
  }

  InstructionId Replace(InstructionId old, Instruction instruction) {
    Computation& c = module_.mutable_computation(id_, &replaced_);
    current_ = &c;
    const InstructionId replacement = c.AddInstruction(std::move(instruction));
    c.ReplaceAllUses(old, replacement);
    c.RemoveWithUnusedOperands(old);
    return replacement;
  }

  Module& module_;
  ComputationId id_;
  const Computation* current_;
  // Keeps the references into a computation valid that Replace copied.
  std::shared_ptr<const Computation> replaced_;
};

// dot(transpose(a), b) → dot(a, b) with other dimension numbers, likewise b:
//   legal when the transpose keeps the order of the free dimensions, as these
//   make up the result.
// convolution(transpose(x), transpose(k)) → convolution(x, k) with other labels
// transpose(convolution(x, k)) → convolution(x, k) with other output labels:
//   when the convolution has no other user.
//
// A transpose with other users stays for them. Scheduled modules are left as
// they are.
class TransposeFolding final : public Pass {
 public:
  absl::string_view name() const override { return "transpose-folding"; }

  absl::StatusOr<bool> Run(Module& module) const override {
    if (module.is_scheduled()) return false;
    bool changed = false;
    for (ComputationId id = 0; id < module.computation_slots(); ++id) {
      if (module.has_computation(id)) changed |= Folder(module, id).Run();
    }
    return changed;
  }
};

}  // namespace

std::unique_ptr<Pass> MakeTransposeFolding() {
  return std::make_unique<TransposeFolding>();
}

}  // namespace hone::hlo
