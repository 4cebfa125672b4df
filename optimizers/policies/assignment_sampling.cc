#include "optimizers/policies/assignment_sampling.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "base/status_macros.h"
#include "learning/assignment_learner.h"
#include "learning/assignments/sample.h"
#include "learning/assignments/value_view.h"
#include "learning/models/assignment_model.h"
#include "optimizers/batch_optimizer.h"
#include "optimizers/moves.h"
#include "optimizers/policies/assignment_decoding.h"
#include "optimizers/policies/move_search.h"
#include "optimizers/policies/weights.h"
#include "space/reward.h"

namespace hone::optimizers::policies {
namespace {

using learning::AssignmentLearner;
using learning::AssignmentModel;
using learning::AssignmentSample;

// Samples of a round: drawn from the policy, and with equal scores beside, so
// that it does not settle on what pays first.
constexpr size_t kSamples = 12;
constexpr size_t kExploring = 4;
// Assignments that trained weights decode first, one after the other.
constexpr int kDecodeRounds = 3;
constexpr float kFinetuneRate = 3e-4F;
// Assignments that a polishing search goes on from.
constexpr size_t kElites = 8;
// Tried moves of polishing a sample: so many for each variable, within these.
constexpr int64_t kLeastPolish = 64;
constexpr int64_t kMostPolish = 2048;
// One in so many is a time to see whether to stop.
constexpr int64_t kTriesPerPoll = 16;
// Rounds without anything new after which the space counts as exhausted.
constexpr int kMaxFruitless = 25;

class Sampling final : public BatchOptimizer {
 public:
  Sampling(absl::string_view name, const space::AssignmentProblem& problem,
           const AssignmentSampling& sampling,
           std::unique_ptr<const AssignmentModel> model, bool trained,
           const OptimizerOptions& options)
      : BatchOptimizer(problem, options),
        name_(name),
        problem_(problem),
        sampling_(sampling),
        seed_(options.seed),
        initial_(std::move(model)),
        trained_(trained),
        view_(problem),
        domains_(problem.MakeDomains()),
        order_(static_cast<size_t>(problem.variable_count())) {
    std::iota(order_.begin(), order_.end(), 0);
  }

  absl::string_view name() const override { return name_; }

 private:
  struct Elite {
    std::vector<int32_t> values;
    space::Rank rank;
    float reward = 0;
  };

  void Begin(absl::Span<const space::Trial> known) override {
    if (sampling_.learn) {
      model_ = std::make_unique<AssignmentModel>(initial_->spec(),
                                                 initial_->options(), seed_);
      model_->CopyWeights(*initial_);
      learning::AssignmentPpoOptions ppo;
      // Keeps the policy from forgetting its training at once.
      if (trained_) ppo.learning_rate = kFinetuneRate;
      learner_ = std::make_unique<AssignmentLearner>(*model_, ppo, seed_);
    }
    decoded_ = !trained_;
    elites_.clear();
    rewards_.clear();
    samples_.clear();
    for (const space::Trial& trial : known) Learn(trial);
    std::vector<float> scores(view_.score_count());
    learning::PreferValues(view_, elites_[0].values,
                           learning::KeepForChanges(problem_, 1), scores);
    if (auto sample = Sample(scores)) CountDecided({&*sample, 1});
  }

  void Learn(const space::Trial& trial) override {
    const float reward = static_cast<float>(
        space::RewardOf(trial.measurement, problem_.reference_cost()));
    rewards_[HashOf(trial.candidate.choices)] = reward;
    Elite elite{trial.candidate.choices, space::RankOf(trial.measurement),
                reward};
    // Among equals the newest comes first, so that a search walks on plateaus.
    elites_.insert(std::lower_bound(elites_.begin(), elites_.end(), elite,
                                    [](const Elite& a, const Elite& b) {
                                      return a.rank < b.rank;
                                    }),
                   std::move(elite));
    if (elites_.size() > (sampling_.polish ? kElites : 1)) elites_.pop_back();
  }

  std::vector<space::Candidate> Plan() override {
    if (order_.empty()) return {};
    if (!std::exchange(decoded_, true)) {
      std::vector<space::Candidate> batch = Decode();
      if (!batch.empty()) return batch;
    }
    if (sampling_.zero_shot) return {};
    for (int round = 0; round < kMaxFruitless && !stopped(); ++round) {
      Train();
      DrawRound(round);
      std::vector<space::Candidate> batch;
      absl::flat_hash_map<Hash128, bool> proposed;
      for (const AssignmentSample& sample : samples_) {
        const Hash128 hash = HashOf(sample.values);
        if (!rewards_.contains(hash) && proposed.try_emplace(hash).second) {
          batch.push_back({sample.values});
        }
      }
      if (!batch.empty()) return batch;
    }
    return {};
  }

  // What the policy makes of the default.
  std::vector<space::Candidate> Decode() {
    std::vector<space::Candidate> batch;
    for (std::vector<int32_t>& values :
         DecodeInRounds(*initial_, view_, problem_.DefaultCandidate().choices,
                        kDecodeRounds, *domains_)) {
      if (!rewards_.contains(HashOf(values))) {
        batch.push_back({std::move(values)});
      }
    }
    return batch;
  }

  // The policy as it is now; null: all values score the same.
  const AssignmentModel* Policy() const {
    return model_ == nullptr ? initial_.get() : model_.get();
  }

  // Learns from the last round, all of which has been measured.
  void Train() {
    std::vector<AssignmentSample> samples = std::exchange(samples_, {});
    if (learner_ == nullptr || samples.empty()) return;
    samples.resize(drawn_);
    std::vector<float> rewards;
    for (const AssignmentSample& sample : samples) {
      rewards.push_back(rewards_.at(HashOf(sample.values)));
    }
    learner_->Update(view_, before_.values, keep_, samples, rewards,
                     before_.reward);
  }

  void DrawRound(int fruitless) {
    size_t rank = 0;
    if (sampling_.polish) {
      // The smaller of two: better ones come more often.
      rank = std::min(rng().Below(elites_.size()), rng().Below(elites_.size()));
    }
    before_ = elites_[rank];
    const double changes = std::min(
        std::exp2(3 * rng().Uniform() + 0.25 * fruitless), decided_ / 2);
    keep_ = learning::KeepForChanges(
        problem_, changes * static_cast<double>(order_.size()) / decided_);
    std::vector<float> scores = Policy() == nullptr
                                    ? std::vector<float>(view_.score_count())
                                    : Policy()->Score(view_, before_.values);
    learning::PreferValues(view_, before_.values, keep_, scores);
    for (size_t i = 0; i < kSamples && !stopped(); ++i) Draw(scores);
    drawn_ = samples_.size();
    CountDecided(samples_);
    if (learner_ == nullptr) return;
    std::fill(scores.begin(), scores.end(), 0);
    learning::PreferValues(view_, before_.values, keep_, scores);
    for (size_t i = 0; i < kExploring && !stopped(); ++i) Draw(scores);
  }

  void CountDecided(absl::Span<const AssignmentSample> samples) {
    if (samples.empty()) return;
    int64_t decided = 0;
    for (const AssignmentSample& sample : samples) {
      for (const uint64_t choice : sample.choice) {
        if (std::popcount(choice) > 1) ++decided;
      }
    }
    decided_ = std::max(1.0, static_cast<double>(decided) /
                                 static_cast<double>(samples.size()));
  }

  std::optional<AssignmentSample> Sample(absl::Span<const float> scores) {
    // What comes first has the choice; each sample lets others come first, but
    // for what trained weights are sure of.
    std::shuffle(order_.begin(), order_.end(), rng());
    return learning::SampleAssignment(
        view_, scores,
        trained_ ? learning::SurestFirst(view_, scores, order_) : order_,
        *domains_, rng());
  }

  void Draw(absl::Span<const float> scores) {
    std::optional<AssignmentSample> sample = Sample(scores);
    if (!sample) return;
    if (sampling_.polish) Polish(sample->values);
    samples_.push_back(*std::move(sample));
  }

  // Descends by the problem's own moves.
  void Polish(std::vector<int32_t>& values) {
    const std::unique_ptr<space::LocalState> state =
        problem_.MakeLocal({values});
    if (state == nullptr) return;
    const int64_t tries = std::clamp(static_cast<int64_t>(values.size()),
                                     kLeastPolish, kMostPolish);
    std::vector<space::Change> changes;
    for (int64_t i = 0; i < tries; ++i) {
      if (i % kTriesPerPoll == 0 && stopped()) break;
      state->Propose(rng(), changes);
      if (changes.empty()) continue;
      const space::LocalScore now = state->score();
      const space::LocalScore next = state->Try(changes);
      const bool better = next.rank.violation == now.rank.violation
                              ? next.energy <= now.energy
                              : next.rank.violation < now.rank.violation;
      if (better) state->Commit();
    }
    values.assign(state->values().begin(), state->values().end());
  }

  const absl::string_view name_;
  const space::AssignmentProblem& problem_;
  const AssignmentSampling sampling_;
  const uint64_t seed_;
  const std::unique_ptr<const AssignmentModel> initial_;
  const bool trained_;
  const learning::ValueView view_;
  const std::unique_ptr<space::Domains> domains_;
  std::vector<int32_t> order_;
  // What becomes of the initial weights; null if they stay as they are.
  std::unique_ptr<AssignmentModel> model_;
  std::unique_ptr<AssignmentLearner> learner_;
  bool decoded_ = false;
  std::vector<Elite> elites_;  // best first
  // Of all trials, by the hash of their values.
  absl::flat_hash_map<Hash128, float> rewards_;
  // The last round: its assignment, its samples, and how many of them the
  // policy drew.
  Elite before_;
  float keep_ = 0;
  // The variables that a sample decides itself, on average over the last round.
  // Constraints decide the others: no change of those can be asked for.
  double decided_ = 1;
  std::vector<AssignmentSample> samples_;
  size_t drawn_ = 0;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Optimizer>> MakeAssignmentSampling(
    absl::string_view name, const space::AssignmentProblem& problem,
    const AssignmentSampling& sampling, const OptimizerOptions& options) {
  if (!problem.move_feature_names().empty() && !options.whole_draws) {
    return MakeMoveSearch(name, problem, sampling, options);
  }
  const bool trained = sampling.shipped ? HasTrainedWeights(problem, options)
                                        : !options.weights.empty();
  std::unique_ptr<const AssignmentModel> model;
  if (sampling.learn || !options.uniform_prior) {
    if (trained) {
      HONE_ASSIGN_OR_RETURN(model, TrainedModel(problem, options));
    } else {
      model = NewModel(problem, options);
    }
  }
  return std::make_unique<Sampling>(name, problem, sampling, std::move(model),
                                    trained && !options.uniform_prior, options);
}

}  // namespace hone::optimizers::policies
