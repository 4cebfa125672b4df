#ifndef HONE_HLO_EQUIVALENCE_FLOAT_JUDGE_H_
#define HONE_HLO_EQUIVALENCE_FLOAT_JUDGE_H_

#include "base/thread_pool.h"
#include "hlo/equivalence/judge.h"

namespace hone::hlo {

// Judges one array of floating-point or complex numbers, element by element.
// On the pool's threads if there is one; the verdict does not depend on them.
ArrayVerdict JudgeFloats(const Evidence& evidence, ThreadPool* pool);

}  // namespace hone::hlo

#endif  // HONE_HLO_EQUIVALENCE_FLOAT_JUDGE_H_
