#include <memory>
#include <vector>

#include "optimizers/batch_optimizer.h"
#include "optimizers/registry.h"

namespace hone::optimizers {
namespace {

// Proposes what the compiler would do by itself, and nothing else: the baseline
// of every comparison.
class Default final : public BatchOptimizer {
 public:
  explicit Default(const space::Problem& problem) : BatchOptimizer(problem) {}

  absl::string_view name() const override { return "default"; }

 private:
  void Learn(const space::Trial&) override {}
  std::vector<space::Candidate> Plan() override { return {}; }
};

}  // namespace

absl::StatusOr<std::unique_ptr<Optimizer>> MakeDefault(
    const space::Problem& problem, const OptimizerOptions&) {
  return std::make_unique<Default>(problem);
}

}  // namespace hone::optimizers
