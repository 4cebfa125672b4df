#include <cmath>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "optimizers/batch_optimizer.h"
#include "optimizers/moves.h"
#include "optimizers/registry.h"

namespace hone::optimizers {
namespace {

// A cycle cools from a mean worsening accepted with probability 1/e^2 down to
// one never accepted; then the next cycle, twice as long, starts hot from the
// best candidate. So no budget need be known in advance.
constexpr int64_t kFirstCycle = 64;
constexpr double kHot = 0.5;
constexpr double kCold = 0.02;

// Simulated annealing from the default by random edits. The temperature is in
// units of the mean worsening seen so far, which makes the schedule independent
// of the problem's unit.
// Source: Kirkpatrick, Gelatt and Vecchi, "Optimization by Simulated
// Annealing", 1983; the scale and the doubling cycles are ours.
class Annealing final : public BatchOptimizer {
 public:
  Annealing(const space::Problem& problem, uint64_t seed)
      : BatchOptimizer(problem), problem_(problem), rng_(seed) {}

  absl::string_view name() const override { return "annealing"; }

 private:
  void Learn(const space::Trial& trial) override {
    const double cost = space::EffectiveCost(trial.measurement);
    if (Accepts(cost)) {
      current_ = trial.candidate.choices;
      current_cost_ = cost;
      if (const auto* sequential = problem_.sequential()) {
        current_ = Follow(*sequential, current_).actions;
      }
    }
    if (step_ == 0 || cost < best_cost_) {
      best_ = current_;
      best_cost_ = cost;
    }
    ++step_;
    if (++cycle_step_ < cycle_) return;
    cycle_step_ = 0;
    cycle_ *= 2;
    current_ = best_;
    current_cost_ = best_cost_;
  }

  std::vector<space::Candidate> Plan() override {
    return {{Perturb(problem_, current_, rng_)}};
  }

  bool Accepts(double cost) {
    if (step_ == 0 || cost <= current_cost_) return true;
    if (std::isinf(cost)) return false;
    const double worsening = cost - current_cost_;
    worsening_sum_ += worsening;
    ++worsenings_;
    const double progress =
        static_cast<double>(cycle_step_) / static_cast<double>(cycle_);
    const double temperature = worsening_sum_ /
                               static_cast<double>(worsenings_) * kHot *
                               std::pow(kCold / kHot, progress);
    return rng_.Uniform() < std::exp(-worsening / temperature);
  }

  const space::Problem& problem_;
  Rng rng_;
  std::vector<int32_t> current_;
  double current_cost_ = std::numeric_limits<double>::infinity();
  std::vector<int32_t> best_;
  double best_cost_ = std::numeric_limits<double>::infinity();
  double worsening_sum_ = 0;
  int64_t worsenings_ = 0;
  int64_t step_ = 0;
  int64_t cycle_ = kFirstCycle;
  int64_t cycle_step_ = 0;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Optimizer>> MakeAnnealing(
    const space::Problem& problem, const OptimizerOptions& options) {
  return std::make_unique<Annealing>(problem, options.seed);
}

}  // namespace hone::optimizers
