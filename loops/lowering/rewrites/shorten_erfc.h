#ifndef HONE_LOOPS_LOWERING_REWRITES_SHORTEN_ERFC_H_
#define HONE_LOOPS_LOWERING_REWRITES_SHORTEN_ERFC_H_

#include "hlo/ir/module.h"

namespace hone::loops {

// Replaces the expansion of erfc in f32 that JAX emits, some hundred operations
// of three polynomials between which selections choose, by a map of a shorter
// one (WriteErfc). Largest errors of it in units in the last place, with those
// of the expansion, where the processor has fused multiply-add: 2.1 (1.4) below
// 0, 5.3 (7.8) up to 2, 12 (11) up to 4, then 0.8·x² as the expansion, since
// -x² is rounded before the exponential. Above 9.4 the expansion gives 0, and
// the map the denormal numbers that erfc has there. The backend takes a table
// instead for processors with AVX-512.
//
// Every operation and constant of the expansion has to be there, for the same
// x; anything else stays as it is.
void ShortenErfc(hlo::Module& module);

}  // namespace hone::loops

#endif  // HONE_LOOPS_LOWERING_REWRITES_SHORTEN_ERFC_H_
