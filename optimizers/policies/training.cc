#include "optimizers/policies/training.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/synchronization/mutex.h"
#include <malloc.h>

#include "base/clock.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/rng.h"
#include "base/statistics.h"
#include "base/status_macros.h"
#include "base/thread_pool.h"
#include "learning/games/game.h"
#include "learning/networks/encoder_options.h"
#include "learning/ppo_learner.h"
#include "optimizers/policies/training_state.h"
#include "optimizers/policies/weights.h"
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
constexpr int64_t kUpdatesPerValidation = 10;

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

// The moves of the best game that a search without learning finds.
absl::StatusOr<std::vector<int32_t>> SearchMoves(
    const TrainingProblem& training_problem, const TrainingOptions& options) {
  HONE_ASSIGN_OR_RETURN(const auto problem, training_problem.make());
  OptimizerOptions optimizer_options;
  optimizer_options.seed = options.seed;
  HONE_ASSIGN_OR_RETURN(
      const auto optimizer,
      CreateOptimizer(options.teacher, *problem, optimizer_options));
  HONE_ASSIGN_OR_RETURN(
      const SearchResult result,
      RunSearch(*problem, *optimizer, {.trials = options.search_trials},
                SystemClock()));
  if (!result.best) return std::vector<int32_t>{};
  HONE_ASSIGN_OR_RETURN(
      std::vector<int32_t> moves,
      Shortened(*problem->sequential(), result.best->candidate.choices));
  moves.push_back(learning::kStopMove);
  return moves;
}

// One of the problems as it is being played.
struct Instance {
  std::unique_ptr<space::Problem> problem;
  std::unique_ptr<Game> game;
  double default_cost = 0;
};

absl::StatusOr<Instance> MakeInstance(const TrainingProblem& problem) {
  Instance instance;
  HONE_ASSIGN_OR_RETURN(instance.problem, problem.make());
  if (instance.problem->sequential() == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(
        problem.name, ": an assignment problem, expected a sequential one"));
  }
  instance.game = std::make_unique<Game>(*instance.problem->sequential());
  HONE_ASSIGN_OR_RETURN(
      const space::Measurement measurement,
      instance.problem->Measure(instance.problem->DefaultCandidate()));
  instance.default_cost = space::EffectiveCost(measurement);
  return instance;
}

absl::Status Settle(const Instance& instance, Trajectory& episode) {
  HONE_ASSIGN_OR_RETURN(episode.measurement,
                        instance.problem->Measure(episode.proposal));
  return absl::OkStatus();
}

// Plays these moves as far as they are legal and have not ended the game.
absl::StatusOr<Trajectory> ReplayLegal(const Game& game,
                                       const std::vector<int32_t>& moves) {
  if (moves.empty()) return Trajectory(game.Start());
  return learning::ReplayMoves(game, moves);
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

class Trainer {
 public:
  Trainer(const TrainingSet& set, const TrainingOptions& options)
      : set_(set),
        options_(options),
        start_(SystemClock().Monotonic()),
        pool_(std::max(1U, std::thread::hardware_concurrency())) {}

  absl::StatusOr<TrainingResult> Run() {
    // Tensors of megabytes come and go with every step; handing their pages
    // back to the system each time takes longer than the arithmetic.
    // NOLINTBEGIN(concurrency-mt-unsafe): both are written under malloc's lock.
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    // NOLINTEND(concurrency-mt-unsafe)
    if (set_.training.empty()) {
      return absl::InvalidArgumentError(
          "no problems to train on, expected 1 or more");
    }
    HONE_RETURN_IF_ERROR(MakeModel());
    PpoOptions ppo;
    ppo.learning_rate = 3e-4F;
    ppo.entropy_weight = 0.003F;
    learner_ = std::make_unique<PpoLearner>(*model_, ppo, options_.seed);
    HONE_RETURN_IF_ERROR(Resume());
    if (state_.update == 0) {
      if (!options_.initial_weights.empty()) HONE_RETURN_IF_ERROR(Validate());
      if (options_.search_trials > 0) HONE_RETURN_IF_ERROR(Teach());
      while (state_.label_rounds < options_.label_rounds &&
             Elapsed() < options_.time) {
        HONE_RETURN_IF_ERROR(LabelRound());
      }
    }
    while (state_.update < options_.updates && Elapsed() < options_.time) {
      HONE_RETURN_IF_ERROR(Update());
      if (state_.update % kUpdatesPerValidation == 0) {
        HONE_RETURN_IF_ERROR(Validate());
        HONE_RETURN_IF_ERROR(Save());
        Report();
      }
    }
    HONE_RETURN_IF_ERROR(Validate());
    std::error_code ignored;
    std::filesystem::remove(options_.state_file, ignored);
    return TrainingResult{state_.update, state_.best_validation};
  }

 private:
  absl::Duration Elapsed() const {
    return SystemClock().Monotonic() - start_ +
           absl::Seconds(state_.seconds_before);
  }

  // Runs body(i) for i in [0, n) on all threads; the first error.
  absl::Status ForEach(size_t n,
                       const std::function<absl::Status(size_t)>& body) {
    absl::Mutex mu;
    absl::Status failure;
    pool_.ParallelFor(static_cast<int64_t>(n), 1,
                      [&](int64_t begin, int64_t end) {
                        for (int64_t i = begin; i < end; ++i) {
                          absl::Status status = body(static_cast<size_t>(i));
                          absl::MutexLock lock(&mu);
                          failure.Update(status);
                        }
                      });
    return failure;
  }

  // The training that a saved state must belong to.
  std::string Fingerprint() const {
    std::string names;
    for (const TrainingProblem& problem : set_.training) {
      absl::StrAppend(&names, problem.name, ",");
    }
    // Games and weights are saved by index.
    const GameSpec& spec = model_->spec();
    const std::string kinds = Sha256Hex(
        absl::StrCat(absl::StrJoin(spec.actions.kind_names, ","), ";",
                     absl::StrJoin(spec.observation.node_kind_names, ",")));
    return absl::StrCat(
        names, options_.seed, ",", options_.teacher, ",",
        options_.search_trials, ",", options_.label_rounds, ",",
        options_.problems_per_update, ",", options_.episodes_per_problem, ",",
        options_.architecture, ",", options_.initial_weights, ",", kinds);
  }

  absl::Status Resume() {
    HONE_ASSIGN_OR_RETURN(
        std::optional<TrainingState> state,
        ReadTrainingState(options_.state_file, Fingerprint()));
    if (!state) {
      state_.fingerprint = Fingerprint();
      state_.best_moves.resize(set_.training.size());
      return absl::OkStatus();
    }
    state_ = *std::move(state);
    if (state_.weights.empty()) return absl::OkStatus();
    HONE_ASSIGN_OR_RETURN(const auto saved,
                          Model::Parse(state_.weights, model_->spec()));
    model_->CopyWeights(*saved);
    return learner_->ParseOptimizer(state_.gradient_descent);
  }

  absl::Status Save() {
    state_.weights = model_->Serialize();
    state_.gradient_descent = learner_->SerializeOptimizer();
    TrainingState saved = state_;
    saved.seconds_before = absl::ToDoubleSeconds(Elapsed());
    return WriteTrainingState(options_.state_file, saved);
  }

  absl::Status MakeModel() {
    HONE_ASSIGN_OR_RETURN(const Instance first, MakeInstance(set_.training[0]));
    HONE_ASSIGN_OR_RETURN(const learning::EncoderOptions architecture,
                          learning::ParseEncoderOptions(options_.architecture));
    const GameSpec spec = first.game->spec();
    model_ = std::make_unique<Model>(spec, architecture, options_.seed);
    if (options_.initial_weights.empty()) return absl::OkStatus();
    HONE_ASSIGN_OR_RETURN(auto initial,
                          ReadModel(options_.initial_weights, spec));
    if (options_.architecture.empty() ||
        initial->options() == model_->options()) {
      model_ = std::move(initial);
      return absl::OkStatus();
    }
    const std::vector<std::string> left = model_->CopyMatching(*initial);
    if (options_.partial) {
      if (options_.on_note) {
        options_.on_note(absl::StrCat(
            options_.initial_weights,
            ": all but these weights are taken: ", absl::StrJoin(left, ", ")));
      }
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(
        absl::StrCat(options_.initial_weights, ": the architecture is ",
                     learning::PrintEncoderOptions(initial->options()),
                     ", expected ", learning::PrintEncoderOptions(architecture),
                     "; --partial takes what fits"));
  }

  // Finds the sequences to imitate.
  absl::Status Teach() {
    HONE_RETURN_IF_ERROR(ForEach(set_.training.size(), [&](size_t i) {
      if (!state_.best_moves[i].empty()) return absl::OkStatus();
      HONE_ASSIGN_OR_RETURN(state_.best_moves[i],
                            SearchMoves(set_.training[i], options_));
      return absl::OkStatus();
    }));
    return Save();
  }

  // Learns from labels of states of the teacher's games and of the policy's own
  // (so that it knows what to do where it gets by itself: Ross, Gordon and
  // Bagnell, "A Reduction of Imitation Learning", 2011), and from the teacher's
  // turns.
  absl::Status LabelRound() {
    Rng rng(options_.seed * 1000003 + 7919 +
            static_cast<uint64_t>(state_.label_rounds));
    std::vector<Rng> rngs;
    for (size_t i = 0; i < set_.training.size(); ++i) {
      rngs.push_back(rng.Split());
    }
    std::vector<std::vector<MoveLabels>> labels(set_.training.size());
    std::vector<std::vector<Turn>> taught(set_.training.size());
    const auto label = [&](size_t i) -> absl::Status {
      HONE_ASSIGN_OR_RETURN(const Instance instance,
                            MakeInstance(set_.training[i]));
      const Game& game = *instance.game;
      HONE_ASSIGN_OR_RETURN(const Trajectory teacher,
                            ReplayLegal(game, state_.best_moves[i]));
      taught[i] = learning::UsefulTurns(teacher);
      if (!game.problem().costs_are_free()) return absl::OkStatus();
      HONE_RETURN_IF_ERROR(LabelGame(game, state_.best_moves[i], kTaughtStates,
                                     rngs[i], labels[i]));
      HONE_ASSIGN_OR_RETURN(
          const std::vector<Trajectory> own,
          learning::PlayEpisodes(game, *model_, 1,
                                 learning::ChooseBySoftmax(rngs[i])));
      return LabelGame(game, own[0].end.moves, kOwnStates, rngs[i], labels[i]);
    };
    HONE_RETURN_IF_ERROR(ForEach(set_.training.size(), label));
    std::vector<MoveLabels> all;
    std::vector<Turn> turns;
    for (size_t i = 0; i < set_.training.size(); ++i) {
      std::move(labels[i].begin(), labels[i].end(), std::back_inserter(all));
      std::move(taught[i].begin(), taught[i].end(), std::back_inserter(turns));
    }
    // What pays at once is a guide at first; what the teacher did, which may
    // pay late, has the last word.
    const float choice_weight =
        1 - static_cast<float>(state_.label_rounds + 1) /
                static_cast<float>(options_.label_rounds);
    for (int pass = 0; pass < kPassesPerRound; ++pass) {
      progress_.label_loss =
          learner_->LearnLabels(all, choice_weight, kImitationRate).choice_loss;
      progress_.imitation_loss = learner_->Imitate(turns, kImitationRate);
    }
    ++state_.label_rounds;
    HONE_RETURN_IF_ERROR(Validate());
    HONE_RETURN_IF_ERROR(Save());
    Report();
    return absl::OkStatus();
  }

  absl::Status Update() {
    // Drawn by the update's number, so that going on later draws the same.
    Rng rng(options_.seed * 1000003 + static_cast<uint64_t>(state_.update) + 1);
    std::vector<size_t> chosen;
    chosen.reserve(static_cast<size_t>(options_.problems_per_update));
    for (int32_t i = 0; i < options_.problems_per_update; ++i) {
      chosen.push_back(rng.Below(set_.training.size()));
    }
    std::vector<Rng> rngs;
    rngs.reserve(chosen.size());
    for (size_t i = 0; i < chosen.size(); ++i) rngs.push_back(rng.Split());
    std::vector<TrajectoryGroup> groups(chosen.size());
    std::vector<std::optional<Trajectory>> demonstrations(chosen.size());
    const auto play = [&](size_t i) -> absl::Status {
      HONE_ASSIGN_OR_RETURN(const Instance instance,
                            MakeInstance(set_.training[chosen[i]]));
      HONE_ASSIGN_OR_RETURN(
          groups[i], learning::PlayEpisodes(
                         *instance.game, *model_, options_.episodes_per_problem,
                         learning::ChooseBySoftmax(rngs[i])));
      for (Trajectory& episode : groups[i]) {
        HONE_RETURN_IF_ERROR(Settle(instance, episode));
      }
      HONE_ASSIGN_OR_RETURN(
          Trajectory best,
          ReplayLegal(*instance.game, state_.best_moves[chosen[i]]));
      demonstrations[i] = std::move(best);
      return Settle(instance, *demonstrations[i]);
    };
    HONE_RETURN_IF_ERROR(ForEach(chosen.size(), play));
    for (size_t i = 0; i < chosen.size(); ++i) {
      for (const Trajectory& episode : groups[i]) {
        const auto rank = [](const Trajectory& of) {
          return std::make_pair(space::EffectiveCost(of.measurement),
                                of.proposal.choices.size());
        };
        if (rank(episode) < rank(*demonstrations[i])) {
          demonstrations[i] = episode;
          state_.best_moves[chosen[i]] = episode.end.moves;
        }
      }
    }
    std::vector<Turn> turns;
    for (const std::optional<Trajectory>& episode : demonstrations) {
      std::vector<Turn> useful = learning::UsefulTurns(*episode);
      std::move(useful.begin(), useful.end(), std::back_inserter(turns));
    }
    const PpoStatistics statistics = learner_->Update(groups, turns);
    ++state_.update;
    progress_.mean_reward = statistics.mean_reward;
    progress_.entropy = statistics.entropy;
    progress_.imitation_loss = statistics.imitation_loss;
    return AppendCurve(statistics);
  }

  // Plays the validation problems greedily and keeps the weights if they did
  // better than any before.
  absl::Status Validate() {
    const std::vector<TrainingProblem>& problems =
        set_.validation.empty() ? set_.training : set_.validation;
    std::vector<double> ratios(problems.size());
    const auto play = [&](size_t i) -> absl::Status {
      HONE_ASSIGN_OR_RETURN(const Instance instance, MakeInstance(problems[i]));
      HONE_ASSIGN_OR_RETURN(
          std::vector<Trajectory> episodes,
          learning::PlayEpisodes(*instance.game, *model_, 1,
                                 learning::ChooseBestAndGoOn));
      HONE_RETURN_IF_ERROR(Settle(instance, episodes[0]));
      ratios[i] =
          space::EffectiveCost(episodes[0].measurement) / instance.default_cost;
      return absl::OkStatus();
    };
    HONE_RETURN_IF_ERROR(ForEach(problems.size(), play));
    state_.validation = GeometricMean(ratios);
    if (state_.best_validation == 0 ||
        state_.validation < state_.best_validation) {
      state_.best_validation = state_.validation;
      HONE_RETURN_IF_ERROR(
          WriteFileAtomically(options_.weights_file, model_->Serialize()));
    }
    return absl::OkStatus();
  }

  absl::Status AppendCurve(const PpoStatistics& statistics) {
    if (options_.curve_file.empty()) return absl::OkStatus();
    const bool is_new = !std::filesystem::exists(options_.curve_file);
    std::ofstream out(options_.curve_file, std::ios::app);
    if (is_new) {
      out << "update,seconds,mean_reward,entropy,policy_loss,value_loss,"
             "imitation_loss,validation\n";
    }
    out << absl::StrJoin({static_cast<double>(state_.update),
                          absl::ToDoubleSeconds(Elapsed()),
                          statistics.mean_reward, statistics.entropy,
                          statistics.policy_loss, statistics.value_loss,
                          statistics.imitation_loss, state_.validation},
                         ",")
        << "\n";
    out.close();
    if (!out) {
      return absl::InvalidArgumentError(
          absl::StrCat(options_.curve_file, ": cannot be written"));
    }
    return absl::OkStatus();
  }

  void Report() {
    if (!options_.on_progress) return;
    progress_.label_round = state_.label_rounds;
    progress_.update = state_.update;
    progress_.validation = state_.validation;
    progress_.best_validation = state_.best_validation;
    progress_.seconds = absl::ToDoubleSeconds(Elapsed());
    options_.on_progress(progress_);
  }

  const TrainingSet& set_;
  const TrainingOptions& options_;
  const absl::Duration start_;
  ThreadPool pool_;
  std::unique_ptr<Model> model_;
  std::unique_ptr<PpoLearner> learner_;
  TrainingState state_;
  TrainingProgress progress_;
};

}  // namespace

absl::StatusOr<TrainingResult> Train(const TrainingSet& set,
                                     const TrainingOptions& options) {
  return Trainer(set, options).Run();
}

}  // namespace hone::optimizers::policies
