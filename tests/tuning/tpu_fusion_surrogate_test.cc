#include "tuning/tasks/tpu_fusion_surrogate.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"

#include "hlo/analysis/fingerprint.h"
#include "hlo/fusion/fuse.h"
#include "hlo/fusion/kernels.h"
#include "hlo/tiles/tiled_kernel.h"
#include "optimizers/registry.h"
#include "optimizers/search.h"
#include "tests/hlo/fusion/support.h"
#include "tests/support/fake_clock.h"
#include "tests/support/fake_cost_model.h"
#include "tests/support/status_matchers.h"
#include "tuning/tasks/tile_surrogate.h"

namespace hone::tuning {
namespace {

constexpr char kModule[] = R"(HloModule m
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT sum = f32[] add(a, b)
}
ENTRY main {
  x = f32[16,32] parameter(0)
  y = f32[16,32] parameter(1)
  zero = f32[] constant(0)
  n = f32[16,32] negate(x)
  m = f32[16,32] multiply(n, y)
  e = f32[16,32] exponential(m)
  s = f32[16] reduce(e, zero), dimensions={1}, to_apply=add
  b = f32[16,32] broadcast(s), dimensions={0}
  ROOT d = f32[16,32] divide(e, b)
})";

// Takes a kernel of N instructions for one of exp(N / 4) ns, and half as much
// more after each refinement.
double FakeLogTime(size_t instructions, size_t refinements) {
  return static_cast<double>(instructions) / 4 +
         std::log(1 + 0.5 * static_cast<double>(refinements));
}

double FakeTime(const hlo::Module& kernel, size_t refinements) {
  const int64_t instructions = kernel.entry_computation().live_count();
  return std::exp(FakeLogTime(static_cast<size_t>(instructions), refinements));
}

absl::StatusOr<hlo::KernelConfig> WholeTile(const hlo::Module& kernel) {
  const hlo::TiledKernel tiled(kernel);
  hlo::KernelConfig config;
  for (const int64_t size : tiled.output_dimensions()) {
    config.tile.output.push_back(size);
  }
  for (const int64_t size : tiled.reduction_dimensions()) {
    config.tile.reduction.push_back(size);
  }
  return config;
}

class TpuFusionSurrogateTest : public ::testing::Test {
 protected:
  // Counts the kernels that are measured.
  std::unique_ptr<TpuFusionProblem> MakeProblem(
      DefaultConfigOf config_of = WholeTile) {
    auto problem = TpuFusionProblem::Create(
        hlo::VerifiedModule(kModule),
        {.timer = TimeOneByOne([this](const hlo::Module& kernel) {
           ++measured_;
           return hlo::MadeUpTime(kernel);
         }),
         .make_surrogate = [this, config_of](const TpuFusionProblem& of)
             -> absl::StatusOr<std::unique_ptr<space::Surrogate>> {
           auto surrogate = MakeTpuFusionSurrogate(of, model_, {}, config_of);
           if (surrogate.ok()) predicted_ = &(*surrogate)->problem();
           return surrogate;
         }});
    EXPECT_TRUE(problem.ok()) << problem.status();
    return *std::move(problem);
  }

  static std::vector<hlo::Kernel> KernelsOf(const TpuFusionProblem& problem,
                                            const space::Candidate& candidate) {
    const TpuFusionPlan plan = problem.Plan(candidate.choices);
    return *hlo::KernelsOf(
        *hlo::Fuse(problem.space(), plan.fused, plan.layouts));
  }
  static space::Candidate RandomCandidate(const TpuFusionProblem& problem,
                                          Rng& rng) {
    return {problem.Values({hlo::RandomFusion(problem.space(), rng),
                            hlo::RandomLayouts(problem.space(), rng)})};
  }

  const testing::FakeCostModel model_{
      TpuCostSpec(),
      [](int32_t head, const learning::CostQuery& query, size_t refinements) {
        EXPECT_EQ(head, kTpuTimeHead);
        return FakeLogTime(query.graph->node_kinds.size(), refinements);
      }};
  int measured_ = 0;
  const space::Problem* predicted_ = nullptr;
};

TEST_F(TpuFusionSurrogateTest, TakesTheSumOfPredictionsAndMeasuresNothing) {
  const auto problem = MakeProblem();
  const int measured = measured_;
  HONE_ASSERT_OK_AND_ASSIGN(const auto surrogate, problem->MakeSurrogate());
  Rng rng(1);
  for (int i = 0; i < 20; ++i) {
    const space::Candidate candidate = RandomCandidate(*problem, rng);
    double expected = 0;
    for (const hlo::Kernel& kernel : KernelsOf(*problem, candidate)) {
      expected += FakeTime(kernel.module, 0);
    }
    HONE_ASSERT_OK_AND_ASSIGN(const space::Measurement predicted,
                              surrogate->problem().Measure(candidate));
    EXPECT_NEAR(predicted.cost, expected, 1e-5 * expected);
  }
  EXPECT_EQ(measured_, measured);
}

TEST_F(TpuFusionSurrogateTest, PredictsTheKernelsOfABatchTogether) {
  const auto problem = MakeProblem();
  HONE_ASSERT_OK_AND_ASSIGN(const auto surrogate, problem->MakeSurrogate());
  Rng rng(3);
  std::vector<space::Candidate> candidates;
  for (int i = 0; i < 20; ++i) {
    candidates.push_back(RandomCandidate(*problem, rng));
  }
  const size_t before = model_.asked().size();
  HONE_ASSERT_OK_AND_ASSIGN(const auto predicted,
                            surrogate->problem().MeasureBatch(candidates));
  ASSERT_EQ(model_.asked().size(), before + 1);
  EXPECT_GT(model_.asked().back(), 5u);
  for (size_t i = 0; i < candidates.size(); ++i) {
    double expected = 0;
    for (const hlo::Kernel& kernel : KernelsOf(*problem, candidates[i])) {
      expected += FakeTime(kernel.module, 0);
    }
    EXPECT_NEAR(predicted[i].cost, expected, 1e-5 * expected);
  }
}

TEST_F(TpuFusionSurrogateTest, KnowsTheKernelsOfMeasuredPrograms) {
  const auto problem = MakeProblem();
  HONE_ASSERT_OK_AND_ASSIGN(const auto surrogate, problem->MakeSurrogate());
  space::Trial trial;
  trial.candidate = problem->DefaultCandidate();
  HONE_ASSERT_OK_AND_ASSIGN(trial.measurement,
                            problem->Measure(trial.candidate));
  const int measured = measured_;
  surrogate->Learn({&trial, 1});
  HONE_ASSERT_OK_AND_ASSIGN(space::Measurement predicted,
                            surrogate->problem().Measure(trial.candidate));
  EXPECT_DOUBLE_EQ(predicted.cost, trial.measurement.cost);
  ASSERT_EQ(model_.refinements().size(), 1u);
  for (const learning::CostGroup& group : model_.refinements()[0]) {
    EXPECT_EQ(group.head, kTpuTimeHead);
  }
  // Nothing new: not refined again.
  surrogate->Learn({&trial, 1});
  EXPECT_EQ(model_.refinements().size(), 1u);
  // Others are predicted by the refined model.
  Rng rng(2);
  int others = 0;
  for (int i = 0; i < 20; ++i) {
    const space::Candidate candidate = RandomCandidate(*problem, rng);
    double expected = 0;
    for (const hlo::Kernel& kernel : KernelsOf(*problem, candidate)) {
      bool is_known = false;
      for (const hlo::Kernel& other : KernelsOf(*problem, trial.candidate)) {
        is_known = is_known || hlo::FastFingerprint(other.module) ==
                                   hlo::FastFingerprint(kernel.module);
      }
      others += is_known ? 0 : 1;
      expected += is_known ? hlo::MadeUpTime(kernel.module)
                           : FakeTime(kernel.module, 1);
    }
    HONE_ASSERT_OK_AND_ASSIGN(predicted,
                              surrogate->problem().Measure(candidate));
    EXPECT_NEAR(predicted.cost, expected, 1e-5 * expected);
    const auto local = surrogate->problem().assignment()->MakeLocal(candidate);
    EXPECT_NEAR(local->score().rank.cost, expected, 1e-5 * expected);
  }
  EXPECT_GT(others, 10);
  EXPECT_EQ(measured_, measured);
}

TEST_F(TpuFusionSurrogateTest, LearnsNothingFromWhatDoesNotRun) {
  const auto problem = MakeProblem();
  HONE_ASSERT_OK_AND_ASSIGN(const auto surrogate, problem->MakeSurrogate());
  space::Trial trial;
  trial.candidate = problem->DefaultCandidate();
  trial.measurement.outcome = space::Outcome::kInvalid;
  surrogate->Learn({&trial, 1});
  EXPECT_TRUE(model_.refinements().empty());
}

// That a kernel does not fit is known without running it.
TEST_F(TpuFusionSurrogateTest, KernelsWithoutAConfigurationAreInvalid) {
  const auto no_large =
      [](const hlo::Module& kernel) -> absl::StatusOr<hlo::KernelConfig> {
    if (kernel.entry_computation().live_count() > 4) {
      return absl::ResourceExhaustedError("does not fit");
    }
    return WholeTile(kernel);
  };
  const auto problem = MakeProblem(no_large);
  HONE_ASSERT_OK_AND_ASSIGN(const auto surrogate, problem->MakeSurrogate());
  const space::Candidate greedy = problem->Seeds()[1].candidate;
  HONE_ASSERT_OK_AND_ASSIGN(const space::Measurement predicted,
                            surrogate->problem().Measure(greedy));
  EXPECT_EQ(predicted.outcome, space::Outcome::kInvalid);
  EXPECT_GE(predicted.violation, 1);
}

TEST_F(TpuFusionSurrogateTest, XtatAnnealsOnPredictions) {
  const auto problem = MakeProblem();
  constexpr int64_t kPredictions = 64;
  HONE_ASSERT_OK_AND_ASSIGN(
      const auto search,
      optimizers::CreateOptimizer("xtat", *problem,
                                  {.top_k = 4, .predictions = kPredictions}));
  double least = INFINITY;
  for (const space::Seed& seed : problem->Seeds()) {
    least = std::min(least, problem->Measure(seed.candidate)->cost);
  }
  const size_t seeds = problem->Seeds().size();
  HONE_ASSERT_OK_AND_ASSIGN(
      const optimizers::SearchResult result,
      optimizers::RunSearch(*problem, *search,
                            {.trials = static_cast<int64_t>(seeds) + 4},
                            testing::FakeClock()));
  ASSERT_TRUE(result.best.has_value());
  EXPECT_LE(result.best->measurement.cost, least);
  // Programs are measured one by one, the model's tries are many.
  EXPECT_LE(result.evaluations, static_cast<int64_t>(seeds) + 4);
  EXPECT_GE(predicted_->evaluations(), 8 * kPredictions);
  // A search may overstep a little, twice.
  EXPECT_LE(predicted_->evaluations(), 2 * 9 * kPredictions + 100);
}

}  // namespace
}  // namespace hone::tuning
