#include "tuning/tasks/kernel_surrogate.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/synchronization/mutex.h"

#include "base/check.h"
#include "base/status_macros.h"
#include "base/thread_pool.h"
#include "tuning/tasks/kernel_actions.h"
#include "tuning/tasks/kernel_cost_spec.h"
#include "tuning/tasks/kernel_features.h"
#include "tuning/tasks/residual_process.h"
#include "tuning/tasks/schedule_scores.h"

namespace hone::tuning {
namespace {

using FeaturesPtr = std::shared_ptr<const KernelFeatures>;

// Candidates that are predicted together.
constexpr int32_t kPredictedTogether = 64;
// Making the features of a candidate takes up to a millisecond, so that a few
// threads help; of more, most would wait for the model.
constexpr size_t kMostThreads = 8;

// Steps after a schedule, about as many as models learn from.
constexpr size_t kMostSteps = 3;
// The best programs measured, which steps may transform, and the programs that
// are measured before any step, as choices gain more; fewer if the default
// has fewer choices.
constexpr size_t kTransformed = 3;
constexpr size_t kMeasuredFirst = 12;

// The most that a measurement differs from the default's, as a logarithm of
// their ratio: by how much a bad schedule is worse is of no interest.
constexpr double kMostDifference = 0.4;
// The programs, the best ones, whose residuals correct the scores: their number
// counts by its third power.
constexpr size_t kMostResiduals = 512;
// The prior of the slope, which is 1: so many squared units of the score.
constexpr double kSlopePrior = 0.02;
constexpr double kLeastSlope = 0.2;

// The threads besides the caller's.
size_t FurtherThreads() {
  return std::clamp<size_t>(std::thread::hardware_concurrency(), 2,
                            kMostThreads) -
         1;
}

// What measurements say of the scores of the model.
struct Correction {
  // A factor of scores.
  double slope = 1;
  // What is added to them then.
  ResidualProcess residuals;
};

// The states and actions of a kernel's problem, with predicted costs.
class PredictedKernel final : public space::SequentialProblem {
 public:
  PredictedKernel(const KernelProblem& kernel,
                  std::unique_ptr<const learning::CostPredictor> model)
      : kernel_(kernel),
        model_(std::move(model)),
        features_(kernel),
        pool_(FurtherThreads()) {}

  // Errors: InvalidArgument for an illegal candidate.
  absl::StatusOr<FeaturesPtr> FeaturesOf(const space::Candidate& candidate) {
    return features_.Of(candidate);
  }
  // Returns the scores of the model itself. [features]
  std::vector<double> Scores(absl::Span<const FeaturesPtr> features) const {
    std::vector<learning::CostQuery> queries;
    for (const FeaturesPtr& of : features) {
      queries.push_back({of->graph.get(), of->config});
    }
    absl::StatusOr<std::vector<double>> scores =
        ScheduleScores(*model_, queries);
    HONE_CHECK(scores.ok());
    return *std::move(scores);
  }

  // `transformed`: the programs that steps may transform.
  void Correct(Correction correction,
               absl::flat_hash_set<Hash128> transformed) {
    absl::MutexLock lock(&mu_);
    correction_ = std::move(correction);
    transformed_ = std::move(transformed);
    predicted_.clear();
  }

  absl::string_view unit() const override { return "score"; }
  space::Candidate DefaultCandidate() const override {
    return kernel_.DefaultCandidate();
  }
  space::StatePtr InitialState() const override {
    return kernel_.InitialState();
  }
  int32_t action_count() const override { return kernel_.action_count(); }
  std::string ActionName(int32_t action) const override {
    return kernel_.ActionName(action);
  }
  std::string ActionNameIn(const space::StatePtr& state,
                           int32_t action) const override {
    return kernel_.ActionNameIn(state, action);
  }
  int32_t max_steps() const override { return kernel_.max_steps(); }
  std::vector<int32_t> LegalActions(
      const space::StatePtr& state) const override {
    const KernelProblem::Schedule schedule = KernelProblem::ScheduleAt(state);
    if (schedule.further_steps >= kMostSteps) return {};
    std::vector<int32_t> legal = kernel_.LegalActions(state);
    if (schedule.transforming) return legal;
    absl::MutexLock lock(&mu_);
    const bool may_transform = transformed_.contains(schedule.program_key);
    std::erase_if(legal, [&](int32_t action) {
      return action == LoweredAction() ||
             (action == TransformAction() && !may_transform);
    });
    return legal;
  }
  absl::StatusOr<space::StatePtr> Step(const space::StatePtr& state,
                                       int32_t action) const override {
    return kernel_.Step(state, action);
  }
  std::vector<int32_t> Substitutes(const space::StatePtr& state,
                                   int32_t action) const override {
    return kernel_.Substitutes(state, action);
  }

  bool costs_are_free() const override { return true; }
  double Cost(const space::StatePtr& state) const override {
    const FeaturesPtr features = features_.OfState(state);
    return Predict({&features, 1})[0];
  }
  int32_t measurement_batch() const override { return kPredictedTogether; }

  absl::StatusOr<std::vector<space::Measurement>> MeasureBatch(
      absl::Span<const space::Candidate> candidates) const override {
    std::vector<space::Measurement> measurements(candidates.size());
    std::vector<absl::StatusOr<FeaturesPtr>> made(candidates.size());
    const auto make = [&](int64_t begin, int64_t end) {
      for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end);
           ++i) {
        const absl::StatusOr<space::StatePtr> state =
            Follow(candidates[i], measurements[i]);
        if (!state.ok()) {
          made[i] = state.status();
        } else {
          made[i] = *state == nullptr ? nullptr : features_.OfState(*state);
        }
      }
    };
    pool_.ParallelFor(static_cast<int64_t>(candidates.size()), 1, make);
    std::vector<size_t> valid;
    std::vector<FeaturesPtr> features;
    for (size_t i = 0; i < candidates.size(); ++i) {
      HONE_RETURN_IF_ERROR(made[i].status());
      if (*made[i] == nullptr) continue;
      valid.push_back(i);
      features.push_back(*std::move(made[i]));
    }
    const std::vector<double> costs = Predict(features);
    for (size_t k = 0; k < valid.size(); ++k) {
      measurements[valid[k]] = {.cost = costs[k]};
    }
    return measurements;
  }

 private:
  // Returns the predicted costs. [features]
  std::vector<double> Predict(absl::Span<const FeaturesPtr> features) const {
    absl::MutexLock lock(&mu_);
    std::vector<FeaturesPtr> asked;
    for (const FeaturesPtr& of : features) {
      if (predicted_.try_emplace(of->program_key, 0).second) {
        asked.push_back(of);
      }
    }
    const std::vector<double> scores = Scores(asked);
    for (size_t i = 0; i < asked.size(); ++i) {
      const double score = correction_.slope * scores[i] +
                           correction_.residuals.MeanAt(asked[i]->config);
      // Scores are logarithms; only their order counts.
      predicted_[asked[i]->program_key] =
          std::exp(std::clamp(score, -300.0, 300.0));
    }
    std::vector<double> costs;
    for (const FeaturesPtr& of : features) {
      costs.push_back(predicted_.at(of->program_key));
    }
    return costs;
  }

  const KernelProblem& kernel_;
  const std::unique_ptr<const learning::CostPredictor> model_;
  mutable KernelFeatureMaker features_;
  mutable ThreadPool pool_;
  mutable absl::Mutex mu_;
  // By program.
  mutable absl::flat_hash_map<Hash128, double> predicted_ ABSL_GUARDED_BY(mu_);
  Correction correction_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_set<Hash128> transformed_ ABSL_GUARDED_BY(mu_);
};

class KernelSurrogate final : public space::Surrogate {
 public:
  KernelSurrogate(const KernelProblem& problem,
                  const learning::CostPredictor& model)
      : problem_(problem, model.Clone()),
        measured_first_(
            std::min(kMeasuredFirst,
                     problem_.LegalActions(problem_.InitialState()).size())) {}

  const space::Problem& problem() const override { return problem_; }

  void Learn(absl::Span<const space::Trial> trials) override {
    for (const space::Trial& trial : trials) {
      const double cost = space::EffectiveCost(trial.measurement);
      if (!std::isfinite(cost) || cost <= 0) continue;
      const auto features = problem_.FeaturesOf(trial.candidate);
      // A log may hold candidates of another space.
      if (!features.ok()) continue;
      const Hash128 program = (*features)->program_key;
      if (!learned_.insert(program).second) continue;
      measured_.push_back({*features, std::log(cost)});
      ranked_.insert({cost, measured_.size() - 1});
    }
    problem_.Correct(MakeCorrection(), Transformed());
  }

 private:
  struct Measured {
    FeaturesPtr features;
    double log_cost = 0;
  };

  // Fits the differences from the first program, the default.
  Correction MakeCorrection() const {
    std::vector<FeaturesPtr> features;
    for (const Measured& each : measured_) features.push_back(each.features);
    const std::vector<double> scores = problem_.Scores(features);
    std::vector<double> predicted;
    std::vector<double> truth;
    double squares = kSlopePrior;
    double products = kSlopePrior;
    for (size_t i = 0; i < scores.size(); ++i) {
      predicted.push_back(scores[i] - scores[0]);
      truth.push_back(std::clamp(measured_[i].log_cost - measured_[0].log_cost,
                                 -kMostDifference, kMostDifference));
      squares += predicted[i] * predicted[i];
      products += predicted[i] * truth[i];
    }
    Correction correction;
    correction.slope = std::clamp(products / squares, kLeastSlope, 1.0);
    std::vector<ResidualProcess::Sample> samples;
    for (const auto& [cost, i] : ranked_) {
      if (samples.size() == kMostResiduals) break;
      samples.push_back(
          {features[i]->config, truth[i] - correction.slope * predicted[i]});
    }
    correction.residuals = ResidualProcess(std::move(samples));
    return correction;
  }

  absl::flat_hash_set<Hash128> Transformed() const {
    absl::flat_hash_set<Hash128> programs;
    if (measured_.size() < measured_first_) return programs;
    for (const auto& [cost, index] : ranked_) {
      if (programs.size() == kTransformed) break;
      programs.insert(measured_[index].features->program_key);
    }
    return programs;
  }

  PredictedKernel problem_;
  const size_t measured_first_;
  // The programs of all trials so far, each once, and their order by cost.
  std::vector<Measured> measured_;
  absl::flat_hash_set<Hash128> learned_;
  std::set<std::pair<double, size_t>> ranked_;
};

}  // namespace

std::unique_ptr<space::Surrogate> MakeKernelSurrogateOf(
    const KernelProblem& problem, const learning::CostPredictor& model) {
  return std::make_unique<KernelSurrogate>(problem, model);
}

}  // namespace hone::tuning
