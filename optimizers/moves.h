#ifndef HONE_OPTIMIZERS_MOVES_H_
#define HONE_OPTIMIZERS_MOVES_H_

#include <cstdint>
#include <vector>

#include "base/rng.h"
#include "space/problem.h"
#include "space/trial.h"

namespace hone::optimizers {

// A state of a sequential problem and the shortest known way there.
struct Position {
  space::StatePtr state;
  std::vector<int32_t> actions;
};

// Where `actions` lead from the initial state, on a way without detours: steps
// that change nothing, and loops back to a state passed before, are left out,
// so `actions` of the result may be fewer. The null state when a step fails.
// Cheap for a candidate just measured, as the problem keeps its steps.
Position Follow(const space::SequentialProblem& problem,
                const std::vector<int32_t>& actions);

// One random edit of a sequence: an action inserted, removed, replaced or moved
// elsewhere. Never longer than max_steps. What has become illegal where it
// comes is left out, the first exchanged for something legal.
std::vector<int32_t> EditSequence(const space::SequentialProblem& problem,
                                  std::vector<int32_t> actions, Rng& rng);

// One random edit of an assignment: another value for one variable, or the
// values of two exchanged. As far as the problem can tell cheaply the result is
// feasible, unless no such neighbour was found in a bounded number of draws.
std::vector<int32_t> EditAssignment(const space::AssignmentProblem& problem,
                                    const std::vector<int32_t>& values,
                                    Rng& rng);

// EditSequence or EditAssignment: once, and each further time with probability
// 1/2.
std::vector<int32_t> Perturb(const space::Problem& problem,
                             std::vector<int32_t> choices, Rng& rng);

}  // namespace hone::optimizers

#endif  // HONE_OPTIMIZERS_MOVES_H_
