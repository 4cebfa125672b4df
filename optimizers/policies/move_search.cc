#include "optimizers/policies/move_search.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "learning/assignment_learner.h"
#include "learning/models/assignment_model.h"
#include "optimizers/batch_optimizer.h"
#include "optimizers/policies/move_walk.h"
#include "optimizers/policies/weights.h"

namespace hone::optimizers::policies {
namespace {

using learning::AssignmentLearner;
using learning::AssignmentModel;

// Tries before a trial, at least and at most; between them a 32nd of those made
// so far, so that a search oversteps its budget by no more.
constexpr int64_t kLeastTries = 1;
constexpr int64_t kMostTries = 512;
// Tries of `zero_shot`, about.
constexpr int64_t kZeroShotTries = 64;
// Tries between two updates, and what is learned from then: so many of the
// moves tried so far, drawn anew each pass.
constexpr size_t kTriesPerUpdate = 48;
constexpr size_t kLessons = 128;
constexpr int kPasses = 4;
// The share of rounds that go without the policy, so that a search does not
// depend on what it expects.
constexpr double kExploring = 0.1;
constexpr float kScratchRate = 3e-3F;
constexpr float kFinetuneRate = 1e-4F;

class MoveSearch final : public BatchOptimizer {
 public:
  MoveSearch(absl::string_view name, const space::AssignmentProblem& problem,
             const AssignmentSampling& sampling,
             std::unique_ptr<const AssignmentModel> model, bool trained,
             const OptimizerOptions& options)
      : BatchOptimizer(problem, options),
        name_(name),
        learns_(sampling.learn),
        most_tries_(sampling.zero_shot ? kZeroShotTries
                                       : std::numeric_limits<int64_t>::max()),
        seed_(options.seed),
        initial_(std::move(model)),
        trained_(trained),
        view_(problem),
        walk_(problem, view_, options.seed,
              {.moves_per_try = options.moves_per_try,
               .uniform = options.uniform_prior,
               .without_estimate = options.without_estimate}) {}

  absl::string_view name() const override { return name_; }
  bool replays() const override { return false; }

 private:
  void Begin(absl::Span<const space::Trial> known) override {
    if (learns_) {
      model_ = std::make_unique<AssignmentModel>(initial_->spec(),
                                                 initial_->options(), seed_);
      model_->CopyWeights(*initial_);
      learning::AssignmentPpoOptions ppo;
      ppo.learning_rate = trained_ ? kFinetuneRate : kScratchRate;
      ppo.heads_only = true;
      rate_ = ppo.learning_rate;
      learner_ = std::make_unique<AssignmentLearner>(*model_, ppo, seed_);
      walk_.ForgetModel();
    }
    tries_ = 0;
    experience_.clear();
    learned_ = 0;
    choices_.clear();
    walk_.Restart(BestOf(known).candidate.choices);
  }

  void Learn(const space::Trial&) override {}

  std::vector<space::Candidate> Plan() override {
    if (tries_ >= most_tries_) return {};
    const int64_t count = std::clamp(tries_ / 32, kLeastTries, kMostTries);
    walk_.ClearFound();
    int64_t made = 0;
    while (made < count && !stopped()) {
      const int tries = walk_.Round(Policy(), kExploring);
      if (tries == 0) break;
      made += tries;
      Improve();
    }
    tries_ += made;
    if (made == 0) return {};
    if (!walk_.has_found()) {
      return {{{walk_.values().begin(), walk_.values().end()}}};
    }
    return {{walk_.found()}};
  }

  const AssignmentModel* Policy() const {
    return model_ == nullptr ? initial_.get() : model_.get();
  }

  // Learns once there is enough that is new, if anything is to be learned.
  void Improve() {
    std::vector<learning::TriedMove> moves = walk_.TakeTried();
    std::vector<learning::MoveChoice> choices = walk_.TakeChoices();
    if (learner_ == nullptr) return;
    for (learning::TriedMove& tried : moves) {
      experience_.push_back(std::move(tried));
    }
    for (learning::MoveChoice& choice : choices) {
      choices_.push_back(std::move(choice));
    }
    if (experience_.size() < learned_ + kTriesPerUpdate) return;
    learned_ = experience_.size();
    for (int pass = 0; pass < kPasses; ++pass) {
      std::vector<learning::TriedMove> lessons;
      for (size_t i = 0; i < kLessons; ++i) {
        lessons.push_back(experience_[rng().Below(experience_.size())]);
      }
      learner_->FitGains(view_, lessons, rate_);
    }
    learner_->UpdateMoves(view_, choices_);
    choices_.clear();
  }

  const absl::string_view name_;
  const bool learns_;
  const int64_t most_tries_;
  const uint64_t seed_;
  const std::unique_ptr<const AssignmentModel> initial_;
  const bool trained_;
  const learning::ValueView view_;
  MoveWalk walk_;
  // What becomes of the initial weights; null if they stay as they are.
  std::unique_ptr<AssignmentModel> model_;
  std::unique_ptr<AssignmentLearner> learner_;
  float rate_ = 0;
  int64_t tries_ = 0;
  // All moves tried, and how many there were at the last update.
  std::vector<learning::TriedMove> experience_;
  size_t learned_ = 0;
  std::vector<learning::MoveChoice> choices_;  // since then
};

}  // namespace

absl::StatusOr<std::unique_ptr<Optimizer>> MakeMoveSearch(
    absl::string_view name, const space::AssignmentProblem& problem,
    const AssignmentSampling& sampling, const OptimizerOptions& options) {
  const bool trained = sampling.shipped ? HasTrainedWeights(problem, options)
                                        : !options.weights.empty();
  std::unique_ptr<const AssignmentModel> model;
  const bool is_control = options.uniform_prior || options.estimated_prior;
  if (sampling.learn || (!is_control && trained)) {
    if (trained) {
      HONE_ASSIGN_OR_RETURN(model, TrainedModel(problem, options));
    } else {
      model = NewModel(problem, options);
    }
  }
  return std::make_unique<MoveSearch>(name, problem, sampling, std::move(model),
                                      trained, options);
}

}  // namespace hone::optimizers::policies
