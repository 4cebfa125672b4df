#ifndef HONE_LOOPS_LOWERING_REWRITES_WIDEN_SUMS_H_
#define HONE_LOOPS_LOWERING_REWRITES_WIDEN_SUMS_H_

#include "hlo/ir/module.h"

namespace hone::loops {

// Gives sums and products of 16-bit floats (dots, convolutions, reductions and
// reductions of windows) results of type f32, each with a conversion back after
// it: they are accumulated in f32 and rounded once, as in the evaluator. If a
// dot is read by nothing but a transpose, the conversion comes after that, so
// that the dot may be written transposed. Operands of dots and convolutions
// keep their types.
void WidenSums(hlo::Module& module);

}  // namespace hone::loops

#endif  // HONE_LOOPS_LOWERING_REWRITES_WIDEN_SUMS_H_
