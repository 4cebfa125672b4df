#include "bench/cost_model/kernel_evaluation.h"

#include <cmath>
#include <cstddef>
#include <vector>

#include "gtest/gtest.h"

namespace hone::bench {
namespace {

KernelGroup Kernel(const std::vector<double>& times, double deviation) {
  KernelGroup kernel;
  for (const double ns : times) {
    ScheduleFeatures& schedule = kernel.schedules.emplace_back();
    schedule.log_time = std::log(ns);
    schedule.deviation = deviation;
    schedule.roofline_ns = 2 * ns;
  }
  return kernel;
}

TEST(KernelEvaluation, CountsAsTheDefinitionsSay) {
  const KernelGroup first = Kernel({100, 200, 400}, 0);
  const KernelGroup second = Kernel({300, 300, 300, 300, 300, 600, 100}, 0);
  const KernelGroup lonely = Kernel({50}, 0);
  const std::vector<const KernelGroup*> kernels = {&first, &second, &lonely};
  const std::vector<SchedulePrediction> predictions = {
      {.order = {3, 1, 2}, .ns = {100, 200, 400}},
      {.order = {1, 1, 1, 1, 1, 2, 3},
       .ns = {300, 300, 300, 300, 300, 600, 100}},
      {.order = {0}, .ns = {100}}};
  const ScheduleErrors errors = ErrorsOf(kernels, predictions);
  // 200 of 100 and 300 of 100 are chosen.
  EXPECT_NEAR(errors.ape, 100 * (500.0 / 200 - 1), 1e-9);
  EXPECT_NEAR(errors.top1, 100 * (1 + 2) / 2.0, 1e-9);
  EXPECT_NEAR(errors.top5, 100 * (0 + 2) / 2.0, 1e-9);
  // One of eleven is twice too high.
  EXPECT_NEAR(errors.mape, 100 / 11.0, 1e-9);
  // One pair of the first is right; of the second 5 right, 6 wrong, 10 tied
  // in both and none in one.
  EXPECT_NEAR(errors.tau, (-1 / 3.0 - 1 / 11.0) / 2, 1e-9);
  EXPECT_TRUE(std::isnan(ErrorsOf({}, {}).ape));
}

TEST(KernelEvaluation, TheRooflineOrdersByItsTimes) {
  const KernelGroup kernel = Kernel({100, 200, 400}, 0);
  const std::vector<const KernelGroup*> kernels = {&kernel};
  const ScheduleErrors errors = ErrorsOf(kernels, PredictByRoofline(kernels));
  EXPECT_EQ(errors.ape, 0);
  EXPECT_EQ(errors.tau, 1);
  EXPECT_NEAR(errors.mape, 100, 1e-9);
}

TEST(KernelEvaluation, MeasuringAgainDeviatesAsTheTimesDo) {
  const KernelGroup exact = Kernel({100, 200, 400}, 0);
  const KernelGroup noisy = Kernel(std::vector<double>(2000, 100), 0.02);
  const std::vector<const KernelGroup*> kernels = {&exact, &noisy};
  const auto again = MeasureAgain(kernels, 1);
  ASSERT_EQ(again[0].ns.size(), 3);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(again[0].ns[i], std::exp(exact.schedules[i].log_time), 1e-9);
  }
  double squares = 0;
  for (const double ns : again[1].ns)
    squares += std::pow(std::log(ns / 100), 2);
  EXPECT_NEAR(std::sqrt(squares / 2000), 0.02, 0.002);
}

}  // namespace
}  // namespace hone::bench
