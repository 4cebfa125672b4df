#include "tuning/tasks/kernel_surrogate.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/rng.h"
#include "costmodels/loop_features.h"
#include "hlo/text/printer.h"
#include "loops/lowering/lowering.h"
#include "loops/text/text.h"
#include "optimizers/moves.h"
#include "optimizers/registry.h"
#include "optimizers/search.h"
#include "tests/support/fake_clock.h"
#include "tests/support/fake_cost_model.h"
#include "tests/support/status_matchers.h"
#include "tests/tuning/sample_modules.h"
#include "tests/tuning/scripted_kernels.h"
#include "tuning/tasks/kernel_actions.h"
#include "tuning/tasks/kernel_cost_spec.h"

namespace hone::tuning {
namespace {

using ::hone::testing::StatusIs;
using ::testing::HasSubstr;

constexpr char kMatmul[] = R"(HloModule matmul
ENTRY main {
  a = f32[48,40] parameter(0)
  b = f32[40,56] parameter(1)
  ROOT c = f32[48,56] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
)";

// Scores programs by the number of their loops and statements, by either head:
// more are better.
double FakeScore(int32_t /*head*/, const learning::CostQuery& query,
                 size_t /*refinements*/) {
  EXPECT_EQ(query.config.size(), costmodels::LoopFeatureNames().size());
  return -0.01F * static_cast<float>(query.graph->node_kinds.size());
}

class KernelSurrogateTest : public ::testing::Test {
 protected:
  KernelProblemOptions Options() {
    const hlo::Module module = ParseOrDie(kMatmul);
    KernelProblemOptions options;
    options.module = hlo::PrintModule(module);
    options.program = loops::LowerToProgram(module).value();
    options.device = ScriptedKernels::Device("cpu:a");
    options.device.machine.threads = 1;
    options.kernels = &kernels_;
    options.make_surrogate = [this](const KernelProblem& problem) {
      return MakeKernelSurrogateOf(problem, model_);
    };
    return options;
  }
  const space::SequentialProblem& Predicted() const {
    return *surrogate_->problem().sequential();
  }
  Hash128 ProgramOf(const std::vector<int32_t>& actions) const {
    return KernelProblem::ScheduleAt(problem_.StateOf({actions}).value())
        .program_key;
  }
  double CostOf(const std::vector<int32_t>& actions) const {
    return Predicted().Measure({actions})->cost;
  }
  // Candidates by random edits, after each other.
  std::vector<std::vector<int32_t>> RandomCandidates(size_t count) const {
    Rng rng(7);
    std::vector<std::vector<int32_t>> candidates(1);
    while (candidates.size() < count) {
      candidates.push_back(
          optimizers::EditSequence(problem_, candidates.back(), rng));
    }
    return candidates;
  }
  static space::Trial Trial(std::vector<int32_t> actions, double cost) {
    space::Trial trial;
    trial.candidate.choices = std::move(actions);
    trial.measurement.cost = cost;
    return trial;
  }
  // Single choices that lead to other programs than the default and each other.
  std::vector<std::vector<int32_t>> SingleChoices() const {
    std::vector<std::vector<int32_t>> singles;
    std::set<std::string> seen;
    for (const int32_t action :
         problem_.LegalActions(problem_.InitialState())) {
      if (action >= TransformAction()) continue;
      const space::StatePtr state = problem_.StateOf({{action}}).value();
      if (seen.insert(
                  loops::PrintProgram(KernelProblem::ScheduleAt(state).program))
              .second) {
        singles.push_back({action});
      }
    }
    return singles;
  }

  ScriptedKernels kernels_;
  const testing::FakeCostModel model_{KernelCostSpec(), FakeScore};
  const KernelProblem problem_{Options()};
  const std::unique_ptr<space::Surrogate> surrogate_ =
      problem_.MakeSurrogate().value();
};

TEST_F(KernelSurrogateTest, StatesAreThoseOfTheProblemAndCostsAgree) {
  const auto candidates = RandomCandidates(40);
  std::vector<space::Candidate> batch;
  for (const auto& actions : candidates) batch.push_back({actions});
  const auto measured = Predicted().MeasureBatch(batch);
  HONE_ASSERT_OK(measured.status());
  for (size_t i = 0; i < candidates.size(); ++i) {
    space::StatePtr state = Predicted().InitialState();
    for (const int32_t action : candidates[i]) {
      EXPECT_EQ(Predicted().ActionNameIn(state, action),
                problem_.ActionNameIn(state, action));
      state = Predicted().Step(state, action).value();
    }
    EXPECT_EQ(state->key(), problem_.StateOf({candidates[i]}).value()->key());
    EXPECT_EQ((*measured)[i].outcome, space::Outcome::kOk);
    EXPECT_EQ((*measured)[i].cost, Predicted().Cost(state));
    EXPECT_EQ((*measured)[i].cost, CostOf(candidates[i]));
  }
  EXPECT_TRUE(kernels_.requests.empty());
}

TEST_F(KernelSurrogateTest, EqualProgramsHaveEqualCosts) {
  const std::vector<int32_t> choice = SingleChoices()[0];
  std::vector<int32_t> transformed = choice;
  transformed.push_back(TransformAction());
  ASSERT_EQ(ProgramOf(choice), ProgramOf(transformed));
  EXPECT_EQ(CostOf(choice), CostOf(transformed));
  surrogate_->Learn({Trial({}, 1000), Trial(choice, 500)});
  EXPECT_EQ(CostOf(choice), CostOf(transformed));
}

TEST_F(KernelSurrogateTest, IllegalCandidatesAreInvalid) {
  const auto measured = Predicted().MeasureBatch({{{-1}}, {}});
  HONE_ASSERT_OK(measured.status());
  EXPECT_EQ((*measured)[0].outcome, space::Outcome::kInvalid);
  EXPECT_EQ((*measured)[1].outcome, space::Outcome::kOk);
}

TEST_F(KernelSurrogateTest, LearnsTheOrderThatWasMeasured) {
  const auto singles = SingleChoices();
  ASSERT_GE(singles.size(), 8);
  // The contrary of what the model says.
  std::vector<std::pair<double, size_t>> order;
  for (size_t i = 0; i < singles.size(); ++i) {
    order.emplace_back(CostOf(singles[i]), i);
  }
  std::sort(order.begin(), order.end());
  const auto& best = singles[order.front().second];
  const auto& worst = singles[order.back().second];
  ASSERT_LT(CostOf(best), CostOf(worst));
  surrogate_->Learn({Trial({}, 1000), Trial(best, 1300), Trial(worst, 700)});
  EXPECT_GT(CostOf(best), CostOf(worst));
  EXPECT_NEAR(CostOf(worst) / CostOf({}), 0.7, 0.05);
  EXPECT_NEAR(CostOf(best) / CostOf({}), 1.3, 0.1);
  EXPECT_TRUE(kernels_.requests.empty());
}

TEST_F(KernelSurrogateTest, FailuresTeachNothing) {
  const auto singles = SingleChoices();
  const double before = CostOf(singles[0]) / CostOf(singles[1]);
  space::Trial crashed = Trial(singles[0], 10);
  crashed.measurement.outcome = space::Outcome::kCrashed;
  surrogate_->Learn({crashed, Trial(singles[1], 0), Trial({{-1}}, 10)});
  EXPECT_EQ(CostOf(singles[0]) / CostOf(singles[1]), before);
}

TEST_F(KernelSurrogateTest, StepsComeAfterTheBestScheduleOnceSomeAreMeasured) {
  const auto offers_steps = [&](const std::vector<int32_t>& actions) {
    const auto legal =
        Predicted().LegalActions(problem_.StateOf({actions}).value());
    EXPECT_EQ(std::count(legal.begin(), legal.end(), LoweredAction()), 0);
    return std::count(legal.begin(), legal.end(), TransformAction()) == 1;
  };
  const auto singles = SingleChoices();
  ASSERT_GE(singles.size(), 12);
  EXPECT_FALSE(offers_steps({}));
  std::vector<space::Trial> trials = {Trial({}, 1000)};
  for (size_t i = 0; i < 10; ++i) {
    trials.push_back(Trial(singles[i], 2000 - static_cast<double>(i)));
  }
  surrogate_->Learn(trials);
  EXPECT_FALSE(offers_steps({}));
  surrogate_->Learn({Trial(singles[10], 500)});
  EXPECT_TRUE(offers_steps({}));
  EXPECT_TRUE(offers_steps(singles[10]));
  EXPECT_FALSE(offers_steps(singles[0]));
  // Three steps, and no more.
  std::vector<int32_t> actions = {TransformAction()};
  for (int steps = 0; steps <= 3; ++steps) {
    const space::StatePtr state = problem_.StateOf({actions}).value();
    const auto legal = Predicted().LegalActions(state);
    ASSERT_EQ(legal.empty(), steps == 3);
    if (steps < 3) {
      EXPECT_EQ(legal, problem_.LegalActions(state));
      actions.push_back(legal[0]);
    }
  }
}

TEST_F(KernelSurrogateTest, XtatFindsWhatIsFastAndMeasuresNoProgramTwice) {
  // Shorter scripts are faster: the contrary of what the model says.
  const auto search =
      optimizers::CreateOptimizer("xtat", problem_, {.predictions = 128});
  HONE_ASSERT_OK(search.status());
  std::set<std::string> programs;
  optimizers::SearchOptions run;
  run.on_trial = [&](const space::Trial& trial) {
    const space::StatePtr state = problem_.StateOf(trial.candidate).value();
    EXPECT_TRUE(programs
                    .insert(loops::PrintProgram(
                        KernelProblem::ScheduleAt(state).program))
                    .second);
    return absl::OkStatus();
  };
  const auto result = optimizers::RunSearch(problem_, **search, {.trials = 21},
                                            testing::FakeClock(), run);
  HONE_ASSERT_OK(result.status());
  EXPECT_EQ(programs.size(), 21);
  EXPECT_LT(result->best->measurement.cost, 0.9 * kernels_.baseline_ns);
}

TEST_F(KernelSurrogateTest, WithoutAModelThereIsNoXtat) {
  KernelProblemOptions options = Options();
  options.make_surrogate = nullptr;
  const KernelProblem problem(std::move(options));
  EXPECT_THAT(
      optimizers::CreateOptimizer("xtat", problem, {}).status(),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("no cost model")));
}

}  // namespace
}  // namespace hone::tuning
