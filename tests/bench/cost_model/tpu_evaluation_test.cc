#include "bench/cost_model/tpu_evaluation.h"

#include <cmath>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace hone::bench {
namespace {

TimedTiles Tiles(int64_t instances, std::vector<double> ns) {
  TimedTiles tiles;
  tiles.instances = instances;
  tiles.executions = 10 * static_cast<double>(instances);
  tiles.ns = std::move(ns);
  return tiles;
}

// Two kernels, the second one three times in the program. Figures by hand.
TEST(TpuEvaluation, EachInstanceOfAKernelCounts) {
  TimedProgram program;
  program.kernels.push_back(Tiles(1, {8000, 4000, 5000}));
  program.kernels.push_back(Tiles(3, {1000, 2000}));
  const std::vector<TilePrediction> predictions = {
      // The third tile is selected; the default takes half as long again.
      {.order = {3, 2, 1}, .ns = {12'000, 1, 1}},
      // The worse tile is selected; the default is predicted at its half.
      {.order = {2, 1}, .ns = {500, 1}}};
  const TpuErrors errors = ErrorsOf(program, predictions);
  EXPECT_NEAR(errors.ape, 100 * (1000 + 3 * 1000) / (4000 + 3 * 1000.0), 1e-9);
  EXPECT_NEAR(errors.top5, 0, 1e-9);
  EXPECT_NEAR(errors.mape, 50, 1e-9);
  EXPECT_NEAR(errors.long_mape, 50, 1e-9);
  EXPECT_NEAR(errors.program, 100 * (13'500 / 11'000.0 - 1), 1e-9);
  // One of three pairs in order; none of the one pair, three times.
  EXPECT_NEAR(errors.tile_tau, (1 / 3.0 - 3) / 4, 1e-9);
}

// The best of five tries of seven tiles.
TEST(TpuEvaluation, TheFiveThatItLikesBestAreTried) {
  TimedProgram program;
  program.kernels.push_back(Tiles(1, {70, 60, 50, 40, 30, 20, 10}));
  program.kernels.push_back(Tiles(1, {10}));
  const std::vector<TilePrediction> predictions = {
      {.order = {1, 2, 3, 4, 5, 6, 7}, .ns = {70, 1, 1, 1, 1, 1, 1}},
      {.order = {1}, .ns = {20}}};
  const TpuErrors errors = ErrorsOf(program, predictions);
  // 30 in place of 10, and 10.
  EXPECT_NEAR(errors.top5, 100 * (40 / 20.0 - 1), 1e-9);
  EXPECT_NEAR(errors.ape, 100 * (80 / 20.0 - 1), 1e-9);
  EXPECT_NEAR(errors.mape, 50, 1e-9);
  // None takes as long.
  EXPECT_TRUE(std::isnan(errors.long_mape));
}

// The default tile is the first.
TEST(TpuEvaluation, DefaultTilesCostWhatTheBestOnesSave) {
  TimedProgram program;
  program.kernels.push_back(Tiles(1, {8000, 4000, 5000}));
  program.kernels.push_back(Tiles(3, {1000, 2000}));
  EXPECT_NEAR(DefaultApe(program), 100 * 4000 / (4000 + 3 * 1000.0), 1e-9);
}

// Off by 3, 0.5 and 0.5 deviations.
TEST(TpuEvaluation, TimesLieWithinTheDeviationsThatAreExpected) {
  TimedProgram program;
  program.kernels.push_back(Tiles(1, {1000}));
  program.kernels.push_back(Tiles(2, {1000}));
  const std::vector<TilePrediction> predictions = {
      {.order = {1}, .ns = {1000 * std::exp(0.3)}, .deviations = {0.1}},
      {.order = {1}, .ns = {1000 * std::exp(-0.1)}, .deviations = {0.2}}};
  const TpuErrors errors = ErrorsOf(program, predictions);
  EXPECT_NEAR(errors.within_one, 100 * 2 / 3.0, 1e-9);
  EXPECT_NEAR(errors.within_two, 100 * 2 / 3.0, 1e-9);
  EXPECT_TRUE(std::isnan(
      ErrorsOf(program, std::vector<TilePrediction>{OrderedByTime({1000}),
                                                    OrderedByTime({1000})})
          .within_one));
}

// One is off and says so, one is off, one is sure and right, twice.
TEST(TpuEvaluation, DoubtIsCountedWhereErrorsAreLarge) {
  TimedProgram program;
  program.kernels.push_back(Tiles(1, {1000}));
  program.kernels.push_back(Tiles(1, {1000}));
  program.kernels.push_back(Tiles(2, {1000}));
  const TpuErrors errors =
      ErrorsOf(program, std::vector<TilePrediction>{
                            {.order = {1}, .ns = {2000}, .deviations = {0.7}},
                            {.order = {1}, .ns = {500}, .deviations = {0.1}},
                            {.order = {1}, .ns = {1100}, .deviations = {0.2}}});
  EXPECT_EQ(errors.doubt.kernels, 4);
  EXPECT_EQ(errors.doubt.unsure, 1);
  EXPECT_EQ(errors.doubt.wrong, 2);
  EXPECT_EQ(errors.doubt.wrong_unsure, 1);
  Doubt twice = errors.doubt;
  twice += errors.doubt;
  EXPECT_EQ(twice.kernels, 8);
  EXPECT_EQ(twice.wrong_unsure, 2);
}

}  // namespace
}  // namespace hone::bench
