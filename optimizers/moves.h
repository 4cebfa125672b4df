#ifndef HONE_OPTIMIZERS_MOVES_H_
#define HONE_OPTIMIZERS_MOVES_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "absl/types/span.h"

#include "base/hash.h"
#include "base/rng.h"
#include "space/assignment_problem.h"
#include "space/sequential_problem.h"
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
// action. The result is never longer than max_steps.
//
// Where legality depends on the state, the sequence is expanded now and
// then (SequentialProblem::Expand), an action is often replaced by one of its
// Substitutes, and what is no longer legal after the edit is left out. An edit
// that leads to the same state is drawn anew, a bounded number of times.
std::vector<int32_t> EditSequence(const space::SequentialProblem& problem,
                                  std::vector<int32_t> actions, Rng& rng);

// Makes random edits of the assignments of one problem.
class AssignmentEditor {
 public:
  // `problem` outlives this.
  explicit AssignmentEditor(const space::AssignmentProblem& problem);

  // Makes one random edit: another value for one variable, or the values of two
  // swapped. Other variables change where the constraints ask for it. Returns
  // `values` if a bounded number of draws finds no neighbor.
  std::vector<int32_t> Edit(const std::vector<int32_t>& values, Rng& rng);

  // Draws an assignment (AssignmentProblem::Draw). If a bounded number of draws
  // finds none, or `stop`, which may be null, returns true, it is the default.
  std::vector<int32_t> Draw(Rng& rng,
                            const std::function<bool()>& stop = nullptr);

  // Returns an assignment that agrees with the first `length` of `values`, and
  // with the others where the constraints allow it; nothing if they rule the
  // prefix out.
  std::optional<std::vector<int32_t>> Extend(absl::Span<const int32_t> values,
                                             int32_t length, Rng& rng);

 private:
  const space::AssignmentProblem& problem_;
  const std::unique_ptr<space::Domains> domains_;
  // All variables, in their order.
  std::vector<int32_t> order_;
};

// Makes random edits of the candidates of a problem of either kind.
class Editor {
 public:
  // `problem` outlives this.
  explicit Editor(const space::Problem& problem);

  // Edits once, and each further time with probability 1/2.
  std::vector<int32_t> Perturb(std::vector<int32_t> choices, Rng& rng);

 private:
  const space::SequentialProblem* const sequence_;
  std::optional<AssignmentEditor> assignment_;
};

// Returns the hash of a candidate's choices.
Hash128 HashOf(const std::vector<int32_t>& choices);

}  // namespace hone::optimizers

#endif  // HONE_OPTIMIZERS_MOVES_H_
