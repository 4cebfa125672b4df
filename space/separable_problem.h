#ifndef HONE_SPACE_SEPARABLE_PROBLEM_H_
#define HONE_SPACE_SEPARABLE_PROBLEM_H_

#include <cstddef>

#include "space/assignment_problem.h"

namespace hone::space {

// An assignment problem of independent parts, which are measured together: the
// tile sizes of all kernels of a module. Its variables are those of its parts,
// one part after the other, and its cost is the sum of theirs.
//
// Measurements have a sample for each part, in order: its cost, or, if the part
// makes the candidate invalid, a negative number: minus its violation, or
// -infinity if it has none.
class SeparableProblem : public AssignmentProblem {
 public:
  virtual size_t part_count() const = 0;
  virtual const AssignmentProblem& part(size_t index) const = 0;
};

}  // namespace hone::space

#endif  // HONE_SPACE_SEPARABLE_PROBLEM_H_
