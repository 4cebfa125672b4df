#include "optimizers/policies/move_trainee.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "learning/assignment_learner.h"
#include "learning/assignments/value_view.h"
#include "learning/models/assignment_model.h"
#include "optimizers/policies/initial_model.h"
#include "optimizers/policies/move_walk.h"
#include "optimizers/policies/spec_digest.h"
#include "space/reward.h"

namespace hone::optimizers::policies {
namespace {

using learning::AssignmentLearner;
using learning::AssignmentModel;
using learning::ValueView;

// Tries in each problem of a round, and of an update.
constexpr int kTriesPerRound = 384;
constexpr int kTriesPerUpdate = 96;
// Searches of a validation, and the tries of each.
constexpr uint64_t kValidations = 2;
constexpr int kTriesToValidate = 256;
// Passes over the moves of a round, in steps of so many.
constexpr int kPasses = 3;
constexpr size_t kMovesPerStep = 128;
// In steps that become smaller from round to round, to a tenth.
constexpr float kLabelRate = 1e-3F;
constexpr float kLeastRateShare = 0.1F;

class MoveTrainee final : public Trainee {
 public:
  MoveTrainee(std::unique_ptr<AssignmentModel> model,
              const TrainingOptions& options)
      : model_(std::move(model)) {
    learning::AssignmentPpoOptions ppo;
    ppo.learning_rate = 1e-4F;
    learner_ = std::make_unique<AssignmentLearner>(*model_, ppo, options.seed);
  }

  std::string SpecDigest() const override { return DigestOf(model_->spec()); }

  std::string SerializeWeights() const override { return model_->Serialize(); }
  std::string SerializeDescent() const override {
    return learner_->SerializeDescent();
  }
  absl::Status Restore(absl::string_view weights,
                       absl::string_view descent) override {
    HONE_RETURN_IF_ERROR(RestoreModel(weights, *model_));
    return learner_->ParseDescent(descent);
  }

  // There is nothing to imitate: the default.
  absl::StatusOr<std::vector<int32_t>> Teach(
      const TrainingProblem& training_problem) const override {
    HONE_ASSIGN_OR_RETURN(const auto problem, training_problem.make());
    return problem->DefaultCandidate().choices;
  }

  absl::Status LabelRound(std::vector<Lesson>& lessons, float fades,
                          const ForEach& for_each,
                          TraineeStatistics& statistics) override {
    std::vector<Experience> of(lessons.size());
    // At first the policy knows nothing; later half of the moves are its own.
    const double uniform = 0.5 + 0.5 * static_cast<double>(fades);
    HONE_RETURN_IF_ERROR(
        for_each(lessons.size(), [&](size_t i) -> absl::Status {
          const absl::Status explored =
              Explore(lessons[i], kTriesPerRound, uniform, of[i]);
          // Not learned from here, and large.
          of[i].choices.clear();
          return explored;
        }));
    statistics = {};
    const float rate = kLabelRate * std::max(kLeastRateShare, fades);
    double sum = 0;
    int64_t steps = 0;
    for (int pass = 0; pass < kPasses; ++pass) {
      // Parts of all problems, in a random order.
      std::vector<std::pair<size_t, size_t>> parts;
      for (size_t i = 0; i < of.size(); ++i) {
        std::shuffle(of[i].tried.begin(), of[i].tried.end(), lessons[i].rng);
        for (size_t first = 0; first < of[i].tried.size();
             first += kMovesPerStep) {
          parts.emplace_back(i, first);
        }
      }
      if (parts.empty()) return absl::OkStatus();
      std::shuffle(parts.begin(), parts.end(), lessons[0].rng);
      for (const auto& [i, first] : parts) {
        const auto moves =
            absl::MakeConstSpan(of[i].tried).subspan(first, kMovesPerStep);
        sum += learner_->FitGains(*of[i].view, moves, rate);
        ++steps;
      }
    }
    statistics.label_loss = sum / static_cast<double>(steps);
    return absl::OkStatus();
  }

  absl::Status Update(std::vector<Lesson>& lessons, const ForEach& for_each,
                      TraineeStatistics& statistics) override {
    std::vector<Experience> of(lessons.size());
    HONE_RETURN_IF_ERROR(for_each(lessons.size(), [&](size_t i) {
      return Explore(lessons[i], kTriesPerUpdate, 0, of[i]);
    }));
    statistics = {};
    const double share = 1 / static_cast<double>(lessons.size());
    for (const Experience& experience : of) {
      const learning::AssignmentPpoStatistics update =
          learner_->UpdateMoves(*experience.view, experience.choices);
      double gain = 0;
      for (const learning::MoveChoice& choice : experience.choices) {
        gain += static_cast<double>(choice.gain);
      }
      const auto count =
          static_cast<double>(std::max<size_t>(1, experience.choices.size()));
      statistics.mean_reward += share * gain / count;
      statistics.entropy += share * update.entropy;
      statistics.policy_loss += share * update.policy_loss;
    }
    return absl::OkStatus();
  }

  absl::StatusOr<double> Validate(
      const TrainingProblem& training_problem) const override {
    HONE_ASSIGN_OR_RETURN(const std::shared_ptr<space::Problem> problem,
                          training_problem.make());
    const ValueView view(*problem->assignment());
    HONE_ASSIGN_OR_RETURN(const std::vector<int32_t> start, BestSeed(*problem));
    double sum = 0;
    for (uint64_t seed = 1; seed <= kValidations; ++seed) {
      MoveWalk walk(*problem->assignment(), view, seed);
      walk.Restart(start);
      const double before = walk.score().rank.cost;
      double best = before;
      for (int tries = 0; tries < kTriesToValidate;) {
        const int made = walk.Round(model_.get());
        if (made == 0) break;
        tries += made;
        if (walk.has_found() && walk.found_rank().violation == 0) {
          best = std::min(best, walk.found_rank().cost);
        }
      }
      sum += before > 0 ? best / before : 1;
    }
    return sum / static_cast<double>(kValidations);
  }

 private:
  struct Experience {
    std::shared_ptr<const ValueView> view;
    std::vector<learning::TriedMove> tried;
    std::vector<learning::MoveChoice> choices;
  };

  static absl::StatusOr<std::vector<int32_t>> BestSeed(
      const space::Problem& problem) {
    std::vector<int32_t> best;
    space::Rank best_rank;
    for (const space::Seed& seed : problem.Seeds()) {
      HONE_ASSIGN_OR_RETURN(const space::Measurement measurement,
                            problem.Measure(seed.candidate));
      const space::Rank rank = space::RankOf(measurement);
      if (!best.empty() && !(rank < best_rank)) continue;
      best = seed.candidate.choices;
      best_rank = rank;
    }
    return best;
  }

  // Searches from the best seed or, every other time, from any.
  absl::Status Explore(Lesson& lesson, int tries, double uniform,
                       Experience& experience) const {
    HONE_ASSIGN_OR_RETURN(const std::shared_ptr<space::Problem> problem,
                          lesson.problem->make());
    // The view keeps its problem.
    experience.view = std::shared_ptr<const ValueView>(
        new ValueView(*problem->assignment()),
        [problem](const ValueView* view) { delete view; });
    const std::vector<space::Seed> seeds = problem->Seeds();
    std::vector<int32_t> start =
        seeds[lesson.rng.Below(seeds.size())].candidate.choices;
    if (lesson.rng.Below(2) == 0) {
      HONE_ASSIGN_OR_RETURN(start, BestSeed(*problem));
    }
    MoveWalk walk(*problem->assignment(), *experience.view, lesson.rng());
    walk.Restart(start);
    for (int made = 0; made < tries;) {
      const int now = walk.Round(model_.get(), uniform);
      if (now == 0) break;
      made += now;
    }
    experience.tried = walk.TakeTried();
    experience.choices = walk.TakeChoices();
    return absl::OkStatus();
  }

  const std::unique_ptr<AssignmentModel> model_;
  std::unique_ptr<AssignmentLearner> learner_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Trainee>> MakeMoveTrainee(
    const space::AssignmentProblem& problem, const TrainingOptions& options) {
  HONE_ASSIGN_OR_RETURN(auto model, InitialModel<AssignmentModel>(
                                        learning::SpecOf(problem), options));
  return std::make_unique<MoveTrainee>(std::move(model), options);
}

}  // namespace hone::optimizers::policies
