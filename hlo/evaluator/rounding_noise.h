#ifndef HONE_HLO_EVALUATOR_ROUNDING_NOISE_H_
#define HONE_HLO_EVALUATOR_ROUNDING_NOISE_H_

#include <cstdint>

#include "base/thread_pool.h"
#include "hlo/ir/literal.h"
#include "hlo/ir/module.h"

namespace hone::hlo::evaluator {

// Returns true if the result of an instruction is rounded. What only chooses
// (a maximum) is exact, and programs rely on that.
bool IsRounded(const Module& module, const Instruction& instruction);
// Returns true if it adds up many terms, whose rounding errors may be large
// beside their sum.
bool Accumulates(const Module& module, const Instruction& instruction);

// Moves floating-point elements of an array that nobody else holds by `units`
// in the last place up or down, or not at all, as rounding in another order
// might. Numbers of few digits stay: they are exact, as a rule (counts, masks).
// Deterministic in `seed`, whether there is a pool or not.
void AddRoundingNoise(Literal& array, int units, uint64_t seed,
                      ThreadPool* pool = nullptr);

}  // namespace hone::hlo::evaluator

#endif  // HONE_HLO_EVALUATOR_ROUNDING_NOISE_H_
