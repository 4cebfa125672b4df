#include <memory>
#include <vector>

#include "optimizers/registry.h"

namespace hone::optimizers {
namespace {

// Proposes what the compiler would do by itself, and nothing else: the baseline
// of every comparison.
class Default final : public Optimizer {
 public:
  explicit Default(const space::Problem& problem)
      : pending_{problem.DefaultCandidate()} {}

  absl::string_view name() const override { return "default"; }
  std::vector<space::Candidate> Suggest(int32_t) const override {
    return pending_;
  }
  void Observe(const space::Trial&) override { pending_.clear(); }
  void Adopt(absl::Span<const space::Trial>) override { pending_.clear(); }

 private:
  std::vector<space::Candidate> pending_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Optimizer>> MakeDefault(
    const space::Problem& problem, const OptimizerOptions&) {
  return std::make_unique<Default>(problem);
}

}  // namespace hone::optimizers
