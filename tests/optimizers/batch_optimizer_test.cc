#include "optimizers/batch_optimizer.h"

#include <memory>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/status_matchers.h"
#include "tests/support/toy_problems.h"

namespace hone::optimizers {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Proposes nothing of its own.
class FirstBatchOnly final : public BatchOptimizer {
 public:
  FirstBatchOnly(const space::Problem& problem, const OptimizerOptions& options)
      : BatchOptimizer(problem, options) {}

  absl::string_view name() const override { return "first"; }

  std::vector<space::Trial> begun_with;

 private:
  void Begin(absl::Span<const space::Trial> known) override {
    begun_with.assign(known.begin(), known.end());
  }
  void Learn(const space::Trial&) override {}
  std::vector<space::Candidate> Plan() override { return {}; }
};

// A log that ends within the first batch says nothing of the rest of it.
TEST(BatchOptimizer, ProposesWhatALogLacksOfTheFirstBatch) {
  const auto problem = testing::GraphPartition();
  const space::Candidate by_default = problem->DefaultCandidate();
  space::Candidate a = by_default;
  a.choices[0] ^= 1;
  space::Candidate b = by_default;
  b.choices[1] ^= 1;
  const auto trial = [&](int64_t id, const space::Candidate& candidate) {
    return space::Trial{id, candidate, *problem->Measure(candidate)};
  };
  FirstBatchOnly whole(*problem, {.start = {a, b}});
  EXPECT_THAT(whole.Suggest(10), ElementsAre(by_default, a, b));
  const std::vector<space::Trial> log = {trial(0, by_default), trial(1, b)};
  whole.Adopt(log);
  EXPECT_THAT(whole.begun_with, IsEmpty());
  EXPECT_THAT(whole.Suggest(10), ElementsAre(a));
  whole.Observe(trial(2, a));
  EXPECT_THAT(whole.begun_with, SizeIs(3));
  EXPECT_THAT(whole.Suggest(10), IsEmpty());

  FirstBatchOnly complete(*problem, {.start = {b}});
  complete.Adopt(log);
  EXPECT_THAT(complete.begun_with, SizeIs(2));
}

}  // namespace
}  // namespace hone::optimizers
