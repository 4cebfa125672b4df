#include "hlo/fusion/fusion_space.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/algorithm/container.h"

#include "hlo/fusion/executed_regions.h"
#include "hlo/fusion/kernel_module.h"
#include "hlo/ir/opcode_set.h"
#include "hlo/rewrite/carried_attributes.h"
#include "hlo/rewrite/layouts.h"

namespace hone::hlo {
namespace {

const OpcodeSet& Movements() {
  static const OpcodeSet opcodes = {
      Opcode::kBroadcast, Opcode::kConcatenate, Opcode::kDynamicSlice,
      Opcode::kIota,      Opcode::kPad,         Opcode::kReshape,
      Opcode::kReverse,   Opcode::kSlice,       Opcode::kTranspose,
  };
  return opcodes;
}

bool IsStaticArray(const Shape& shape) {
  return shape.IsArray() && !shape.is_dynamic();
}

// Returns true if neither `instruction` nor its place forbids that a kernel
// computes other instructions with it.
bool IsOrdinary(const Computation& computation,
                const Instruction& instruction) {
  return !computation.HasControlDependency(instruction.id()) &&
         AttributesPermitReplacing(instruction) &&
         absl::c_all_of(instruction.operands(), [&](InstructionId operand) {
           return IsStaticArray(computation[operand].shape());
         });
}

double ByteSize(const Shape& shape) {
  return static_cast<double>(shape.byte_size());
}

bool IsSignificant(const Computation& computation, const Instruction& reduce) {
  double read = 0;
  for (const InstructionId operand : reduce.operands()) {
    read += ByteSize(computation[operand].shape());
  }
  return read >= FusionSpace::kSignificantReduction * ByteSize(reduce.shape());
}

// Returns false for forms of contractions that XLA:CPU takes away before it
// fuses. Inside of a fusion it computes a wrong result of a convolution with
// batch groups or a reversed window, and does not compile one that is strided
// and dilated in the same dimension, or operands of another type than the
// result.
bool IsFusibleContraction(const Computation& computation,
                          const Instruction& instruction) {
  for (const InstructionId operand : instruction.operands()) {
    if (computation[operand].shape().element_type() !=
        instruction.shape().element_type()) {
      return false;
    }
  }
  const Attributes& attributes = instruction.attributes();
  if (attributes.convolution == nullptr) return true;
  return attributes.convolution->batch_group_count == 1 &&
         (attributes.window == nullptr ||
          absl::c_all_of(*attributes.window, [](const WindowDimension& d) {
            return !d.reversal && (d.stride == 1 || d.base_dilation == 1);
          }));
}

// Returns false for a dot in another form than one contracted dimension behind
// the batch dimensions, which come first. XLA:CPU emits such a dot inside of a
// fusion, but not as its root.
bool MayEndKernel(const Instruction& instruction) {
  const DotDimensions* dot = instruction.attributes().dot.get();
  if (instruction.opcode() != Opcode::kDot || dot == nullptr) return true;
  const auto is_leading = [](const DimensionVector& batch) {
    for (size_t i = 0; i < batch.size(); ++i) {
      if (batch[i] != static_cast<int64_t>(i)) return false;
    }
    return true;
  };
  return dot->lhs_contracting.size() == 1 && dot->rhs_contracting.size() == 1 &&
         is_leading(dot->lhs_batch) && is_leading(dot->rhs_batch);
}

// XLA:CPU, which has to compile every fused module, emits the element of a
// fusion's result as a function of its index. It does so for the opcodes below,
// dot and convolution included, which it then computes without its libraries.
// It expands others, and so does not know them inside of a fusion: gather
// (unless in a form that only its own passes make), scatter, sort,
// select-and-scatter, fft, cholesky, triangular-solve, batch norms, topk,
// random bits. These are kernels by themselves here.
FusionRole RoleOf(const Module& module, const Computation& computation,
                  const Instruction& instruction) {
  const Opcode opcode = instruction.opcode();
  if (!HasKernel(instruction)) return FusionRole::kSource;
  if (module.is_scheduled() || !IsOrdinary(computation, instruction) ||
      module.HasSideEffect(instruction)) {
    return FusionRole::kAlone;
  }
  if (opcode == Opcode::kReduce) {
    if (instruction.shape().IsTuple()) return FusionRole::kRootOnly;
    return IsSignificant(computation, instruction) ? FusionRole::kHero
                                                   : FusionRole::kMovement;
  }
  if (!IsStaticArray(instruction.shape())) return FusionRole::kAlone;
  if (opcode == Opcode::kDot || opcode == Opcode::kConvolution) {
    return IsFusibleContraction(computation, instruction) ? FusionRole::kHero
                                                          : FusionRole::kAlone;
  }
  if (opcode == Opcode::kReduceWindow) return FusionRole::kHero;
  if (opcode == Opcode::kDynamicUpdateSlice) return FusionRole::kRootOnly;
  if (IsElementwise(opcode) || opcode == Opcode::kMap) {
    return FusionRole::kElementwise;
  }
  return Movements().Contains(opcode) ? FusionRole::kMovement
                                      : FusionRole::kAlone;
}

// A matrix, or several, of which both dimensions count.
bool HasTwoDimensions(const Shape& shape) {
  return IsPlainArray(shape) && shape.layout() == nullptr &&
         shape.rank() >= 2 && shape.dimension(shape.rank() - 1) > 1 &&
         shape.dimension(shape.rank() - 2) > 1;
}

}  // namespace

FusionSpace::FusionSpace(Module module) : module_(std::move(module)) {
  AddNodes();
  AddEdges();
  FindChoices();
}

void FusionSpace::AddNodes() {
  index_of_.resize(static_cast<size_t>(module_.computation_slots()));
  std::vector<FusionNode> sources;
  for (const ExecutedRegion& region : ExecutedRegions(module_)) {
    const Computation& computation = module_.computation(region.computation);
    index_of_[static_cast<size_t>(region.computation)].resize(
        static_cast<size_t>(computation.slot_count()), -1);
    for (const InstructionId id : region.instructions) {
      FusionNode node;
      node.computation = region.computation;
      node.instruction = id;
      node.role = RoleOf(module_, computation, computation[id]);
      node.may_end = MayEndKernel(computation[id]);
      node.executions = region.executions;
      if (IsEmbeddedConstant(computation[id])) continue;
      (node.role == FusionRole::kSource ? sources : nodes_).push_back(node);
    }
  }
  nodes_.insert(nodes_.end(), sources.begin(), sources.end());
  for (size_t i = 0; i < nodes_.size(); ++i) {
    index_of_[static_cast<size_t>(nodes_[i].computation)]
             [static_cast<size_t>(nodes_[i].instruction)] =
                 static_cast<FusionIndex>(i);
  }
}

void FusionSpace::AddEdges() {
  producers_begin_.push_back(0);
  std::vector<size_t> counts(size() + 1);
  for (size_t i = 0; i < size(); ++i) {
    const auto index = static_cast<FusionIndex>(i);
    const auto begin = static_cast<std::ptrdiff_t>(producers_.size());
    for (const InstructionId operand : instruction(index).operands()) {
      const FusionIndex from = IndexOf(node(index).computation, operand);
      if (from >= 0) producers_.push_back(from);
    }
    std::sort(producers_.begin() + begin, producers_.end());
    producers_.erase(std::unique(producers_.begin() + begin, producers_.end()),
                     producers_.end());
    for (size_t e = static_cast<size_t>(begin); e < producers_.size(); ++e) {
      ++counts[static_cast<size_t>(producers_[e]) + 1];
    }
    producers_begin_.push_back(producers_.size());
  }
  consumers_begin_ = std::move(counts);
  std::partial_sum(consumers_begin_.begin(), consumers_begin_.end(),
                   consumers_begin_.begin());
  consumers_.resize(producers_.size());
  std::vector<size_t> next(consumers_begin_.begin(),
                           consumers_begin_.end() - 1);
  for (size_t i = 0; i < size(); ++i) {
    const auto index = static_cast<FusionIndex>(i);
    for (const FusionIndex from : producers(index)) {
      consumers_[next[static_cast<size_t>(from)]++] = index;
    }
  }
}

void FusionSpace::FindChoices() {
  for (size_t i = size(); i-- > 0;) {
    const auto index = static_cast<FusionIndex>(i);
    FusionNode& node = nodes_[i];
    const bool joins_others =
        node.role != FusionRole::kSource && node.role != FusionRole::kAlone;
    const bool is_inner =
        joins_others && !consumers(index).empty() &&
        module_.computation(node.computation).root() != node.instruction &&
        absl::c_all_of(consumers(index), [&](FusionIndex user) {
          const FusionRole role = this->node(user).role;
          return role != FusionRole::kSource && role != FusionRole::kAlone;
        });
    const Instruction& instruction = this->instruction(index);
    node.may_fuse = is_inner && node.role != FusionRole::kRootOnly;
    node.is_cheap = node.may_fuse && producers(index).empty() &&
                    (instruction.opcode() == Opcode::kIota ||
                     instruction.opcode() == Opcode::kBroadcast);
    node.may_swap = is_inner && HasTwoDimensions(instruction.shape());
    if (node.may_fuse) fusible_.push_back(index);
    if (node.may_swap) swappable_.push_back(index);
  }
  std::reverse(swappable_.begin(), swappable_.end());
}

std::string FusionSpace::NameOf(FusionIndex i) const {
  const Instruction& instruction = this->instruction(i);
  return instruction.name().empty()
             ? std::string(OpcodeName(instruction.opcode()))
             : instruction.name();
}

ShapePtr FusionSpace::ShapeInMemory(FusionIndex i,
                                    absl::Span<const uint8_t> layouts) const {
  const Instruction& instruction = this->instruction(i);
  if (layouts[static_cast<size_t>(i)] == 0 || !node(i).may_swap) {
    return instruction.shape_ptr();
  }
  Layout layout;
  for (int64_t d = instruction.shape().rank(); d-- > 0;) {
    layout.minor_to_major.push_back(d);
  }
  std::swap(layout.minor_to_major[0], layout.minor_to_major[1]);
  Shape shape = instruction.shape();
  shape.set_layout(std::move(layout));
  return std::make_shared<const Shape>(std::move(shape));
}

FusionIndex FusionSpace::IndexOf(ComputationId computation,
                                 InstructionId id) const {
  const std::vector<FusionIndex>& indices =
      index_of_[static_cast<size_t>(computation)];
  const auto at = static_cast<size_t>(id);
  return at < indices.size() ? indices[at] : -1;
}

}  // namespace hone::hlo
