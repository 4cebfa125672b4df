#ifndef HONE_SPACE_COMPOSITE_PROBLEM_H_
#define HONE_SPACE_COMPOSITE_PROBLEM_H_

#include <cstddef>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "space/sequential_problem.h"

namespace hone::space {

// A problem of independent parts, each a sequential problem of its own: the
// kernels of a module. Its cost is the sum of its parts' costs, and the samples
// of its measurements (Measurement::samples) are these costs, in order.
class CompositeProblem : public SequentialProblem {
 public:
  virtual size_t part_count() const = 0;
  // Its costs may be in another unit than its share of the sum.
  virtual const SequentialProblem& part(size_t index) const = 0;

  // Returns the candidate that decides each part by one of `parts`.
  virtual Candidate Compose(absl::Span<const Candidate> parts) const = 0;
  // Returns the candidates that `candidate` decides the parts by: a default
  // where it decides nothing. Errors: InvalidArgument if it is none of this
  // problem.
  virtual absl::StatusOr<std::vector<Candidate>> Decompose(
      const Candidate& candidate) const = 0;
};

}  // namespace hone::space

#endif  // HONE_SPACE_COMPOSITE_PROBLEM_H_
