#include "tuning/tasks/pass_order_problem.h"

#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "hlo/analysis/fingerprint.h"
#include "hlo/analysis/op_count.h"
#include "tests/support/status_matchers.h"
#include "tests/tuning/sample_modules.h"

namespace hone::tuning {
namespace {

using ::hone::testing::StatusIs;
using ::testing::_;
using ::testing::ElementsAre;

constexpr int32_t kAlgsimp = 0;
constexpr int32_t kCse = 1;
constexpr int32_t kDce = 2;
constexpr int32_t kFlattenCallGraph = 3;

PassOrderProblem MakeProblem(int64_t max_cached_bytes = int64_t{1} << 20) {
  PassOrderOptions options;
  options.unit = "ops";
  options.score = [](const hlo::Module& module) {
    return static_cast<double>(hlo::CountOps(module));
  };
  options.passes = {"algsimp", "cse", "dce", "flatten-call-graph"};
  options.max_cached_bytes = max_cached_bytes;
  return {ParseOrDie(kSimplifiable), std::move(options)};
}

TEST(PassOrderProblem, AStepRunsThePass) {
  const PassOrderProblem problem = MakeProblem();
  const space::StatePtr initial = problem.InitialState();
  EXPECT_EQ(problem.Cost(initial), 8);
  HONE_ASSERT_OK_AND_ASSIGN(const space::StatePtr next,
                            problem.Step(initial, kDce));
  EXPECT_EQ(problem.Cost(next), 7);
  EXPECT_EQ(PassOrderProblem::ModuleOf(*next).instruction_count(), 7);
  EXPECT_EQ(next->key(),
            hlo::FastFingerprint(PassOrderProblem::ModuleOf(*next)));
}

TEST(PassOrderProblem, APassThatChangesNothingLeadsToTheSameState) {
  const PassOrderProblem problem = MakeProblem();
  HONE_ASSERT_OK_AND_ASSIGN(const space::StatePtr once,
                            problem.Step(problem.InitialState(), kDce));
  HONE_ASSERT_OK_AND_ASSIGN(const space::StatePtr twice,
                            problem.Step(once, kDce));
  EXPECT_EQ(twice, once);
}

TEST(PassOrderProblem, AFailingPassIsAFailedTrial) {
  PassOrderOptions options;
  options.unit = "ops";
  options.score = [](const hlo::Module&) { return 1; };
  options.passes = {"cse", "no-such-pass"};
  const PassOrderProblem problem(ParseOrDie(kSimplifiable), std::move(options));
  HONE_ASSERT_OK_AND_ASSIGN(const space::Measurement measurement,
                            problem.Measure({{0, 1, 0}}));
  EXPECT_EQ(measurement.outcome, space::Outcome::kCompileError);
  EXPECT_THAT(measurement.message, ::testing::HasSubstr("'no-such-pass'"));
  HONE_ASSERT_OK_AND_ASSIGN(const space::Measurement fine,
                            problem.Measure({{0, 0}}));
  EXPECT_EQ(fine.outcome, space::Outcome::kOk);
}

TEST(PassOrderProblem, OfferingActionsRunsNoPass) {
  const PassOrderProblem problem = MakeProblem();
  EXPECT_THAT(problem.LegalActions(problem.InitialState()),
              ElementsAre(kAlgsimp, kCse, kDce, kFlattenCallGraph));
  EXPECT_EQ(problem.evaluations(), 0);
}

TEST(PassOrderProblem, MeasuringASequenceAgainRunsNothing) {
  const PassOrderProblem problem = MakeProblem();
  const space::Candidate candidate{{kAlgsimp, kCse, kDce}};
  const double cost = problem.Measure(candidate)->cost;
  EXPECT_EQ(cost, 3);  // x, x·x, tuple
  const int64_t runs = problem.evaluations();
  EXPECT_EQ(problem.Measure(candidate)->cost, cost);
  EXPECT_EQ(problem.evaluations(), runs);
  // A longer one costs its last step only.
  HONE_ASSERT_OK(problem.Measure({{kAlgsimp, kCse, kDce, kCse}}).status());
  EXPECT_EQ(problem.evaluations(), runs + 1);
}

TEST(PassOrderProblem, WaysToTheSameModuleMeetInOneState) {
  const PassOrderProblem problem = MakeProblem();
  const auto walk = [&](std::initializer_list<int32_t> actions) {
    space::StatePtr state = problem.InitialState();
    for (int32_t action : actions) {
      state = problem.Step(state, action).value();
    }
    return state;
  };
  EXPECT_EQ(walk({kDce, kCse}), walk({kCse, kDce}));
}

TEST(PassOrderProblem, ForksAreIndependent) {
  const PassOrderProblem problem = MakeProblem();
  const space::StatePtr initial = problem.InitialState();
  const std::string before =
      hlo::Fingerprint(PassOrderProblem::ModuleOf(*initial));
  HONE_ASSERT_OK_AND_ASSIGN(const space::StatePtr a,
                            problem.Step(initial, kAlgsimp));
  const std::string fork = hlo::Fingerprint(PassOrderProblem::ModuleOf(*a));
  HONE_ASSERT_OK_AND_ASSIGN(const space::StatePtr b, problem.Step(a, kDce));
  EXPECT_EQ(hlo::Fingerprint(PassOrderProblem::ModuleOf(*initial)), before);
  EXPECT_EQ(hlo::Fingerprint(PassOrderProblem::ModuleOf(*a)), fork);
  EXPECT_NE(a->key(), b->key());
}

TEST(PassOrderProblem, DroppedStatesAreMadeAgain) {
  // Room for one state only.
  const PassOrderProblem problem = MakeProblem(/*max_cached_bytes=*/1);
  const PassOrderProblem roomy = MakeProblem();
  for (const std::vector<int32_t>& choices :
       std::vector<std::vector<int32_t>>{{kAlgsimp, kDce, kCse},
                                         {kDce, kCse, kAlgsimp},
                                         {kAlgsimp, kDce, kCse}}) {
    EXPECT_EQ(problem.Measure({choices})->cost, roomy.Measure({choices})->cost);
  }
  EXPECT_GT(problem.evaluations(), roomy.evaluations());
}

TEST(PassOrderProblem, ALowerLimitOfMemoryDropsStatesAtOnce) {
  PassOrderProblem problem = MakeProblem();
  const space::Candidate candidate{{kAlgsimp, kDce, kCse}};
  const std::weak_ptr<const space::State> kept =
      problem.Step(problem.InitialState(), kAlgsimp).value();
  const double cost = problem.Measure(candidate)->cost;
  EXPECT_FALSE(kept.expired());
  const int64_t runs = problem.evaluations();
  problem.LimitMemory(1);
  EXPECT_TRUE(kept.expired());
  EXPECT_EQ(problem.Measure(candidate)->cost, cost);
  EXPECT_GT(problem.evaluations(), runs);
}

TEST(PassOrderProblem, CountsTheNodesThatItShows) {
  const PassOrderProblem problem = MakeProblem();
  const space::StatePtr state = problem.InitialState();
  EXPECT_EQ(problem.CountNodeKinds(state),
            problem.SequentialProblem::CountNodeKinds(state));
}

TEST(PassOrderProblem, ActionsOutOfRangeAreInvalid) {
  const PassOrderProblem problem = MakeProblem();
  EXPECT_THAT(problem.Step(problem.InitialState(), 4),
              StatusIs(absl::StatusCode::kInvalidArgument, _));
  EXPECT_THAT(problem.Step(problem.InitialState(), -1),
              StatusIs(absl::StatusCode::kInvalidArgument, _));
  EXPECT_EQ(problem.Measure({{9}})->outcome, space::Outcome::kInvalid);
}

TEST(PassOrderProblem, ThreadsAgree) {
  const PassOrderProblem problem = MakeProblem();
  std::vector<double> costs(8);
  std::vector<std::thread> threads;
  for (double& cost : costs) {
    threads.emplace_back([&problem, &cost] {
      cost = problem.Measure({{kDce, kAlgsimp, kCse, kDce}})->cost;
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (double cost : costs) EXPECT_EQ(cost, 3);
}

}  // namespace
}  // namespace hone::tuning
