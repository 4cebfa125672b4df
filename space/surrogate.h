#ifndef HONE_SPACE_SURROGATE_H_
#define HONE_SPACE_SURROGATE_H_

#include "absl/types/span.h"

#include "space/trial.h"

namespace hone::space {

class Problem;

// A problem's model of itself: a problem with the same candidates, whose costs
// are predicted. What is measured there takes no device.
//
// Determinism: the costs depend on the problem and on the trials learned from.
// Threads: not thread-safe, but for the const methods of problem() between two
// calls of Learn.
class Surrogate {
 public:
  virtual ~Surrogate() = default;

  // The candidates, constraints and kind of the problem that it is a model of.
  // Costs are positive; their unit need not be that of the other's, only the
  // order counts. The same object each time, and costs never noisy.
  virtual const Problem& problem() const = 0;

  // Learns from trials of the other problem that it has not learned from yet.
  // May change the costs of problem(), so that what searches it must begin
  // anew.
  virtual void Learn(absl::Span<const Trial> trials) = 0;
};

}  // namespace hone::space

#endif  // HONE_SPACE_SURROGATE_H_
