#include "optimizers/policies/learning/training.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
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
#include "optimizers/policies/learning/ppo_learner.h"
#include "optimizers/policies/learning/training_state.h"
#include "optimizers/policies/model/weights.h"
#include "optimizers/registry.h"
#include "optimizers/search.h"

namespace hone::optimizers::policies {
namespace {

constexpr int32_t kProblemsPerUpdate = 4;
constexpr int32_t kEpisodesPerProblem = 8;
// Passes over the sequences of the search before PPO begins, at most, and the
// cross entropy in nats that is enough: what is left is mostly the order of
// moves that may as well be exchanged.
constexpr int kImitationEpochs = 200;
constexpr double kImitated = 0.5;
constexpr float kImitationRate = 2e-3F;
constexpr int64_t kUpdatesPerValidation = 10;

int32_t StopMove(const Game& game) { return game.spec().move_kinds - 1; }

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
  HONE_ASSIGN_OR_RETURN(const auto optimizer,
                        CreateOptimizer("beam", *problem, optimizer_options));
  HONE_ASSIGN_OR_RETURN(
      const SearchResult result,
      RunSearch(*problem, *optimizer, {.trials = options.search_trials},
                SystemClock()));
  if (!result.best) return std::vector<int32_t>{};
  std::vector<int32_t> moves = result.best->candidate.choices;
  if (problem->sequential() != nullptr) {
    HONE_ASSIGN_OR_RETURN(moves,
                          Shortened(*problem->sequential(), std::move(moves)));
    moves.push_back(StopMove(*Game::Make(*problem)));
  }
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
  instance.game = Game::Make(*instance.problem);
  HONE_ASSIGN_OR_RETURN(
      const space::Measurement measurement,
      instance.problem->Measure(instance.problem->DefaultCandidate()));
  instance.default_cost = space::EffectiveCost(measurement);
  return instance;
}

absl::Status Settle(const Instance& instance, Trajectory& episode) {
  HONE_ASSIGN_OR_RETURN(const space::Measurement measurement,
                        instance.problem->Measure(episode.proposal));
  episode.cost = space::EffectiveCost(measurement);
  if (!episode.turns.empty()) {
    episode.turns.back().reward += static_cast<float>(
        instance.game->FinalReward(episode.cost, instance.default_cost));
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
    HONE_ASSIGN_OR_RETURN(const Instance first, MakeInstance(set_.training[0]));
    model_ = std::make_unique<Model>(first.game->spec(), options_.seed);
    if (!options_.initial_weights.empty()) {
      HONE_ASSIGN_OR_RETURN(
          const auto initial,
          ReadModel(options_.initial_weights, model_->spec()));
      model_->CopyWeights(*initial);
    }
    PpoOptions ppo;
    ppo.learning_rate = 3e-4F;
    ppo.entropy_weight = 0.003F;
    learner_ = std::make_unique<PpoLearner>(*model_, ppo, options_.seed);
    HONE_RETURN_IF_ERROR(Resume());
    if (state_.update == 0) {
      if (!options_.initial_weights.empty()) HONE_RETURN_IF_ERROR(Validate());
      if (options_.search_trials > 0) HONE_RETURN_IF_ERROR(WarmStart());
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
        absl::StrCat(absl::StrJoin(spec.action_names, ","), ";",
                     absl::StrJoin(spec.observation.node_kind_names, ",")));
    return absl::StrCat(names, options_.seed, ",", options_.search_trials, ",",
                        options_.initial_weights, ",", kinds);
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

  absl::Status WarmStart() {
    HONE_RETURN_IF_ERROR(ForEach(set_.training.size(), [&](size_t i) {
      if (!state_.best_moves[i].empty()) return absl::OkStatus();
      HONE_ASSIGN_OR_RETURN(state_.best_moves[i],
                            SearchMoves(set_.training[i], options_));
      return absl::OkStatus();
    }));
    HONE_RETURN_IF_ERROR(Save());
    std::vector<Trajectory> demonstrations(set_.training.size());
    HONE_RETURN_IF_ERROR(ForEach(set_.training.size(), [&](size_t i) {
      HONE_ASSIGN_OR_RETURN(const Instance instance,
                            MakeInstance(set_.training[i]));
      HONE_ASSIGN_OR_RETURN(demonstrations[i],
                            ReplayMoves(*instance.game, state_.best_moves[i]));
      return absl::OkStatus();
    }));
    std::vector<const Turn*> turns;
    for (const Trajectory& episode : demonstrations) {
      for (const Turn& turn : episode.turns) turns.push_back(&turn);
    }
    progress_.imitation_loss = std::numeric_limits<double>::infinity();
    for (int epoch = 0;
         epoch < kImitationEpochs && progress_.imitation_loss > kImitated;
         ++epoch) {
      progress_.imitation_loss = learner_->Imitate(turns, kImitationRate);
      if (epoch % 10 == 0) Report();
    }
    HONE_RETURN_IF_ERROR(Validate());
    return Save();
  }

  absl::Status Update() {
    // Drawn by the update's number, so that going on later draws the same.
    Rng rng(options_.seed * 1000003 + static_cast<uint64_t>(state_.update) + 1);
    std::vector<size_t> chosen;
    chosen.reserve(static_cast<size_t>(kProblemsPerUpdate));
    for (int32_t i = 0; i < kProblemsPerUpdate; ++i) {
      chosen.push_back(rng.Below(set_.training.size()));
    }
    std::vector<Rng> rngs;
    rngs.reserve(chosen.size());
    for (size_t i = 0; i < chosen.size(); ++i) rngs.push_back(rng.Split());
    std::vector<TrajectoryGroup> groups(chosen.size());
    std::vector<Trajectory> demonstrations(chosen.size());
    const auto play = [&](size_t i) -> absl::Status {
      HONE_ASSIGN_OR_RETURN(const Instance instance,
                            MakeInstance(set_.training[chosen[i]]));
      HONE_ASSIGN_OR_RETURN(
          groups[i], PlayEpisodes(*instance.game, *model_, kEpisodesPerProblem,
                                  ChooseBySoftmax(rngs[i])));
      for (Trajectory& episode : groups[i]) {
        HONE_RETURN_IF_ERROR(Settle(instance, episode));
      }
      HONE_ASSIGN_OR_RETURN(
          demonstrations[i],
          ReplayMoves(*instance.game, state_.best_moves[chosen[i]]));
      return Settle(instance, demonstrations[i]);
    };
    HONE_RETURN_IF_ERROR(ForEach(chosen.size(), play));
    for (size_t i = 0; i < chosen.size(); ++i) {
      for (const Trajectory& episode : groups[i]) {
        // Total rewards count moves, so that shorter ways win.
        if (episode.TotalReward() > demonstrations[i].TotalReward()) {
          demonstrations[i] = episode;
          state_.best_moves[chosen[i]] = episode.end.moves;
        }
      }
    }
    std::vector<const Turn*> turns;
    for (const Trajectory& episode : demonstrations) {
      for (const Turn& turn : episode.turns) turns.push_back(&turn);
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
          PlayEpisodes(*instance.game, *model_, 1, ChooseBest));
      HONE_RETURN_IF_ERROR(Settle(instance, episodes[0]));
      ratios[i] = episodes[0].cost / instance.default_cost;
      return absl::OkStatus();
    };
    HONE_RETURN_IF_ERROR(ForEach(problems.size(), play));
    progress_.validation = GeometricMean(ratios);
    if (state_.best_validation == 0 ||
        progress_.validation < state_.best_validation) {
      state_.best_validation = progress_.validation;
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
                          statistics.imitation_loss, progress_.validation},
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
    progress_.update = state_.update;
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
