#ifndef HONE_HLO_PASSES_ALGSIMP_RULES_H_
#define HONE_HLO_PASSES_ALGSIMP_RULES_H_

#include "hlo/rewrite/dimensions.h"
#include "hlo/rewrite/makers.h"
#include "hlo/rewrite/matchers.h"
#include "hlo/rewrite/reductions.h"
#include "hlo/rewrite/rewriter.h"
#include "hlo/rewrite/values.h"

namespace hone::hlo::algsimp {

// One function per opcode family. Each tries its rules on `id`, whose opcode is
// of the family, and returns whether it replaced `id`. The driver calls them
// only for static shapes, without control dependencies or unknown attributes.
// Rules are listed in front of the functions that apply them, before → after.
//
// None raises the instruction count, except that a rule may trade an
// instruction for another that later rules fold.

// elementwise.cc: any elementwise opcode.
bool SimplifyElementwise(Rewriter& r, InstructionId id);
// arithmetic.cc
bool SimplifyAdd(Rewriter& r, InstructionId id);
bool SimplifySubtract(Rewriter& r, InstructionId id);
bool SimplifyMultiply(Rewriter& r, InstructionId id);
bool SimplifyDivide(Rewriter& r, InstructionId id);
bool SimplifyRemainder(Rewriter& r, InstructionId id);
bool SimplifyNegate(Rewriter& r, InstructionId id);
// unary.cc
bool SimplifyAbs(Rewriter& r, InstructionId id);
bool SimplifyIdempotent(Rewriter& r, InstructionId id);
bool SimplifyPower(Rewriter& r, InstructionId id);
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
bool SimplifyMaximum(Rewriter& r, InstructionId id);
bool SimplifyMinimum(Rewriter& r, InstructionId id);
bool SimplifyClamp(Rewriter& r, InstructionId id);
// conversion.cc
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
bool SimplifyPad(Rewriter& r, InstructionId id);
bool SimplifyConcatenate(Rewriter& r, InstructionId id);
// reduction.cc
bool SimplifyReduce(Rewriter& r, InstructionId id);
bool SimplifyReduceWindow(Rewriter& r, InstructionId id);
// contraction.cc
bool SimplifyDot(Rewriter& r, InstructionId id);
bool SimplifyConvolution(Rewriter& r, InstructionId id);
// indexing.cc
bool SimplifyGather(Rewriter& r, InstructionId id);
// For SimplifyReshape: a reshape whose operand is a gather.
bool ReshapeOfGather(Rewriter& r, InstructionId id);
bool SimplifyScatter(Rewriter& r, InstructionId id);
bool SimplifyDynamicSlice(Rewriter& r, InstructionId id);
bool SimplifyDynamicUpdateSlice(Rewriter& r, InstructionId id);
// structure.cc
bool SimplifyGetTupleElement(Rewriter& r, InstructionId id);
bool SimplifyTuple(Rewriter& r, InstructionId id);
bool SimplifySort(Rewriter& r, InstructionId id);

// Whether every element of `id` is known to be ≥ 0 (and no NaN).
bool IsNonNegative(const Rewriter& r, InstructionId id, int depth = 4);

}  // namespace hone::hlo::algsimp

#endif  // HONE_HLO_PASSES_ALGSIMP_RULES_H_
