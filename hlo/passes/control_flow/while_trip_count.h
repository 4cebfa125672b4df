#ifndef HONE_HLO_PASSES_CONTROL_FLOW_WHILE_TRIP_COUNT_H_
#define HONE_HLO_PASSES_CONTROL_FLOW_WHILE_TRIP_COUNT_H_

#include <cstdint>
#include <optional>

#include "hlo/ir/module.h"

namespace hone::hlo {

// The trip count of a while; kOther: more than one, or unknown.
enum class TripCount { kZero, kOne, kOther };

// The trip count of the while `id`, found by computing its condition from the
// scalar constants among its initial values, before and after one iteration.
// kOther when that takes more than elementwise arithmetic on scalars.
TripCount FindTripCount(const Module& module, const Computation& computation,
                        InstructionId id);

// A loop whose condition depends on one integer of its tuple, and that integer
// on nothing but its own value of the iteration before.
struct CountedLoop {
  // The integer's place in the tuple.
  int32_t element = 0;
  int64_t trip_count = 0;
  // The values of a counter that grows by a constant: in iteration k it is
  // init + k * step.
  struct Progression {
    int64_t init = 0;
    int64_t step = 0;
  };
  std::optional<Progression> progression;
};

// The while `id` as a counted loop. Progressions that go up from init ≥ 0 to a
// constant limit are solved; other counters are run, up to 128 iterations and
// some thousand instructions.
// Nullopt when the loop is of another form, runs longer or overflows.
std::optional<CountedLoop> FindCountedLoop(const Module& module,
                                           const Computation& computation,
                                           InstructionId id);

// Returns true if a run of `id` comes to an end: each loop in it, however
// deeply called, is a counted one.
bool SurelyEnds(const Module& module, const Computation& computation,
                InstructionId id);

}  // namespace hone::hlo

#endif  // HONE_HLO_PASSES_CONTROL_FLOW_WHILE_TRIP_COUNT_H_
