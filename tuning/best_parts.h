#ifndef HONE_TUNING_BEST_PARTS_H_
#define HONE_TUNING_BEST_PARTS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "space/separable_problem.h"
#include "space/trial.h"

namespace hone::tuning {

// The best decision that trials of a separable problem have found for each of
// its parts. Those of one trial are seldom all the best, but parts do not
// depend on each other.
class BestParts {
 public:
  // Of a problem that is not separable: never anything.
  BestParts() = default;
  // `problem`, which may be null, outlives this.
  explicit BestParts(const space::SeparableProblem* problem);

  void Note(const space::Trial& trial);
  // Returns the best parts together; nothing if some part was never valid.
  std::optional<space::Candidate> Compose() const;

 private:
  struct Part {
    double cost = 0;
    bool is_known = false;  // was valid once
    std::vector<int32_t> choices;
    size_t count = 0;  // of its variables
  };

  std::vector<Part> parts_;
};

}  // namespace hone::tuning

#endif  // HONE_TUNING_BEST_PARTS_H_
