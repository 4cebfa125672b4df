#include "tuning/tasks/tile_surrogate.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"

#include "base/check.h"
#include "base/status_macros.h"
#include "costmodels/kernel_graph.h"
#include "costmodels/tile_features.h"

namespace hone::tuning {
namespace {

using learning::CostGroup;
using learning::CostQuery;

// What a model is told of configurations. It stays the same while the model
// learns, and a search asks for most of it again after each measured batch.
// Threads: thread-safe.
class KnownConfigs {
 public:
  explicit KnownConfigs(const TileProblem& problem)
      : check_(problem.options().check),
        features_(problem.tiled(), problem.options().peaks) {}

  // The bytes by which it does not fit.
  int64_t ExcessOf(const hlo::KernelConfig& config) {
    return Get(config, &Known::excess,
               [&] { return check_ ? check_(config) : int64_t{0}; });
  }
  std::vector<float> FeaturesOf(const hlo::KernelConfig& config) {
    return Get(config, &Known::features, [&] { return features_.Of(config); });
  }

 private:
  struct Known {
    std::optional<int64_t> excess;
    std::optional<std::vector<float>> features;
  };

  template <typename T, typename Make>
  T Get(const hlo::KernelConfig& config, std::optional<T> Known::*part,
        const Make& make) {
    const std::string key = hlo::PrintKernelConfig(config);
    {
      absl::MutexLock lock(&mu_);
      const auto known = known_.find(key);
      if (known != known_.end() && (known->second.*part).has_value()) {
        return *(known->second.*part);
      }
    }
    T made = make();
    absl::MutexLock lock(&mu_);
    // Some 30 MB.
    constexpr size_t kMost = 1 << 16;
    if (known_.size() >= kMost) known_.clear();
    known_[key].*part = made;
    return made;
  }

  const CheckTile check_;
  const costmodels::TileFeatures features_;
  absl::Mutex mu_;
  absl::flat_hash_map<std::string, Known> known_ ABSL_GUARDED_BY(mu_);
};

class TileSurrogate final : public space::Surrogate {
 public:
  TileSurrogate(const TileProblem& problem,
                const learning::CostPredictor& model)
      : model_(model.Clone()),
        graph_(std::make_shared<space::Observation>(
            costmodels::ObserveKernelGraph(problem.kernel()))),
        known_(problem),
        problem_(Options(problem)) {}

  const space::Problem& problem() const override { return problem_; }

  void Learn(absl::Span<const space::Trial> trials) override {
    for (const space::Trial& trial : trials) {
      const double cost = space::EffectiveCost(trial.measurement);
      if (!std::isfinite(cost) || cost <= 0) continue;
      AddSample(problem_.ConfigOf(trial.candidate.choices), std::log(cost));
    }
    // One sample says nothing about an order.
    if (measured_.samples.size() < 2) return;
    measured_.head = kTpuTileHead;
    HONE_CHECK(model_->Refine({&measured_, 1}).ok());
  }

 private:
  static hlo::KernelConfig WithDefaultFlags(const hlo::KernelConfig& config) {
    hlo::KernelConfig by_default;
    by_default.tile = config.tile;
    return by_default;
  }

  // Takes out of the time what the flags are predicted to make of it, so that
  // the head for tiles learns what Predict asks it for.
  void AddSample(const hlo::KernelConfig& config, double log_time) {
    std::vector<float> tile = known_.FeaturesOf(WithDefaultFlags(config));
    const std::vector<float> own = known_.FeaturesOf(config);
    const CostQuery queries[] = {{graph_.get(), tile}, {graph_.get(), own}};
    const auto flags = model_->Predict(kTpuFlagsHead, queries);
    // A tile that the model says nothing of teaches it nothing.
    if (!flags.ok()) return;
    const double of_flags = flags->values[1] - flags->values[0];
    measured_.samples.push_back({graph_, std::move(tile), log_time - of_flags});
  }

  TileProblemOptions Options(const TileProblem& problem) {
    TileProblemOptions options = problem.options();
    options.make_surrogate = nullptr;
    options.measure = [this](absl::Span<const hlo::KernelConfig> configs) {
      return Predict(configs);
    };
    return options;
  }

  absl::StatusOr<std::vector<space::Measurement>> Predict(
      absl::Span<const hlo::KernelConfig> configs) const {
    std::vector<space::Measurement> measurements(configs.size());
    // Of each that fits: its tile with the default flags, then itself.
    std::vector<size_t> fitting;
    std::vector<std::vector<float>> features;
    for (size_t i = 0; i < configs.size(); ++i) {
      const int64_t excess = known_.ExcessOf(configs[i]);
      if (excess > 0) {
        measurements[i].outcome = space::Outcome::kInvalid;
        measurements[i].violation = static_cast<double>(excess);
        measurements[i].message =
            absl::StrCat(excess, " bytes more than fit the device");
        continue;
      }
      fitting.push_back(i);
      const hlo::KernelConfig by_default = WithDefaultFlags(configs[i]);
      features.push_back(known_.FeaturesOf(by_default));
      features.push_back(by_default == configs[i]
                             ? features.back()
                             : known_.FeaturesOf(configs[i]));
    }
    std::vector<CostQuery> queries;
    for (const std::vector<float>& config : features) {
      queries.push_back({graph_.get(), config});
    }
    if (queries.empty()) return measurements;
    HONE_ASSIGN_OR_RETURN(const auto tiles,
                          model_->Predict(kTpuTileHead, queries));
    HONE_ASSIGN_OR_RETURN(const auto flags,
                          model_->Predict(kTpuFlagsHead, queries));
    for (size_t k = 0; k < fitting.size(); ++k) {
      const double score =
          tiles.values[2 * k] + flags.values[2 * k + 1] - flags.values[2 * k];
      // Scores are logarithms; only their order counts.
      measurements[fitting[k]].cost =
          std::exp(std::clamp(score, -300.0, 300.0));
    }
    return measurements;
  }

  const std::unique_ptr<learning::CostPredictor> model_;
  const std::shared_ptr<const space::Observation> graph_;
  mutable KnownConfigs known_;
  const TileProblem problem_;
  // All trials so far.
  CostGroup measured_;
};

}  // namespace

const learning::CostSpec& TpuCostSpec() {
  static const auto* const spec = new learning::CostSpec{
      .graph = costmodels::KernelGraphSpec(),
      .config_names = costmodels::TileFeatureNames(),
      .heads = {{"time", learning::CostTarget::kTime},
                {"tile", learning::CostTarget::kOrder},
                {"flags", learning::CostTarget::kOrder}},
      .features = absl::StrCat("graph-", costmodels::kKernelGraphVersion,
                               "+tiles-", costmodels::kTileFeaturesVersion)};
  return *spec;
}

std::unique_ptr<space::Surrogate> MakeTileSurrogateOf(
    const TileProblem& problem, const learning::CostPredictor& model) {
  return std::make_unique<TileSurrogate>(problem, model);
}

}  // namespace hone::tuning
