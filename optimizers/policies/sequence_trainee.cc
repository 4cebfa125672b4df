#include "optimizers/policies/sequence_trainee.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"

#include "base/clock.h"
#include "base/status_macros.h"
#include "learning/games/game.h"
#include "learning/games/rollout.h"
#include "learning/ppo_learner.h"
#include "optimizers/policies/initial_model.h"
#include "optimizers/policies/spec_digest.h"
#include "optimizers/registry.h"
#include "optimizers/search.h"

namespace hone::optimizers::policies {
namespace {

using learning::Game;
using learning::GameSpec;
using learning::Model;
using learning::MoveLabels;
using learning::PpoLearner;
using learning::PpoOptions;
using learning::PpoStatistics;
using learning::Trajectory;
using learning::TrajectoryGroup;
using learning::Turn;
using learning::View;

// States of a problem that a round of labels learns from: of the teacher's
// game, and of the policy's.
constexpr size_t kTaughtStates = 8;
constexpr size_t kOwnStates = 12;
// Passes over the labels and the teacher's turns in a round.
constexpr int kPassesPerRound = 4;
constexpr float kImitationRate = 1e-3F;

// `choices` without those that can go without raising the cost: what is left is
// worth imitating.
absl::StatusOr<std::vector<int32_t>> Shortened(
    const space::SequentialProblem& problem, std::vector<int32_t> choices) {
  HONE_ASSIGN_OR_RETURN(const space::Measurement whole,
                        problem.Measure({choices}));
  for (size_t i = choices.size(); i-- > 0;) {
    std::vector<int32_t> shorter = choices;
    shorter.erase(shorter.begin() + static_cast<std::ptrdiff_t>(i));
    HONE_ASSIGN_OR_RETURN(const space::Measurement measurement,
                          problem.Measure({shorter}));
    if (space::EffectiveCost(measurement) <= whole.cost) {
      choices = std::move(shorter);
    }
  }
  return choices;
}

// One of the problems as it is being played.
struct Instance {
  std::shared_ptr<space::Problem> problem;
  std::unique_ptr<Game> game;
};

absl::StatusOr<Instance> MakeInstance(const TrainingProblem& problem) {
  Instance instance;
  HONE_ASSIGN_OR_RETURN(instance.problem, problem.make());
  if (instance.problem->sequential() == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat(problem.name,
                     ": an assignment problem, expected a sequential one as "
                     "the first of the set is"));
  }
  instance.game = std::make_unique<Game>(*instance.problem->sequential());
  return instance;
}

absl::Status Settle(const Instance& instance, Trajectory& episode) {
  HONE_ASSIGN_OR_RETURN(episode.measurement,
                        instance.problem->Measure(episode.proposal));
  return absl::OkStatus();
}

// Tries all moves in `position`.
absl::StatusOr<MoveLabels> LabelsOf(const Game& game,
                                    const learning::GameState& position) {
  MoveLabels labels;
  auto view = std::make_shared<View>(game.Observe(position));
  for (const int32_t move : view->moves) {
    if (move == learning::kStopMove) continue;
    HONE_ASSIGN_OR_RETURN(const learning::GameState next,
                          game.Play(position, move));
    labels.changes.push_back(next.no_ops == 0);
    labels.rewards.push_back(static_cast<float>(next.reward));
  }
  labels.view = std::move(view);
  return labels;
}

// Labels up to `count` states of a game, drawn from its moves.
absl::Status LabelGame(const Game& game, const std::vector<int32_t>& moves,
                       size_t count, Rng& rng,
                       std::vector<MoveLabels>& labels) {
  std::vector<learning::GameState> states = {game.Start()};
  for (const int32_t move : moves) {
    if (move == learning::kStopMove) break;
    HONE_ASSIGN_OR_RETURN(learning::GameState next,
                          game.Play(states.back(), move));
    if (next.over()) break;
    if (next.no_ops == 0) {
      states.push_back(std::move(next));
    } else {
      states.back() = std::move(next);
    }
  }
  std::shuffle(states.begin(), states.end(), rng);
  for (size_t i = 0; i < std::min(count, states.size()); ++i) {
    HONE_ASSIGN_OR_RETURN(MoveLabels of, LabelsOf(game, states[i]));
    labels.push_back(std::move(of));
  }
  return absl::OkStatus();
}

// The solution of a problem is the list of moves of a game.
class SequenceTrainee final : public Trainee {
 public:
  SequenceTrainee(std::unique_ptr<Model> model, const TrainingOptions& options)
      : options_(options), model_(std::move(model)) {
    PpoOptions ppo;
    ppo.learning_rate = 3e-4F;
    ppo.entropy_weight = 0.003F;
    learner_ = std::make_unique<PpoLearner>(*model_, ppo, options_.seed);
  }

  std::string SpecDigest() const override {
    const GameSpec& spec = model_->spec();
    return DigestOf(spec.observation,
                    {spec.actions.kind_names, spec.actions.feature_names});
  }

  std::string SerializeWeights() const override { return model_->Serialize(); }
  std::string SerializeDescent() const override {
    return learner_->SerializeDescent();
  }
  absl::Status Restore(absl::string_view weights,
                       absl::string_view descent) override {
    HONE_RETURN_IF_ERROR(RestoreModel(weights, *model_));
    return learner_->ParseDescent(descent);
  }

  // The moves of the best game that a search without learning finds.
  absl::StatusOr<std::vector<int32_t>> Teach(
      const TrainingProblem& training_problem) const override {
    HONE_ASSIGN_OR_RETURN(const Instance instance,
                          MakeInstance(training_problem));
    const space::SequentialProblem& problem = instance.game->problem();
    OptimizerOptions optimizer_options;
    optimizer_options.seed = options_.seed;
    HONE_ASSIGN_OR_RETURN(
        const auto optimizer,
        CreateOptimizer(options_.teacher, problem, optimizer_options));
    HONE_ASSIGN_OR_RETURN(
        const SearchResult result,
        RunSearch(problem, *optimizer, {.trials = options_.search_trials},
                  SystemClock()));
    if (!result.best) return std::vector<int32_t>{};
    HONE_ASSIGN_OR_RETURN(std::vector<int32_t> moves,
                          Shortened(problem, result.best->candidate.choices));
    moves.push_back(learning::kStopMove);
    return moves;
  }

  // Learns from labels of states of the teacher's games and of the policy's own
  // (so that it knows what to do where it gets by itself: Ross, Gordon and
  // Bagnell, "A Reduction of Imitation Learning", 2011), and from the teacher's
  // turns.
  absl::Status LabelRound(std::vector<Lesson>& lessons, float fades,
                          const ForEach& for_each,
                          TraineeStatistics& statistics) override {
    std::vector<std::vector<MoveLabels>> labels(lessons.size());
    std::vector<std::vector<Turn>> taught(lessons.size());
    const auto label = [&](size_t i) -> absl::Status {
      Lesson& lesson = lessons[i];
      HONE_ASSIGN_OR_RETURN(const Instance instance,
                            MakeInstance(*lesson.problem));
      const Game& game = *instance.game;
      HONE_ASSIGN_OR_RETURN(const Trajectory teacher,
                            learning::ReplayMoves(game, *lesson.best));
      taught[i] = learning::UsefulTurns(teacher);
      if (!game.problem().costs_are_free()) return absl::OkStatus();
      HONE_RETURN_IF_ERROR(
          LabelGame(game, *lesson.best, kTaughtStates, lesson.rng, labels[i]));
      HONE_ASSIGN_OR_RETURN(
          const std::vector<Trajectory> own,
          learning::PlayEpisodes(game, *model_, 1,
                                 learning::ChooseBySoftmax(lesson.rng)));
      return LabelGame(game, own[0].end.moves, kOwnStates, lesson.rng,
                       labels[i]);
    };
    HONE_RETURN_IF_ERROR(for_each(lessons.size(), label));
    std::vector<MoveLabels> all;
    std::vector<Turn> turns;
    for (size_t i = 0; i < lessons.size(); ++i) {
      std::move(labels[i].begin(), labels[i].end(), std::back_inserter(all));
      std::move(taught[i].begin(), taught[i].end(), std::back_inserter(turns));
    }
    // What pays at once is a guide at first; what the teacher did, which may
    // pay late, has the last word.
    for (int pass = 0; pass < kPassesPerRound; ++pass) {
      statistics.label_loss =
          learner_->LearnLabels(all, fades, kImitationRate).choice_loss;
      statistics.imitation_loss = learner_->Imitate(turns, kImitationRate);
    }
    return absl::OkStatus();
  }

  absl::Status Update(std::vector<Lesson>& lessons, const ForEach& for_each,
                      TraineeStatistics& statistics) override {
    std::vector<TrajectoryGroup> groups(lessons.size());
    std::vector<std::optional<Trajectory>> demonstrations(lessons.size());
    const auto play = [&](size_t i) -> absl::Status {
      HONE_ASSIGN_OR_RETURN(const Instance instance,
                            MakeInstance(*lessons[i].problem));
      HONE_ASSIGN_OR_RETURN(
          groups[i], learning::PlayEpisodes(
                         *instance.game, *model_, options_.episodes_per_problem,
                         learning::ChooseBySoftmax(lessons[i].rng)));
      for (Trajectory& episode : groups[i]) {
        HONE_RETURN_IF_ERROR(Settle(instance, episode));
      }
      HONE_ASSIGN_OR_RETURN(
          Trajectory best,
          learning::ReplayMoves(*instance.game, *lessons[i].best));
      demonstrations[i] = std::move(best);
      return Settle(instance, *demonstrations[i]);
    };
    HONE_RETURN_IF_ERROR(for_each(lessons.size(), play));
    for (size_t i = 0; i < lessons.size(); ++i) {
      for (const Trajectory& episode : groups[i]) {
        const auto rank = [](const Trajectory& of) {
          return std::make_pair(space::EffectiveCost(of.measurement),
                                of.proposal.choices.size());
        };
        if (rank(episode) < rank(*demonstrations[i])) {
          demonstrations[i] = episode;
          *lessons[i].best = episode.end.moves;
        }
      }
    }
    std::vector<Turn> turns;
    for (const std::optional<Trajectory>& episode : demonstrations) {
      std::vector<Turn> useful = learning::UsefulTurns(*episode);
      std::move(useful.begin(), useful.end(), std::back_inserter(turns));
    }
    const PpoStatistics of = learner_->Update(groups, turns);
    statistics = {.mean_reward = of.mean_reward,
                  .entropy = of.entropy,
                  .policy_loss = of.policy_loss,
                  .value_loss = of.value_loss,
                  .imitation_loss = of.imitation_loss};
    return absl::OkStatus();
  }

  // Plays greedily.
  absl::StatusOr<double> Validate(
      const TrainingProblem& problem) const override {
    HONE_ASSIGN_OR_RETURN(const Instance instance, MakeInstance(problem));
    HONE_ASSIGN_OR_RETURN(
        const space::Measurement by_default,
        instance.problem->Measure(instance.problem->DefaultCandidate()));
    HONE_ASSIGN_OR_RETURN(std::vector<Trajectory> episodes,
                          learning::PlayEpisodes(*instance.game, *model_, 1,
                                                 learning::ChooseBestAndGoOn));
    HONE_RETURN_IF_ERROR(Settle(instance, episodes[0]));
    return space::EffectiveCost(episodes[0].measurement) /
           space::EffectiveCost(by_default);
  }

 private:
  const TrainingOptions& options_;
  const std::unique_ptr<Model> model_;
  std::unique_ptr<PpoLearner> learner_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Trainee>> MakeSequenceTrainee(
    const space::SequentialProblem& problem, const TrainingOptions& options) {
  HONE_ASSIGN_OR_RETURN(auto model,
                        InitialModel<Model>(Game(problem).spec(), options));
  return std::make_unique<SequenceTrainee>(std::move(model), options);
}

}  // namespace hone::optimizers::policies
