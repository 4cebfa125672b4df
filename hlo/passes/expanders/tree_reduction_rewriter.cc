// tree_reduction_rewriter: reduces large dimensions in two steps.
//
//   reduce(x), dimensions={d}, d of size n > 32
//     →  reduce(reduce-window(x), dimensions={d}),
//        window of 32 along d in steps of 32
//
// so that up to 32 neighbours are combined before blocks are: the rounding of a
// long floating-point sum grows with the logarithm of its length, and blocks
// can be computed in parallel. Dimensions of n ≤ 32 elements beside a large one
// become windows of n. A window that does not fill its dimension is padded on
// both sides, the odd one at the end.
//
// Legal where the padding changes nothing and the order of combination is free:
// the region is one associative operation and the initial value its identity.
// Not for reductions of several arrays at once and dynamic shapes, and not for
// what XLA:CPU hands to a library that blocks by itself: sums, maxima and
// minima of f32 arrays of 4096 elements or more that are not transposes. It
// adds an instruction for each reduction on purpose, and once more for
// dimensions over 32² when it is run again.

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "hlo/passes/registry.h"
#include "hlo/rewrite/builder.h"
#include "hlo/rewrite/rewrite_each.h"

namespace hone::hlo {
namespace {

constexpr int64_t kWindow = 32;

// Elements from which XLA:CPU calls a library: measured, between 2048 and 4096.
constexpr int64_t kLibraryElements = 4096;

bool IsForLibrary(const Instruction& operand, Opcode opcode) {
  return operand.shape().element_type() == ElementType::kF32 &&
         operand.shape().num_elements() >= kLibraryElements &&
         operand.opcode() != Opcode::kTranspose &&
         (opcode == Opcode::kAdd || opcode == Opcode::kMaximum ||
          opcode == Opcode::kMinimum);
}

bool IsLargeReduction(const Module& module, const Computation& computation,
                      const Instruction& reduce) {
  if (reduce.opcode() != Opcode::kReduce || !reduce.shape().IsArray()) {
    return false;
  }
  const Shape& shape = computation[reduce.operand(0)].shape();
  if (shape.is_dynamic() || shape.num_elements() == 0) return false;
  const DimensionVector& reduced = reduce.dimensions();
  if (std::all_of(reduced.begin(), reduced.end(),
                  [&](int64_t d) { return shape.dimension(d) <= kWindow; })) {
    return false;
  }
  const std::optional<Opcode> opcode =
      ReductionOpcode(module.computation(reduce.called()[0]));
  const Literal* init = UniformLiteral(computation, reduce.operand(1));
  return opcode.has_value() && init != nullptr &&
         IsReductionIdentity(*opcode, *init) &&
         !IsForLibrary(computation[reduce.operand(0)], *opcode);
}

Instruction MakeBlockReduction(const Computation& computation,
                               const Instruction& reduce) {
  const Shape& shape = computation[reduce.operand(0)].shape();
  DimensionVector blocks(shape.dimensions());
  Window window(blocks.size());
  for (int64_t d : reduce.dimensions()) {
    WindowDimension& w = window[static_cast<size_t>(d)];
    int64_t& count = blocks[static_cast<size_t>(d)];
    w.size = w.stride = std::min(count, kWindow);
    const int64_t padding = (w.size - count % w.size) % w.size;
    w.padding_low = padding / 2;
    w.padding_high = padding - w.padding_low;
    count = (count + padding) / w.size;
  }
  auto attributes = std::make_shared<Attributes>();
  attributes->window = std::make_shared<const Window>(std::move(window));
  Instruction result(
      Opcode::kReduceWindow, Shape::Array(shape.element_type(), blocks),
      {reduce.operand(0), reduce.operand(1)}, std::move(attributes));
  result.set_called(reduce.called());
  return result;
}

class TreeReductionRewriter final : public Pass {
 public:
  absl::string_view name() const override { return "tree_reduction_rewriter"; }

  absl::StatusOr<bool> Run(Module& module,
                           const RewriteOptions& /*options*/) const override {
    const auto matches = [&](const Computation& computation, InstructionId id) {
      return IsLargeReduction(module, computation, computation[id]);
    };
    return ExpandEach(module, matches,
                      [](Computation& computation, InstructionId id) {
                        const InstructionId blocks = computation.AddInstruction(
                            MakeBlockReduction(computation, computation[id]));
                        computation.ReplaceOperand(id, 0, blocks);
                      });
  }
};

}  // namespace

std::unique_ptr<Pass> MakeTreeReductionRewriter() {
  return std::make_unique<TreeReductionRewriter>();
}

}  // namespace hone::hlo
