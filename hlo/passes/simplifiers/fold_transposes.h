#ifndef HONE_HLO_PASSES_SIMPLIFIERS_FOLD_TRANSPOSES_H_
#define HONE_HLO_PASSES_SIMPLIFIERS_FOLD_TRANSPOSES_H_

#include "hlo/rewrite/rewriter.h"

namespace hone::hlo {

// For the passes that fold transposes into dots and convolutions.

// Names dimensions of a transpose's operand in place of those of its result.
void MapThrough(const DimensionVector& permutation, int64_t& dimension);
void MapThrough(const DimensionVector& permutation,
                DimensionVector& dimensions);

// Returns true if a dot may read the operand of a transpose in its place:
// `permutation` is the transpose's, `batch` and `contracting` are the dot's
// dimensions of it. Must keep the order of the free dimensions, as these make
// up the result.
using MayFoldTranspose = bool (*)(const DimensionVector& permutation,
                                  const DimensionVector& batch,
                                  const DimensionVector& contracting);

// dot(transpose(a), b) → dot(a, b) with other dimension numbers, likewise b,
// where `may_fold`. A transpose with other users stays for them. `id` is a dot
// that Rewriter::MayReplace; returns true if it was replaced.
bool FoldTransposesIntoDot(Rewriter& r, InstructionId id,
                           MayFoldTranspose may_fold);

}  // namespace hone::hlo

#endif  // HONE_HLO_PASSES_SIMPLIFIERS_FOLD_TRANSPOSES_H_
