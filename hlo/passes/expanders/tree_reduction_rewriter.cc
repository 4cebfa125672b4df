// tree_reduction_rewriter: reduces large dimensions in two steps.
//
//   reduce(x), dimensions={d}, d of size n > 32
//     →  reduce(reduce-window(x), dimensions={d}),
//        window of 32 along d in steps of 32
//
// so that up to 32 neighbors are combined before blocks are: the rounding of a
// long floating-point sum grows with the logarithm of its length, and blocks
// can be computed in parallel. Dimensions of n ≤ 32 elements beside a large one
// become windows of n. A window that does not fill its dimension is padded on
// both sides, the odd one at the end.
//
// Legal where the padding changes nothing and the order of combination is free:
// the region is one associative operation and the initial value its identity.
// Exact for maxima, minima, integers and logic; reassociates sums of f32 and
// wider. Products and sums in narrower floats change the range: a block of a
// product may overflow where the product of all does not, and the sum of a
// block is rounded to its type, where a backend keeps that of a reduction in
// f32; both only with numerics=fast, while upstream rewrites them always. Not
// for reductions of several arrays at once and dynamic shapes, and not for what
// XLA:CPU hands to a library that blocks by itself: sums, maxima and minima of
// f32 arrays of 4096 elements or more that are not transposes. It adds an
// instruction for each reduction on purpose, and once more for dimensions over
// 32² when it is run again.

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "hlo/passes/registry.h"
#include "hlo/passes/rule_pass.h"
#include "hlo/rewrite/makers.h"
#include "hlo/rewrite/regions/reductions.h"
#include "hlo/rewrite/values.h"

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

NumericClass ClassOf(Opcode opcode, ElementType type) {
  if (!IsFloat(type) || opcode == Opcode::kMaximum ||
      opcode == Opcode::kMinimum) {
    return NumericClass::kExact;
  }
  return opcode == Opcode::kAdd && BitWidth(type) >= 32
             ? NumericClass::kReassociates
             : NumericClass::kChangesRange;
}

// The reduction of the operand of `reduce` in blocks.
InstructionId MakeBlockReduction(Rewriter& r, const Instruction& reduce) {
  Window window(r.dimensions_of(reduce.operand(0)).size());
  for (int64_t d : reduce.dimensions()) {
    const int64_t size = r.shape(reduce.operand(0)).dimension(d);
    WindowDimension& w = window[static_cast<size_t>(d)];
    w.size = w.stride = std::min(size, kWindow);
    const int64_t padding = (w.size - size % w.size) % w.size;
    w.padding_low = padding / 2;
    w.padding_high = padding - w.padding_low;
  }
  auto attributes = std::make_shared<Attributes>();
  attributes->window = std::make_shared<const Window>(std::move(window));
  Instruction blocks(Opcode::kReduceWindow, nullptr, reduce.operands(),
                     std::move(attributes));
  blocks.set_called(reduce.called());
  return r.Add(std::move(blocks));
}

bool RewriteReduction(Rewriter& r, InstructionId id) {
  const Instruction& reduce = r[id];
  if (reduce.operand_count() != 2) return false;
  const Instruction& operand = r[reduce.operand(0)];
  const Shape& shape = operand.shape();
  const DimensionVector& reduced = reduce.dimensions();
  if (shape.num_elements() == 0 ||
      std::all_of(reduced.begin(), reduced.end(),
                  [&](int64_t d) { return shape.dimension(d) <= kWindow; })) {
    return false;
  }
  const std::optional<Opcode> opcode =
      ReductionOpcode(r.module().computation(reduce.called()[0]));
  const Literal* init = UniformLiteral(r.computation(), reduce.operand(1));
  if (!opcode.has_value() || init == nullptr ||
      !IsReductionIdentity(*opcode, *init) || IsForLibrary(operand, *opcode) ||
      !r.Permits(ClassOf(*opcode, shape.element_type()))) {
    return false;
  }
  const InstructionId blocks = MakeBlockReduction(r, reduce);
  return r.Replace(id, MakeLike(r, id, {blocks, reduce.operand(1)}));
}

}  // namespace

std::unique_ptr<Pass> MakeTreeReductionRewriter() {
  return MakeRulePass(
      {.name = "tree_reduction_rewriter", .opcodes = {Opcode::kReduce}},
      RewriteReduction);
}

}  // namespace hone::hlo
