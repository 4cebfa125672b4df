#include "optimizers/policies/assignment_trainee.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"

#include "base/clock.h"
#include "base/status_macros.h"
#include "learning/assignment_learner.h"
#include "learning/assignments/sample.h"
#include "learning/assignments/value_view.h"
#include "learning/models/assignment_model.h"
#include "optimizers/policies/assignment_decoding.h"
#include "optimizers/policies/initial_model.h"
#include "optimizers/policies/spec_digest.h"
#include "optimizers/registry.h"
#include "optimizers/search.h"
#include "space/reward.h"

namespace hone::optimizers::policies {
namespace {

using learning::AssignmentLearner;
using learning::AssignmentLesson;
using learning::AssignmentModel;
using learning::AssignmentPpoOptions;
using learning::AssignmentPpoStatistics;
using learning::AssignmentSample;
using learning::ValueView;

// Passes over a teacher's assignment to bring it near the default.
constexpr int kNearingPasses = 20;
// Passes over the lessons of a round.
constexpr int kPassesPerRound = 4;
constexpr float kImitationRate = 1e-3F;
// Of imitating the best known assignments beside PPO.
constexpr float kReminderRate = 3e-4F;
// The share of the variables that differ from the default in a lesson.
constexpr double kDisturbedShare = 0.1;
// Rounds of decoding that lessons come from.
constexpr int kOwnRounds = 2;

using Values = std::vector<int32_t>;

// One of the problems as it is being solved.
struct Instance {
  const space::AssignmentProblem& assignment() const {
    return *problem->assignment();
  }

  std::shared_ptr<space::Problem> problem;
  std::shared_ptr<const ValueView> view;
  std::unique_ptr<space::Domains> domains;
  Values by_default;
};

absl::StatusOr<Instance> MakeInstance(const TrainingProblem& problem) {
  Instance instance;
  HONE_ASSIGN_OR_RETURN(instance.problem, problem.make());
  if (instance.problem->assignment() == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat(problem.name,
                     ": a sequential problem, expected an assignment problem "
                     "as the first of the set is"));
  }
  // The view keeps its problem.
  instance.view = std::shared_ptr<const ValueView>(
      new ValueView(instance.assignment()),
      [problem = instance.problem](const ValueView* view) { delete view; });
  instance.domains = instance.assignment().MakeDomains();
  instance.by_default = instance.problem->DefaultCandidate().choices;
  return instance;
}

// Returns true if a policy can choose `values` under the constraints.
bool IsAllowed(const Values& values, space::Domains& domains) {
  if (values.size() != static_cast<size_t>(domains.variable_count())) {
    return false;
  }
  const int32_t mark = domains.Mark();
  bool allowed = true;
  for (size_t v = 0; v < values.size() && allowed; ++v) {
    allowed = values[v] >= 0 && values[v] < space::kMaxValues &&
              domains.Narrow(static_cast<int32_t>(v), uint64_t{1} << values[v]);
  }
  domains.Undo(mark);
  return allowed;
}

// The lesson to choose `values`, from all that there is to choose from.
AssignmentLesson LessonFrom(const Instance& instance, Values before,
                            const Values& values) {
  AssignmentLesson lesson{instance.view, std::move(before), values, {}};
  lesson.choice.reserve(values.size());
  for (size_t v = 0; v < values.size(); ++v) {
    lesson.choice.push_back(instance.domains->Get(static_cast<int32_t>(v)));
  }
  return lesson;
}

// `values` with those of the default wherever they do not raise the cost: what
// is left to imitate are the changes that pay.
absl::StatusOr<Values> NearDefault(const Instance& instance, Values values) {
  HONE_ASSIGN_OR_RETURN(const space::Measurement measured,
                        instance.problem->Measure({values}));
  const space::Rank rank = space::RankOf(measured);
  // A change may only go back once its neighbors have.
  for (int pass = 0; pass < kNearingPasses; ++pass) {
    bool changed = false;
    for (size_t v = 0; v < values.size(); ++v) {
      if (values[v] == instance.by_default[v]) continue;
      const int32_t kept = std::exchange(values[v], instance.by_default[v]);
      HONE_ASSIGN_OR_RETURN(const space::Measurement measurement,
                            instance.problem->Measure({values}));
      if (space::RankOf(measurement) <= rank &&
          IsAllowed(values, *instance.domains)) {
        changed = true;
      } else {
        values[v] = kept;
      }
    }
    if (!changed) break;
  }
  return values;
}

Values Shuffled(size_t count, Rng& rng) {
  Values order(count);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), rng);
  return order;
}

// The solution of a problem is the values of its variables.
class AssignmentTrainee final : public Trainee {
 public:
  AssignmentTrainee(std::unique_ptr<AssignmentModel> model,
                    const TrainingOptions& options)
      : options_(options), model_(std::move(model)) {
    AssignmentPpoOptions ppo;
    ppo.learning_rate = 1e-4F;
    ppo.entropy_weight = 0;
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

  // The best trial that the policy can choose: a search may propose more. Then
  // as near to the default as it can be.
  absl::StatusOr<Values> Teach(
      const TrainingProblem& training_problem) const override {
    HONE_ASSIGN_OR_RETURN(const Instance instance,
                          MakeInstance(training_problem));
    OptimizerOptions optimizer_options;
    optimizer_options.seed = options_.seed;
    HONE_ASSIGN_OR_RETURN(const auto optimizer,
                          CreateOptimizer(options_.teacher, *instance.problem,
                                          optimizer_options));
    Values best;
    space::Rank rank;
    SearchOptions search;
    search.on_trial = [&](const space::Trial& trial) {
      const space::Rank of = space::RankOf(trial.measurement);
      if ((best.empty() || of < rank) &&
          IsAllowed(trial.candidate.choices, *instance.domains)) {
        best = trial.candidate.choices;
        rank = of;
      }
      return absl::OkStatus();
    };
    HONE_RETURN_IF_ERROR(RunSearch(*instance.problem, *optimizer,
                                   {.trials = options_.search_trials},
                                   SystemClock(), search)
                             .status());
    if (best.empty() || instance.problem->is_noisy()) return best;
    return NearDefault(instance, std::move(best));
  }

  // Learns to choose the best known assignments: after the default, after what
  // the policy itself makes of it, and after one near it, so that it knows what
  // to do wherever it comes from.
  absl::Status LabelRound(std::vector<Lesson>& lessons, float,
                          const ForEach& for_each,
                          TraineeStatistics& statistics) override {
    std::vector<std::vector<AssignmentLesson>> of(lessons.size());
    HONE_RETURN_IF_ERROR(
        for_each(lessons.size(), [&](size_t i) -> absl::Status {
          HONE_ASSIGN_OR_RETURN(const Instance instance,
                                MakeInstance(*lessons[i].problem));
          const Values& best = *lessons[i].best;
          if (!IsAllowed(best, *instance.domains)) return absl::OkStatus();
          std::vector<Values> befores =
              DecodeInRounds(*model_, *instance.view, instance.by_default,
                             kOwnRounds, *instance.domains);
          befores.push_back(instance.by_default);
          std::vector<float> near(instance.view->score_count());
          learning::PreferValues(
              *instance.view, instance.by_default,
              learning::KeepForChanges(
                  instance.assignment(),
                  kDisturbedShare * static_cast<double>(best.size())),
              near);
          std::optional<AssignmentSample> any = learning::SampleAssignment(
              *instance.view, near, Shuffled(best.size(), lessons[i].rng),
              *instance.domains, lessons[i].rng);
          if (any) befores.push_back(std::move(any->values));
          for (Values& before : befores) {
            of[i].push_back(LessonFrom(instance, std::move(before), best));
          }
          return absl::OkStatus();
        }));
    std::vector<AssignmentLesson> all;
    for (std::vector<AssignmentLesson>& some : of) {
      std::move(some.begin(), some.end(), std::back_inserter(all));
    }
    for (int pass = 0; pass < kPassesPerRound; ++pass) {
      statistics.imitation_loss = learner_->Imitate(all, kImitationRate);
    }
    return absl::OkStatus();
  }

  // Compares samples that were drawn after the default, or after what the
  // policy makes of it, and recalls the best known assignments.
  absl::Status Update(std::vector<Lesson>& lessons, const ForEach& for_each,
                      TraineeStatistics& statistics) override {
    std::vector<Group> groups(lessons.size());
    HONE_RETURN_IF_ERROR(for_each(lessons.size(), [&](size_t i) {
      // Half of them.
      return Draw(lessons[i], /*after_own=*/i % 2 == 1, groups[i]);
    }));
    statistics = {};
    std::vector<AssignmentLesson> reminders;
    const double share = 1 / static_cast<double>(lessons.size());
    for (size_t i = 0; i < lessons.size(); ++i) {
      Group& group = groups[i];
      Values& best = *lessons[i].best;
      HONE_RETURN_IF_ERROR(KeepBest(group, best));
      if (IsAllowed(best, *group.instance.domains)) {
        reminders.push_back(LessonFrom(group.instance, group.before, best));
      }
      if (group.samples.empty()) continue;
      const AssignmentPpoStatistics of =
          learner_->Update(*group.instance.view, group.before, 0, group.samples,
                           group.rewards, group.reward_before);
      statistics.mean_reward +=
          share *
          std::accumulate(group.rewards.begin(), group.rewards.end(), 0.0) /
          static_cast<double>(group.rewards.size());
      statistics.entropy += of.entropy * share;
      statistics.policy_loss += of.policy_loss * share;
    }
    statistics.imitation_loss = learner_->Imitate(reminders, kReminderRate);
    return absl::OkStatus();
  }

  absl::StatusOr<double> Validate(
      const TrainingProblem& problem) const override {
    HONE_ASSIGN_OR_RETURN(const Instance instance, MakeInstance(problem));
    HONE_ASSIGN_OR_RETURN(const space::Measurement by_default,
                          instance.problem->Measure({instance.by_default}));
    const std::vector<Values> decoded = DecodeInRounds(
        *model_, *instance.view, instance.by_default, 1, *instance.domains);
    // It decided to change nothing.
    if (decoded.empty()) return 1;
    HONE_ASSIGN_OR_RETURN(const space::Measurement measurement,
                          instance.problem->Measure({decoded[0]}));
    const double reference = instance.problem->reference_cost();
    // A number, also where constraints are broken.
    return std::exp(space::RewardOf(by_default, reference) -
                    space::RewardOf(measurement, reference));
  }

 private:
  // Samples of one problem after one assignment, and what they are worth.
  struct Group {
    Instance instance;
    Values before;
    float reward_before = 0;
    std::vector<AssignmentSample> samples;
    std::vector<float> rewards;
    std::vector<space::Rank> ranks;
  };

  // Draws after the default, or after what the policy makes of it.
  absl::Status Draw(Lesson& lesson, bool after_own, Group& group) const {
    HONE_ASSIGN_OR_RETURN(group.instance, MakeInstance(*lesson.problem));
    const Instance& instance = group.instance;
    const double reference = instance.problem->reference_cost();
    group.before = instance.by_default;
    if (after_own) {
      std::vector<Values> own = DecodeInRounds(
          *model_, *instance.view, instance.by_default, 1, *instance.domains);
      if (!own.empty()) group.before = std::move(own[0]);
    }
    HONE_ASSIGN_OR_RETURN(const space::Measurement before,
                          instance.problem->Measure({group.before}));
    group.reward_before =
        static_cast<float>(space::RewardOf(before, reference));
    const std::vector<float> scores =
        model_->Score(*instance.view, group.before);
    for (int32_t i = 0; i < options_.episodes_per_problem; ++i) {
      std::optional<AssignmentSample> sample = learning::SampleAssignment(
          *instance.view, scores,
          learning::SurestFirst(*instance.view, scores,
                                Shuffled(group.before.size(), lesson.rng)),
          *instance.domains, lesson.rng);
      if (!sample) continue;
      HONE_ASSIGN_OR_RETURN(const space::Measurement measurement,
                            instance.problem->Measure({sample->values}));
      group.samples.push_back(*std::move(sample));
      group.rewards.push_back(
          static_cast<float>(space::RewardOf(measurement, reference)));
      group.ranks.push_back(space::RankOf(measurement));
    }
    return absl::OkStatus();
  }

  // Replaces `best` by a sample that is better.
  static absl::Status KeepBest(const Group& group, Values& best) {
    if (group.samples.empty()) return absl::OkStatus();
    const auto at = std::min_element(group.ranks.begin(), group.ranks.end());
    if (IsAllowed(best, *group.instance.domains)) {
      HONE_ASSIGN_OR_RETURN(const space::Measurement measurement,
                            group.instance.problem->Measure({best}));
      if (!(*at < space::RankOf(measurement))) return absl::OkStatus();
    }
    best = group.samples[static_cast<size_t>(at - group.ranks.begin())].values;
    return absl::OkStatus();
  }

  const TrainingOptions& options_;
  const std::unique_ptr<AssignmentModel> model_;
  std::unique_ptr<AssignmentLearner> learner_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Trainee>> MakeAssignmentTrainee(
    const space::AssignmentProblem& problem, const TrainingOptions& options) {
  HONE_ASSIGN_OR_RETURN(auto model, InitialModel<AssignmentModel>(
                                        learning::SpecOf(problem), options));
  return std::make_unique<AssignmentTrainee>(std::move(model), options);
}

}  // namespace hone::optimizers::policies
