#ifndef HONE_OPTIMIZERS_MOVES_H_
#define HONE_OPTIMIZERS_MOVES_H_

#include <cstdint>
#include <vector>

#include "base/rng.h"
#include "space/problem.h"
#include "space/trial.h"

namespace hone::optimizers {

// A state of a sequential problem and the shortest known path to it.
struct Path {
  space::StatePtr state;
  std::vector<int32_t> actions;
};

// Follows `actions` from the initial state and returns the path without
// detours: no-op steps and cycles are left out, so the result may have fewer
// actions. Its state is null if a step fails. Cheap for a candidate just
// measured, because the problem caches its steps.
Path Follow(const space::SequentialProblem& problem,
            const std::vector<int32_t>& actions);

// Makes one random edit of a sequence: inserts, removes, replaces or moves an
// action. The result is never longer than max_steps. Drops actions that are no
// longer legal; the first of them is replaced by a legal one.
std::vector<int32_t> EditSequence(const space::SequentialProblem& problem,
                                  std::vector<int32_t> actions, Rng& rng);

// Makes one random edit of an assignment: another value for one variable, or
// the values of two swapped. As far as the problem can tell cheaply the result
// is feasible, unless a bounded number of draws finds no feasible neighbor.
std::vector<int32_t> EditAssignment(const space::AssignmentProblem& problem,
                                    const std::vector<int32_t>& values,
                                    Rng& rng);

// Applies EditSequence or EditAssignment once, and each further time with
// probability 1/2.
std::vector<int32_t> Perturb(const space::Problem& problem,
                             std::vector<int32_t> choices, Rng& rng);

}  // namespace hone::optimizers

#endif  // HONE_OPTIMIZERS_MOVES_H_
