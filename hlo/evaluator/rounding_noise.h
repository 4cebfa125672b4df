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
// Returns true if an instruction that accumulates only adds and multiplies,
// divides or takes roots: moving all of its terms by rounding errors moves its
// result likewise. A region of its own might compare them.
bool AccumulatesSmoothly(const Module& module, const Instruction& instruction);

// Numbers that AddRoundingNoise moves.
enum class Moves {
  // Those of many digits. Numbers of few are exact, as a rule (counts, masks).
  kRounded,
  kAll,
};

// Moves floating-point elements of an array that nobody else holds by `units`
// in the last place up or down, or not at all, as rounding in another order
// might. Deterministic in `seed`, whether there is a pool or not.
void AddRoundingNoise(Literal& array, int units, uint64_t seed,
                      ThreadPool* pool = nullptr,
                      Moves moves = Moves::kRounded);

// Returns true if an array of f64 or c128 has a number of few digits that is
// not zero.
bool HasFewDigits(const Literal& array);

// The next two are for f64 and c128 arrays that nobody else holds, and leave
// others as they are.
//
// Multiplies numbers of many digits by so large a factor that it shows in every
// sum that has such a term.
void EnlargeRounded(Literal& array, ThreadPool* pool = nullptr);
// Replaces the elements that differ from those of `exact` by those of `other`.
void ReplaceDiffering(Literal& array, const Literal& exact,
                      const Literal& other, ThreadPool* pool = nullptr);

}  // namespace hone::hlo::evaluator

#endif  // HONE_HLO_EVALUATOR_ROUNDING_NOISE_H_
