#ifndef HONE_OPTIMIZERS_POLICIES_MOVE_WALK_H_
#define HONE_OPTIMIZERS_POLICIES_MOVE_WALK_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/types/span.h"

#include "base/rng.h"
#include "learning/assignments/described_move.h"
#include "learning/assignments/value_view.h"
#include "learning/models/assignment_model.h"
#include "optimizers/schedule.h"
#include "space/assignment_problem.h"

namespace hone::optimizers::policies {

struct MoveWalkOptions {
  int moves_per_try = 1;  // the most that a try takes, 1 or more
  // Without a policy all moves are equally likely, whatever is known of them.
  bool uniform = false;
  // The problem's own estimate does not count.
  bool without_estimate = false;
};

// A local search whose next move a policy chooses among those that the problem
// proposes, and which accepts as simulated annealing does. Without a policy the
// problem's own estimate chooses, or all of them are equally likely: simulated
// annealing that remembers what it has refused.
//
// A round proposes kProposals moves, fewer if all are equally likely, which
// takes no evaluations; none that was tried from this assignment before, as
// long as there are others. Then up to kTriesPerRound of them are tried, until
// one is accepted, each drawn by the softmax of the problem's estimate plus
// what the policy expects it to gain.
//
// A try may take several moves at first, drawn without regard to each other:
// half as many after a try that gained nothing, down to one, and twice as many
// after one that did.
class MoveWalk {
 public:
  static constexpr int kProposals = 96;
  static constexpr int kTriesPerRound = 3;

  // `problem` and `view`, of it, outlive this.
  MoveWalk(const space::AssignmentProblem& problem,
           const learning::ValueView& view, uint64_t seed,
           MoveWalkOptions options = {});

  // Goes on from an assignment, with cooling anew.
  void Restart(absl::Span<const int32_t> values);

  // Makes a round; `model` may be null. Returns the number of tries, 0 if
  // nothing is proposed. `uniform`: the share of draws without the policy.
  int Round(const learning::AssignmentModel* model, double uniform = 0);
  // Forgets what it keeps of the model, whose encoder has changed.
  void ForgetModel() { memory_ = nullptr; }

  // The best assignment since the last call of ClearFound or Restart, and
  // whether there was any accepted.
  bool has_found() const { return has_found_; }
  const std::vector<int32_t>& found() const { return found_; }
  const space::Rank& found_rank() const { return found_rank_; }
  void ClearFound() { has_found_ = false; }
  absl::Span<const int32_t> values() const { return state_->values(); }
  space::LocalScore score() const { return state_->score(); }

  // All moves tried, and the first choice of each round, since the last call.
  std::vector<learning::TriedMove> TakeTried();
  std::vector<learning::MoveChoice> TakeChoices();

 private:
  // Returns the logarithm of how likely each move is to be drawn, up to a
  // constant; `model` may be null.
  std::vector<float> Score(absl::Span<const learning::DescribedMove> moves,
                           const learning::AssignmentModel* model);
  // Makes the change that was tried, which gave `rank`.
  void Commit(const space::Rank& rank);
  // Returns an index of `scores` that is not `taken`, drawn by their softmax.
  size_t Draw(absl::Span<const float> scores, const std::vector<bool>& taken,
              float& log_probability);

  const space::AssignmentProblem& problem_;
  const learning::ValueView& view_;
  const MoveWalkOptions options_;
  int joined_ = 1;  // moves of the next try
  Rng rng_;
  CoolingSchedule schedule_;
  std::unique_ptr<space::LocalState> state_;
  std::shared_ptr<const learning::AssignmentModel::Encoded> memory_;
  std::vector<int32_t> best_;
  space::Rank best_rank_;
  bool has_found_ = false;
  std::vector<int32_t> found_;
  space::Rank found_rank_;
  // Moves that were tried from this assignment, by their changes, and those
  // proposed in this round.
  absl::flat_hash_set<uint64_t> refused_;
  absl::flat_hash_set<uint64_t> seen_;
  std::vector<learning::TriedMove> tried_;
  std::vector<learning::MoveChoice> choices_;
};

}  // namespace hone::optimizers::policies

#endif  // HONE_OPTIMIZERS_POLICIES_MOVE_WALK_H_
