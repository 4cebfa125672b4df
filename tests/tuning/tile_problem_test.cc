#include "tuning/tasks/tile_problem.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "costmodels/tile_features.h"
#include "hlo/text/parser.h"
#include "optimizers/registry.h"
#include "optimizers/search.h"
#include "tests/support/fake_clock.h"
#include "tests/support/fake_cost_model.h"
#include "tests/support/status_matchers.h"
#include "tuning/tasks/module_tiles_problem.h"
#include "tuning/tasks/tile_surrogate.h"

namespace hone::tuning {
namespace {

using ::testing::HasSubstr;

constexpr char kProduct[] = R"(HloModule product

ENTRY e {
  a = f32[512,1024] parameter(0)
  b = f32[1024,256] parameter(1)
  ROOT d = f32[512,256] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})";

std::shared_ptr<const hlo::Module> Parse(const char* text) {
  return std::make_shared<const hlo::Module>(*hlo::ParseHloText(text));
}

// A made-up device: tiles of 256 by 128 by 512 are the best, and more than
// 250,000 elements of a tile do not fit.
constexpr int64_t kMostElements = 250'000;

int64_t ElementsOf(const hlo::KernelConfig& config) {
  const hlo::Tile& tile = config.tile;
  return tile.output[0] * tile.output[1] + tile.output[0] * tile.reduction[0] +
         tile.reduction[0] * tile.output[1];
}

double CostOf(const hlo::KernelConfig& config) {
  const auto distance = [](int64_t size, double best) {
    return std::abs(std::log2(static_cast<double>(size) / best));
  };
  return 1000 * (1 + distance(config.tile.output[0], 256) +
                 distance(config.tile.output[1], 128) +
                 distance(config.tile.reduction[0], 512)) +
         100 * std::abs(config.buffers - 2) + 10 * std::abs(config.unroll - 4) +
         (config.order == hlo::GridOrder::kColumn ? 5 : 0);
}

TileProblemOptions Options() {
  TileProblemOptions options;
  options.kernel = Parse(kProduct);
  options.by_default = *hlo::ParseKernelConfig("output=8,128 reduction=128");
  options.measure = [](absl::Span<const hlo::KernelConfig> configs) {
    std::vector<space::Measurement> measurements;
    for (const hlo::KernelConfig& config : configs) {
      space::Measurement& measurement = measurements.emplace_back();
      measurement.cost = CostOf(config);
      const int64_t excess = ElementsOf(config) - kMostElements;
      if (excess <= 0) continue;
      measurement.outcome = space::Outcome::kInvalid;
      measurement.violation = static_cast<double>(excess);
      measurement.message = "too large";
    }
    return measurements;
  };
  options.check = [](const hlo::KernelConfig& config) {
    return std::max<int64_t>(ElementsOf(config) - kMostElements, 0);
  };
  return options;
}

TEST(TileProblem, ValuesStandForConfigurations) {
  const TileProblem problem(Options());
  ASSERT_EQ(problem.groups().size(), 6);
  EXPECT_EQ(problem.groups()[0].name, "output0");
  EXPECT_EQ(problem.groups()[2].name, "reduction0");
  EXPECT_EQ(problem.groups()[3].name, "order");
  for (const char* const text :
       {"output=8,128 reduction=128 order=row buffers=2 unroll=4",
        "output=512,256 reduction=1024 order=column buffers=1 unroll=8",
        "output=64,256 reduction=256 order=row buffers=3 unroll=1"}) {
    const hlo::KernelConfig config = *hlo::ParseKernelConfig(text);
    EXPECT_EQ(problem.ConfigOf(problem.CandidateOf(config).choices), config)
        << text;
  }
  EXPECT_EQ(hlo::PrintKernelConfig(
                problem.ConfigOf(problem.DefaultCandidate().choices)),
            "output=8,128 reduction=128 order=row buffers=2 unroll=4");
}

TEST(TileProblem, SizesThatAreNoCandidatesAreTheNextLarger) {
  const TileProblem problem(Options());
  const hlo::KernelConfig odd =
      *hlo::ParseKernelConfig("output=17,100 reduction=2000");
  const hlo::KernelConfig taken =
      problem.ConfigOf(problem.CandidateOf(odd).choices);
  EXPECT_EQ(taken.tile.output, (hlo::DimensionVector{24, 128}));
  EXPECT_EQ(taken.tile.reduction, (hlo::DimensionVector{1024}));
}

TEST(TileProblem, FlagsMayBeLeftAsTheyAre) {
  TileProblemOptions options = Options();
  options.with_flags = false;
  options.by_default = *hlo::ParseKernelConfig(
      "output=8,128 reduction=128 order=column buffers=3 unroll=8");
  const TileProblem problem(std::move(options));
  EXPECT_EQ(problem.groups().size(), 3);
  EXPECT_EQ(hlo::PrintKernelConfig(problem.ConfigOf({0, 0, 1})),
            "output=8,128 reduction=256 order=column buffers=3 unroll=8");
  EXPECT_EQ(problem.DefaultCandidate().choices.size(), 3);
}

TEST(TileProblem, CostsAreTimesExecutions) {
  TileProblemOptions options = Options();
  options.executions = 7;
  const TileProblem problem(std::move(options));
  const auto measured = problem.Measure(problem.DefaultCandidate());
  HONE_ASSERT_OK(measured.status());
  EXPECT_EQ(measured->cost,
            7 * CostOf(problem.ConfigOf(problem.DefaultCandidate().choices)));
}

TEST(TileProblem, WhatIsOutsideTheSpaceIsInvalid) {
  const TileProblem problem(Options());
  space::Candidate outside = problem.DefaultCandidate();
  outside.choices[1] = 63;
  space::Candidate shorter = problem.DefaultCandidate();
  shorter.choices.pop_back();
  const auto measured = problem.MeasureBatch(
      {outside, problem.DefaultCandidate(), shorter, {{}}});
  HONE_ASSERT_OK(measured.status());
  EXPECT_EQ((*measured)[0].outcome, space::Outcome::kInvalid);
  EXPECT_THAT((*measured)[0].message,
              HasSubstr("expected 6 values within their domains"));
  EXPECT_EQ((*measured)[1].outcome, space::Outcome::kOk);
  EXPECT_EQ((*measured)[2].outcome, space::Outcome::kInvalid);
  EXPECT_EQ((*measured)[3].outcome, space::Outcome::kInvalid);
}

// A model that knows how large tiles are, and nothing of flags but buffers.
testing::FakeCostModel FakeModel() {
  return {TpuCostSpec(), [](int32_t head, const learning::CostQuery& query,
                            size_t /*refinements*/) {
            const auto& names = costmodels::TileFeatureNames();
            const auto at =
                std::find(names.begin(), names.end(),
                          head == kTpuTileHead ? "sublane" : "three_buffers");
            return -query.config[static_cast<size_t>(at - names.begin())];
          }};
}

TEST(TileSurrogate, TilesAndFlagsAddUpAndWhatDoesNotFitIsInvalid) {
  const TileProblem problem(Options());
  const testing::FakeCostModel model = FakeModel();
  const auto surrogate = MakeTileSurrogateOf(problem, model);
  const auto cost = [&](const char* text) {
    return *surrogate->problem().Measure(
        problem.CandidateOf(*hlo::ParseKernelConfig(text)));
  };
  EXPECT_LT(cost("output=64,128 reduction=128").cost,
            cost("output=8,128 reduction=128").cost);
  EXPECT_NEAR(cost("output=64,128 reduction=128 buffers=3").cost /
                  cost("output=64,128 reduction=128").cost,
              std::exp(-1), 1e-6);
  const space::Measurement large = cost("output=512,256 reduction=1024");
  EXPECT_EQ(large.outcome, space::Outcome::kInvalid);
  EXPECT_EQ(large.violation, static_cast<double>(512 * 256 + 512 * 1024 +
                                                 1024 * 256 - kMostElements));
}

TEST(TileSurrogate, LearnsFromAllTrialsThatHaveATime) {
  const TileProblem problem(Options());
  const testing::FakeCostModel model = FakeModel();
  const auto surrogate = MakeTileSurrogateOf(problem, model);
  const auto trial = [&](const char* text) {
    space::Trial made;
    made.candidate = problem.CandidateOf(*hlo::ParseKernelConfig(text));
    made.measurement = *problem.Measure(made.candidate);
    return made;
  };
  surrogate->Learn({trial("output=8,128 reduction=128")});
  EXPECT_TRUE(model.refinements().empty());
  surrogate->Learn({trial("output=512,256 reduction=1024"),
                    trial("output=64,128 reduction=128")});
  surrogate->Learn({trial("output=128,128 reduction=128")});
  ASSERT_EQ(model.refinements().size(), 2);
  EXPECT_EQ(model.refinements()[0][0].samples.size(), 2);
  EXPECT_EQ(model.refinements()[1][0].samples.size(), 3);
  // Three buffers are predicted to save a unit, which the tile has not.
  const space::Trial flags = trial("output=128,128 reduction=128 buffers=3");
  surrogate->Learn({flags});
  EXPECT_NEAR(model.refinements().back()[0].samples.back().log_time,
              std::log(flags.measurement.cost) + 1, 1e-6);
}

TEST(TileSurrogate, XtatMeasuresWhatItLikes) {
  TileProblemOptions options = Options();
  const testing::FakeCostModel model = FakeModel();
  options.make_surrogate = [&model](const TileProblem& problem) {
    return MakeTileSurrogateOf(problem, model);
  };
  const TileProblem problem(std::move(options));
  auto search = optimizers::CreateOptimizer("xtat", problem, {});
  HONE_ASSERT_OK(search.status());
  std::vector<hlo::KernelConfig> tried;
  optimizers::SearchOptions run;
  run.on_trial = [&](const space::Trial& trial) {
    EXPECT_EQ(trial.measurement.outcome, space::Outcome::kOk);
    tried.push_back(problem.ConfigOf(trial.candidate.choices));
    return absl::OkStatus();
  };
  HONE_EXPECT_OK(optimizers::RunSearch(problem, **search, {.trials = 6},
                                       testing::FakeClock(), run));
  ASSERT_EQ(tried.size(), 6);
  EXPECT_EQ(tried[1].tile.output[0], 512);
  EXPECT_EQ(tried[1].buffers, 3);
}

TEST(TileProblem, WithoutAModelThereIsNoXtat) {
  const TileProblem problem(Options());
  EXPECT_THAT(optimizers::CreateOptimizer("xtat", problem, {}).status(),
              testing::StatusIs(absl::StatusCode::kInvalidArgument,
                                HasSubstr("no cost model")));
}

TEST(ModuleTilesProblem, AddsUpItsKernels) {
  std::vector<std::unique_ptr<TileProblem>> kernels;
  kernels.push_back(std::make_unique<TileProblem>(Options()));
  TileProblemOptions twice = Options();
  twice.executions = 2;
  twice.by_default = *hlo::ParseKernelConfig("output=256,128 reduction=512");
  kernels.push_back(std::make_unique<TileProblem>(std::move(twice)));
  const ModuleTilesProblem problem(std::move(kernels));
  EXPECT_EQ(problem.variable_count(), 12);
  const auto measured = problem.Measure(problem.DefaultCandidate());
  HONE_ASSERT_OK(measured.status());
  ASSERT_EQ(measured->samples.size(), 2);
  EXPECT_EQ(measured->samples[1], 2000);
  EXPECT_EQ(measured->cost, measured->samples[0] + 2000);
  // The second kernel does not fit: all that is known of the first is kept.
  space::Candidate large = problem.DefaultCandidate();
  const space::Candidate own = problem.kernel(1).CandidateOf(
      *hlo::ParseKernelConfig("output=512,256 reduction=1024"));
  std::copy(own.choices.begin(), own.choices.end(), large.choices.begin() + 6);
  const auto invalid = problem.Measure(large);
  HONE_ASSERT_OK(invalid.status());
  EXPECT_EQ(invalid->outcome, space::Outcome::kInvalid);
  EXPECT_EQ(invalid->samples[0], measured->samples[0]);
  EXPECT_EQ(invalid->samples[1], -invalid->violation);
  EXPECT_THAT(invalid->message, HasSubstr("kernel 1: too large"));
}

TEST(ModuleTilesProblem, TakesCandidatesOfAnyLength) {
  std::vector<std::unique_ptr<TileProblem>> kernels;
  kernels.push_back(std::make_unique<TileProblem>(Options()));
  kernels.push_back(std::make_unique<TileProblem>(Options()));
  const ModuleTilesProblem problem(std::move(kernels));
  space::Candidate longer = problem.DefaultCandidate();
  longer.choices.push_back(0);
  const auto measured = problem.MeasureBatch({{{}}, {{0, 0, 0}}, longer});
  HONE_ASSERT_OK(measured.status());
  for (const space::Measurement& one : *measured) {
    EXPECT_EQ(one.outcome, space::Outcome::kInvalid);
  }
}

}  // namespace
}  // namespace hone::tuning
