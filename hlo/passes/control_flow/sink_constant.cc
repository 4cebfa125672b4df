#include "hlo/passes/control_flow/sink_constant.h"

#include "hlo/rewrite/carried_attributes.h"
#include "hlo/rewrite/makers.h"
#include "hlo/rewrite/values.h"

namespace hone::hlo {
namespace {

bool MaySink(const Rewriter& r, InstructionId read, const Literal& literal) {
  const Shape& shape = r.shape(read);
  const bool is_used =
      !r[read].users().empty() || r.computation().root() == read;
  return is_used && r.MayReplace(read, /*dynamic=*/true) &&
         Shape::Equal(shape, literal.shape()) &&
         (Shape::Equal(shape, literal.shape(), /*ignore_layout=*/false) ||
          !r.LayoutIsSeen(read));
}

// Moves all uses of `read` but operand `i` of `result` to `value`; returns true
// if there were any.
bool MoveOtherUses(Rewriter& r, InstructionId read, InstructionId value,
                   InstructionId result, size_t i) {
  bool moved = false;
  for (InstructionId user : InstructionIds(r[read].users())) {
    for (size_t k = 0; k < r[user].operand_count(); ++k) {
      if (r.operand(user, k) != read || (user == result && k == i)) continue;
      r.SetOperand(user, k, value);
      moved = true;
    }
  }
  return moved;
}

// Replaces the reads of element `i` of `state`; where `result` is not
// kNoInstruction, its operand `i` stays.
bool SinkInto(Rewriter& r, InstructionId state, int32_t i,
              const Literal& literal, InstructionId result) {
  const InstructionIds reads = LoopRewriter::Reads(r, state, i);
  if (reads.empty()) return false;
  const InstructionId value = MakeConstant(r, literal);
  const auto place = static_cast<size_t>(i);
  bool changed = false;
  for (InstructionId read : reads) {
    if (!MaySink(r, read, literal)) continue;
    const bool hands_on =
        result != kNoInstruction && r.operand(result, place) == read;
    if (!hands_on) {
      changed |= r.Replace(read, value);
    } else if (!IsAnnotated(r[read])) {
      changed |= MoveOtherUses(r, read, value, result, place);
    }
  }
  r.RemoveDead(value);
  return changed;
}

}  // namespace

bool SinkConstant(LoopRewriter& loop, int32_t i, bool keeps_element) {
  const Rewriter& r = loop.outside();
  const Literal* literal = ConstantLiteral(
      r.computation(), r.operand(loop.init(), static_cast<size_t>(i)));
  if (literal == nullptr || !loop.HandsOn(i)) return false;
  const InstructionId result =
      keeps_element ? loop.body().computation().root() : kNoInstruction;
  const bool in_body =
      SinkInto(loop.body(), loop.body_state(), i, *literal, result);
  return SinkInto(loop.condition(), loop.condition_state(), i, *literal,
                  kNoInstruction) ||
         in_body;
}

}  // namespace hone::hlo
