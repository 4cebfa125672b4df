#include "learning/cost_training.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/temporary_directory.h"
#include "learning/models/cost_model.h"
#include "tests/support/status_matchers.h"
#include "tests/support/toy_kernels.h"

namespace hone::learning {
namespace {

using ::hone::testing::MakeToyKernels;
using ::hone::testing::ToyKernels;
using ::hone::testing::ToySpec;

TEST(TrainCostModel, Try) {
  const char* scale = std::getenv("TOY");
  const int n = scale ? atoi(scale) : 1;
  CostTrainingSet set = {
      .spec = ToySpec(),
      .training = MakeToyKernels({.programs = 16 * n, .kernels = 10}),
      .validation = MakeToyKernels({.programs = 8, .kernels = 10, .seed = 2})};
  CostTraining training;
  auto arch = ParseCostOptions(std::getenv("ARCH") ? std::getenv("ARCH") : "");
  ASSERT_TRUE(arch.ok()) << arch.status();
  training.architecture = *arch;
  training.options.epochs = std::getenv("EPOCHS") ? atoi(std::getenv("EPOCHS")) : 20;
  if (std::getenv("LR")) training.options.learning_rate = atof(std::getenv("LR"));
  if (std::getenv("GPB")) training.options.groups_per_batch = atoi(std::getenv("GPB"));
  if (std::getenv("LOSS")) training.options.order_loss = *ParseOrderLoss(std::getenv("LOSS"));
  training.weights_file = "/tmp/toy_tc.pt";
  training.on_progress = [&](const CostProgress& p) {
    const auto time = MeanOverPrograms(p.metrics, 0), tile = MeanOverPrograms(p.metrics, 1);
    std::cerr << p.epoch << " " << p.seconds << "s loss " << p.loss << " " << p.samples_per_second
              << "/s mape " << time.mean.mape << " ape " << tile.mean.ape << " tau " << tile.mean.kendall
              << " top5 " << tile.mean.top5 << " best " << p.best_error << "\n";
  };
  auto result = TrainCostModel(set, training);
  ASSERT_TRUE(result.ok()) << result.status();
}

}  // namespace
}  // namespace hone::learning
