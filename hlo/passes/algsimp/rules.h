#ifndef HONE_HLO_PASSES_ALGSIMP_RULES_H_
#define HONE_HLO_PASSES_ALGSIMP_RULES_H_

#include <optional>

#include "hlo/rewrite/dimensions.h"
#include "hlo/rewrite/makers.h"
#include "hlo/rewrite/matchers.h"
#include "hlo/rewrite/regions/reductions.h"
#include "hlo/rewrite/rewriter.h"
#include "hlo/rewrite/values.h"

namespace hone::hlo::algsimp {

// One function per opcode or family of opcodes. Each tries its rules on `id`,
// which Rewriter::MayReplace permits to replace, and returns true if it did.
// The head of each file lists the rules, before → after, with the numeric class
// of those that are not exact.
//
// No rule raises the instruction count, except that it may trade an instruction
// for another that later rules fold.

// elementwise.cc: any elementwise opcode.
bool SimplifyElementwise(Rewriter& r, InstructionId id);
// arithmetic.cc
bool SimplifyAdd(Rewriter& r, InstructionId id);
bool SimplifySubtract(Rewriter& r, InstructionId id);
bool SimplifyMultiply(Rewriter& r, InstructionId id);
bool SimplifyDivide(Rewriter& r, InstructionId id);
bool SimplifyRemainder(Rewriter& r, InstructionId id);
bool SimplifyNegate(Rewriter& r, InstructionId id);
bool SimplifyPower(Rewriter& r, InstructionId id);
// For products of any kind, dots and convolutions included.
bool HoistNegation(Rewriter& r, InstructionId id);
// constant_chains.cc
bool MergeOffsets(Rewriter& r, InstructionId id);
bool MergeScales(Rewriter& r, InstructionId id);
// unary.cc
bool SimplifyAbs(Rewriter& r, InstructionId id);
bool SimplifyIdempotent(Rewriter& r, InstructionId id);
bool SimplifyComplexPart(Rewriter& r, InstructionId id);
bool SimplifyComplex(Rewriter& r, InstructionId id);
// logic.cc
bool SimplifyAnd(Rewriter& r, InstructionId id);
bool SimplifyOr(Rewriter& r, InstructionId id);
bool SimplifyXor(Rewriter& r, InstructionId id);
bool SimplifyNot(Rewriter& r, InstructionId id);
bool SimplifyShift(Rewriter& r, InstructionId id);
// comparison.cc
bool SimplifyCompare(Rewriter& r, InstructionId id);
bool SimplifySelect(Rewriter& r, InstructionId id);
// extrema.cc: maximum and minimum
bool SimplifyExtremum(Rewriter& r, InstructionId id);
bool SimplifyClamp(Rewriter& r, InstructionId id);
// conversion.cc
// Returns true if every value of `from` is one of `to`.
bool IsLossless(ElementType from, ElementType to);
bool SimplifyConvert(Rewriter& r, InstructionId id);
bool SimplifyBitcastConvert(Rewriter& r, InstructionId id);
bool SimplifyBitcast(Rewriter& r, InstructionId id);
// broadcast.cc
bool SimplifyBroadcast(Rewriter& r, InstructionId id);
bool SimplifyIota(Rewriter& r, InstructionId id);
// reshape.cc
bool SimplifyReshape(Rewriter& r, InstructionId id);
// transpose.cc
bool SimplifyTranspose(Rewriter& r, InstructionId id);
bool SimplifyReverse(Rewriter& r, InstructionId id);
// slicing.cc
bool SimplifySlice(Rewriter& r, InstructionId id);
bool SimplifyDynamicSlice(Rewriter& r, InstructionId id);
bool SimplifyDynamicUpdateSlice(Rewriter& r, InstructionId id);
// joining.cc
bool SimplifyPad(Rewriter& r, InstructionId id);
bool SimplifyConcatenate(Rewriter& r, InstructionId id);
// reduction.cc
// Returns true if the reduction `id` of one array may meet its elements in
// another order: it is no sum or product of floats, or MayRound.
bool MayReorder(const Rewriter& r, InstructionId id);
bool SimplifyReduce(Rewriter& r, InstructionId id);
// For SimplifyReshape: a reshape whose operand is a reduction.
bool ReshapeOfReduce(Rewriter& r, InstructionId id);
// windows.cc
bool SimplifyReduceWindow(Rewriter& r, InstructionId id);
bool SimplifyConvolution(Rewriter& r, InstructionId id);
// dot.cc
bool SimplifyDot(Rewriter& r, InstructionId id);
// For SimplifyTranspose: a transpose whose operand is a dot.
bool TransposeOfDot(Rewriter& r, InstructionId id);
// gather_scatter.cc. For other passes: gather_simplifier wants the opposite.
bool SimplifyGather(Rewriter& r, InstructionId id);
bool SimplifyScatter(Rewriter& r, InstructionId id);
// For SimplifyReshape: a reshape whose operand is a gather.
bool ReshapeOfGather(Rewriter& r, InstructionId id);
// For SimplifyAdd.
bool AddIntoScatter(Rewriter& r, InstructionId id);
// structure.cc
bool SimplifyGetTupleElement(Rewriter& r, InstructionId id);
bool SimplifyTuple(Rewriter& r, InstructionId id);
bool SimplifySort(Rewriter& r, InstructionId id);

// preconditions.cc: what several rules ask before they apply.

// Returns true if a rewrite that rounds otherwise may give the elements of
// `id`: the options permit it, or integers do not round. False for floats of
// less than 16 bits, of which one rounding is a large part of the value.
bool MayRound(const Rewriter& r, InstructionId id);
// Returns true if `inner` dies with `user` and has neither an annotation nor a
// precision, which would be lost if the two became one instruction.
bool MayAbsorb(const Rewriter& r, InstructionId inner, InstructionId user);
// The operand of `id` if it is a negation that dies with `user`; else
// kNoInstruction, as for f8e8m0fnu, which has no negative numbers.
InstructionId NegatedOperand(const Rewriter& r, InstructionId id,
                             InstructionId user);
// Returns true if `id` is uniform and the identity element of the reduction.
bool IsIdentityElement(const Rewriter& r, InstructionId id,
                       std::optional<Opcode> reduction);
// Returns true if every element of `id` is known to be ≥ 0 (and no NaN).
bool IsNonNegative(const Rewriter& r, InstructionId id, int depth = 4);

}  // namespace hone::hlo::algsimp

#endif  // HONE_HLO_PASSES_ALGSIMP_RULES_H_
