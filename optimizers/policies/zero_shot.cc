#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "optimizers/policies/assignment_sampling.h"
#include "optimizers/policies/episode_optimizer.h"
#include "optimizers/policies/factories.h"
#include "optimizers/policies/first_game.h"
#include "optimizers/policies/weights.h"

namespace hone::optimizers::policies {
namespace {

using learning::Scorer;
using learning::Trajectory;

// What a policy proposes by itself, and no more.
class ZeroShot final : public EpisodeOptimizer {
 public:
  ZeroShot(const space::SequentialProblem& problem,
           std::unique_ptr<const Scorer> scorer,
           const OptimizerOptions& options)
      : EpisodeOptimizer(problem, options),
        scorer_(std::move(scorer)),
        game_played_(game(), *scorer_) {}

  absl::string_view name() const override { return "zero_shot"; }

 private:
  std::vector<Trajectory> Play() override {
    std::optional<Trajectory> part = game_played_.NextPart();
    if (!part) return {};
    return {*std::move(part)};
  }

  void Train(std::vector<Trajectory>) override {}

  const std::unique_ptr<const Scorer> scorer_;
  FirstGame game_played_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Optimizer>> CreateZeroShot(
    const space::Problem& problem, const OptimizerOptions& options) {
  if (problem.assignment() != nullptr) {
    return MakeAssignmentSampling("zero_shot", *problem.assignment(),
                                  {.shipped = true, .zero_shot = true},
                                  options);
  }
  const space::SequentialProblem& sequence = *problem.sequential();
  HONE_ASSIGN_OR_RETURN(auto prior, PriorOf(sequence, options));
  return std::make_unique<ZeroShot>(sequence, std::move(prior), options);
}

}  // namespace hone::optimizers::policies
