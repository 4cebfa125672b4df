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

// Episodes of an update: so many from each of some states. The group of one
// state is what an episode's advantage is relative to.
constexpr size_t kStarts = 2;
constexpr int32_t kEpisodesPerStart = 3;
// Beside them, episodes of random moves: what they find, the policy imitates,
// so that it does not settle on what pays first.
constexpr int32_t kExploringEpisodes = 1;
constexpr size_t kElites = 4;
// One start in so many is the initial state.
constexpr uint64_t kRestarts = 4;

// Learns to play this one problem while tuning it.
//
// Most episodes start on the way of one of the best so far (as
// Go-Explore does: Ecoffet et al., "First return, then explore", 2021): the way
// there has been measured, so that all evaluations go to what comes after.
class Ppo final : public EpisodeOptimizer {
 public:
  Ppo(absl::string_view name, const space::SequentialProblem& problem,
      std::unique_ptr<Model> model, const PpoOptions& ppo, bool is_trained,
      const OptimizerOptions& options)
      : EpisodeOptimizer(problem, options),
        name_(name),
        model_(std::move(model)),
        learner_(*model_, ppo, options.seed),
        elites_(kElites) {
    if (is_trained) first_game_.emplace(game(), *model_);
  }

  absl::string_view name() const override { return name_; }

 private:
  std::vector<Trajectory> Play() override {
    if (first_game_) {
      if (std::optional<Trajectory> part = first_game_->NextPart()) {
        return {*std::move(part)};
      }
      first_game_.reset();
    }
    first_turns_.clear();
    std::vector<Trajectory> episodes;
    std::vector<Trajectory> exploring;
    for (size_t start = 0; start < kStarts; ++start) {
      absl::StatusOr<Trajectory> from = Start();
      if (!from.ok()) return {};
      first_turns_.push_back(from->turns.size());
      episodes.insert(episodes.end(), kEpisodesPerStart, *from);
      if (start == 0) exploring.assign(kExploringEpisodes, *std::move(from));
    }
    const auto play = [&](const learning::Scorer& scorer,
                          const learning::Chooser& choose,
                          std::vector<Trajectory>& from) {
      return learning::PlayOn(game(), scorer, choose,
                              std::numeric_limits<int32_t>::max(),
                              absl::MakeSpan(from));
    };
    if (!play(*model_, learning::ChooseBySoftmax(rng()), episodes).ok() ||
        !play(learning::UniformScorer(), learning::ChooseAny(rng()), exploring)
             .ok()) {
      return {};
    }
    std::move(exploring.begin(), exploring.end(), std::back_inserter(episodes));
    return episodes;
  }

  // The initial state, or one on the way of an elite, after the moves with
  // effect that lead there.
  absl::StatusOr<Trajectory> Start() {
    const std::vector<Trajectory>& elites = elites_.episodes();
    std::vector<int32_t> way;
    if (!elites.empty() && rng().Below(kRestarts) != 0) {
      way = elites[rng().Below(elites.size())].proposal.choices;
      // The larger of two lengths: more is left to find near the end.
      const uint64_t ends = way.size() + 1;
      way.resize(std::max(rng().Below(ends), rng().Below(ends)));
    }
    return learning::ReplayMoves(game(), way);
  }

  void Train(std::vector<Trajectory> episodes) override {
    for (const Trajectory& episode : episodes) elites_.Offer(episode);
    if (first_game_) return;
    // The update is for what the policy itself played.
    std::vector<learning::TrajectoryGroup> groups;
    for (size_t start = 0; start < kStarts; ++start) {
      learning::TrajectoryGroup& group = groups.emplace_back();
      for (size_t i = 0; i < kEpisodesPerStart; ++i) {
        Trajectory& episode = episodes[start * kEpisodesPerStart + i];
        episode.turns.erase(episode.turns.begin(),
                            episode.turns.begin() + static_cast<std::ptrdiff_t>(
                                                        first_turns_[start]));
        group.push_back(std::move(episode));
      }
    }
    learner_.Update(groups, elites_.Turns());
  }

  const absl::string_view name_;
  const std::unique_ptr<Model> model_;
  learning::PpoLearner learner_;
  learning::Elites elites_;
  // Until it has been played.
  std::optional<FirstGame> first_game_;
  // Of the last episodes: the turns of each start, which were replayed.
  std::vector<size_t> first_turns_;
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
