#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "base/status_macros.h"
#include "learning/games/elites.h"
#include "learning/games/tried_moves.h"
#include "learning/ppo_learner.h"
#include "optimizers/policies/assignment_sampling.h"
#include "optimizers/policies/episode_optimizer.h"
#include "optimizers/policies/factories.h"
#include "optimizers/policies/first_game.h"
#include "optimizers/policies/weights.h"

namespace hone::optimizers::policies {
namespace {

using learning::Model;
using learning::PpoOptions;
using learning::Trajectory;

// Games that are played side by side, and the moves that each makes between two
// updates.
constexpr size_t kWalks = 4;
constexpr int32_t kMovesOfPart = 32;
// After parts that found nothing better, one time in so many the next ones are
// played at random: what they find, the policy imitates, so that it does not
// settle on what pays first.
constexpr uint64_t kExploring = 4;
// Moves of a game from random weights at most: most do nothing at first, and
// the best states lie far from the start.
constexpr int32_t kManyMoves = 512;
constexpr size_t kElites = 4;
// One game in so many starts from the initial state.
constexpr uint64_t kRestarts = 4;
// With each update, passes over the effects of moves in so many states that
// games came through, at a rate of so many times that of the update.
constexpr int kLabelPasses = 2;
constexpr size_t kLabelledStates = 32;
constexpr float kLabelRate = 3;

// Learns to play this one problem while tuning it.
//
// Most games start on the way of one of the best so far (as Go-Explore does:
// Ecoffet et al., "First return, then explore", 2021): the way there has been
// measured, so that all evaluations go to what comes after. Beside the gradient
// of the policy, which a few hundred moves hardly determine, the network learns
// from what each move did (as in Jaderberg et al., "Reinforcement Learning with
// Unsupervised Auxiliary Tasks", 2016): soon most moves have an effect.
class Ppo final : public EpisodeOptimizer {
 public:
  Ppo(absl::string_view name, const space::SequentialProblem& problem,
      std::unique_ptr<Model> model, const PpoOptions& ppo, bool is_trained,
      const OptimizerOptions& options)
      : EpisodeOptimizer(problem, options,
                         is_trained ? learning::kUsualMoves : kManyMoves),
        name_(name),
        model_(std::move(model)),
        learner_(*model_, ppo, options.seed),
        elites_(kElites),
        label_rate_(kLabelRate * ppo.learning_rate) {
    if (is_trained) first_game_.emplace(game(), *model_);
  }

  absl::string_view name() const override { return name_; }

 private:
  void Begin(absl::Span<const space::Trial> known) override {
    walks_.clear();
    EpisodeOptimizer::Begin(known);
  }

  std::vector<Trajectory> Play() override {
    if (first_game_) {
      if (std::optional<Trajectory> part = first_game_->NextPart()) {
        return {*std::move(part)};
      }
      first_game_.reset();
    }
    first_turns_.clear();
    for (size_t i = 0; i < kWalks; ++i) {
      const bool is_new = i == walks_.size();
      if (is_new || walks_[i].end.over()) {
        absl::StatusOr<Trajectory> from = Start();
        if (!from.ok()) return {};
        if (is_new) walks_.emplace_back(game().Start());
        walks_[i] = *std::move(from);
      }
      first_turns_.push_back(walks_[i].turns.size());
    }
    // What is rewarded as a whole is played to its end.
    const int32_t moves = game().problem().costs_are_free()
                              ? kMovesOfPart
                              : std::numeric_limits<int32_t>::max();
    explores_ = !improved_ && rng().Below(kExploring) == 0;
    const auto walks = absl::MakeSpan(walks_);
    const absl::Status played =
        explores_
            ? learning::PlayOn(game(), learning::UniformScorer(),
                               learning::ChooseAny(rng()), moves, walks)
            : learning::PlayOn(game(), *model_,
                               learning::ChooseBySoftmax(rng()), moves, walks);
    if (!played.ok()) return {};
    return walks_;
  }

  // The initial state, or one on the way of an elite.
  absl::StatusOr<Trajectory> Start() {
    if (rng().Below(kRestarts) == 0) return Trajectory(game().Start());
    return elites_.DrawStart(game(), rng());
  }

  void Train(std::vector<Trajectory> episodes) override {
    const double before = BestCost();
    for (const Trajectory& episode : episodes) elites_.Offer(episode);
    improved_ = BestCost() < before;
    if (first_game_) return;
    // The update is for what the policy itself has played since the last.
    std::vector<learning::TrajectoryGroup> groups;
    for (size_t i = 0; i < episodes.size(); ++i) {
      Trajectory& episode = episodes[i];
      episode.turns.erase(
          episode.turns.begin(),
          episode.turns.begin() + static_cast<std::ptrdiff_t>(first_turns_[i]));
      if (game().problem().costs_are_free()) tried_.Add(episode.turns);
      groups.push_back({std::move(episode)});
    }
    // First, as it is for the weights that have played.
    if (!explores_) learner_.Update(groups, elites_.Turns());
    for (int pass = 0; pass < kLabelPasses; ++pass) {
      learner_.LearnLabels(tried_.Draw(kLabelledStates, rng()),
                           /*choice_weight=*/1, label_rate_);
    }
  }

  double BestCost() const {
    const std::vector<Trajectory>& elites = elites_.episodes();
    return elites.empty() ? std::numeric_limits<double>::infinity()
                          : space::EffectiveCost(elites[0].measurement);
  }

  const absl::string_view name_;
  const std::unique_ptr<Model> model_;
  learning::PpoLearner learner_;
  learning::Elites elites_;
  // Until it has been played.
  std::optional<FirstGame> first_game_;
  const float label_rate_;
  learning::TriedMoves tried_;
  std::vector<Trajectory> walks_;
  // Of each walk, the turns before the last part.
  std::vector<size_t> first_turns_;
  bool improved_ = false;  // by the last parts: there is a new best
  bool explores_ = false;  // the last parts: their moves are random
};

}  // namespace

std::unique_ptr<Optimizer> PpoFrom(absl::string_view name,
                                   const space::SequentialProblem& problem,
                                   std::unique_ptr<Model> model,
                                   const PpoOptions& ppo, bool is_trained,
                                   const OptimizerOptions& options) {
  return std::make_unique<Ppo>(name, problem, std::move(model), ppo, is_trained,
                               options);
}

absl::StatusOr<std::unique_ptr<Optimizer>> CreatePpo(
    const space::Problem& problem, const OptimizerOptions& options) {
  if (problem.assignment() != nullptr) {
    return MakeAssignmentSampling("ppo", *problem.assignment(), {.learn = true},
                                  options);
  }
  const space::SequentialProblem& sequence = *problem.sequential();
  std::unique_ptr<Model> model = NewModel(sequence, options);
  const bool is_trained = !options.weights.empty();
  if (is_trained) {
    HONE_ASSIGN_OR_RETURN(model, ReadModel(options.weights, model->spec()));
  }
  return PpoFrom("ppo", sequence, std::move(model), PpoOptions{}, is_trained,
                 options);
}

}  // namespace hone::optimizers::policies
