#ifndef HONE_OPTIMIZERS_SCHEDULE_H_
#define HONE_OPTIMIZERS_SCHEDULE_H_

#include <cstdint>

#include "base/rng.h"

namespace hone::optimizers {

// The length of the first cycle of searches by moves: most budgets are longer.
inline constexpr int64_t kFirstMoveCycle = 1024;

// The cooling schedule of simulated annealing. A cycle cools from a mean
// worsening accepted with probability 1/e^2 down to one never accepted; then
// comes the next cycle, twice as long. So no budget need be known in advance.
// The temperature is in units of the mean worsening seen so far, which makes
// the schedule independent of the problem's unit.
//
// A few worsenings that are far larger than most make the mean too hot for
// anything to settle. A schedule may therefore alternate with cool cycles, the
// first of all being one: they go from a fifth of the temperature down to half
// of the lowest, in units of the geometric mean.
// Source: Kirkpatrick, Gelatt and Vecchi, "Optimization by Simulated
// Annealing", 1983; the scale and the doubling cycles are ours.
class CoolingSchedule {
 public:
  explicit CoolingSchedule(int64_t first_cycle, bool alternates = false)
      : cycle_(first_cycle), alternates_(alternates), cool_(alternates) {}

  // Returns true if a step that costs `worsening` more is accepted; always if
  // that is not above 0, never if it is infinite.
  bool Accepts(double worsening, Rng& rng);
  // Counts a step. Returns true if it was the last one of its cycle.
  bool Advance();

 private:
  int64_t cycle_;  // the length of this cycle, in steps
  bool alternates_;
  bool cool_;              // this cycle is a cool one
  int64_t step_ = 0;       // of this cycle
  double sum_ = 0;         // of the finite worsenings so far
  double logarithms_ = 0;  // the sum of theirs
  int64_t count_ = 0;      // of them
};

}  // namespace hone::optimizers

#endif  // HONE_OPTIMIZERS_SCHEDULE_H_
