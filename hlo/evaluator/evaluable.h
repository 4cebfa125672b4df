#ifndef HONE_HLO_EVALUATOR_EVALUABLE_H_
#define HONE_HLO_EVALUATOR_EVALUABLE_H_

#include <vector>

#include "absl/status/status.h"

#include "hlo/ir/module.h"

namespace hone::hlo {

// The instructions of a module that Evaluate has no meaning for, as far as that
// shows before it runs: custom calls, collectives, random numbers that a
// backend draws, values that were left out of the text.
class Evaluability {
 public:
  explicit Evaluability(const Module& module);

  // OK if the value of an entry instruction can be evaluated. Otherwise
  // Unimplemented, naming what cannot.
  absl::Status Check(InstructionId id) const;

 private:
  // By computation, what is wrong with its root; OK for those that no
  // evaluation runs.
  std::vector<absl::Status> roots_;
  // By instruction of the entry.
  std::vector<absl::Status> entry_;
};

}  // namespace hone::hlo

#endif  // HONE_HLO_EVALUATOR_EVALUABLE_H_
