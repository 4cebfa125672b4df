#include "learning/cost_training.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/prediction_metrics.h"
#include "base/temporary_directory.h"
#include "bench/cost_model/synthetic_kernels.h"
#include "learning/models/cost_model.h"
#include "tests/support/status_matchers.h"

namespace hone::learning {
namespace {

using ::hone::bench::MakeSyntheticKernels;
using ::hone::bench::SyntheticSpec;
using ::hone::testing::IsOk;
using ::hone::testing::StatusIs;
using ::testing::HasSubstr;

constexpr absl::StatusCode kInvalid = absl::StatusCode::kInvalidArgument;

std::string ReadAll(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The least-squares fit of the logarithm of the time by all that the model
// sees: the configuration, the graph's features, and sums over its nodes.
class LinearModel {
 public:
  explicit LinearModel(const std::vector<CostGroup>& groups, int32_t head) {
    std::vector<std::vector<double>> system;  // the normal equations, and right
    for (const CostGroup& group : groups) {
      if (group.head != head) continue;
      for (const CostSample& sample : group.samples) {
        const std::vector<double> x = Features(sample);
        system.resize(x.size(), std::vector<double>(x.size() + 1));
        for (size_t i = 0; i < x.size(); ++i) {
          for (size_t j = 0; j < x.size(); ++j) system[i][j] += x[i] * x[j];
          system[i].back() += x[i] * sample.log_time;
        }
      }
    }
    for (size_t i = 0; i < system.size(); ++i) system[i][i] += 1e-6;
    for (size_t i = 0; i < system.size(); ++i) {
      for (size_t j = 0; j < system.size(); ++j) {
        if (i == j) continue;
        const double factor = system[j][i] / system[i][i];
        for (size_t k = 0; k <= system.size(); ++k) {
          system[j][k] -= factor * system[i][k];
        }
      }
    }
    for (size_t i = 0; i < system.size(); ++i) {
      weights_.push_back(system[i].back() / system[i][i]);
    }
  }

  double Predict(const CostSample& sample) const {
    const std::vector<double> x = Features(sample);
    double sum = 0;
    for (size_t i = 0; i < x.size(); ++i) sum += weights_[i] * x[i];
    return sum;
  }

 private:
  static std::vector<double> Features(const CostSample& sample) {
    const space::Observation& graph = *sample.graph;
    std::vector<double> x = {
        1, static_cast<double>(graph.global_features[0]),
        std::log(static_cast<double>(graph.node_kinds.size())),
        static_cast<double>(graph.node_features[0]),
        static_cast<double>(graph.node_features[1])};
    for (const float c : sample.config) x.push_back(static_cast<double>(c));
    std::vector<double> kinds(6);
    for (const int32_t kind : graph.node_kinds) {
      ++kinds[static_cast<size_t>(kind)];
    }
    for (const double count : kinds) x.push_back(std::log1p(count));
    return x;
  }

  std::vector<double> weights_;
};

struct Errors {
  double mape = 0;  // of head "time"
  double ape = 0;   // of head "tile"
};

// The errors over all groups together.
template <typename Predict>
Errors ErrorsOf(const std::vector<CostGroup>& groups, Predict predict) {
  std::vector<double> times, predicted;
  std::vector<PredictedChoices> sets;
  for (const CostGroup& group : groups) {
    PredictedChoices choices;
    for (const CostSample& sample : group.samples) {
      choices.times.push_back(std::exp(sample.log_time));
      choices.predicted.push_back(predict(group.head, sample));
    }
    if (group.head == 1) {
      sets.push_back(choices);
    } else {
      times.push_back(choices.times[0]);
      predicted.push_back(std::exp(choices.predicted[0]));
    }
  }
  return {MeanAbsolutePercentageError(times, predicted), SelectionApe(sets)};
}

Errors ErrorsOf(const CostPredictor& model,
                const std::vector<CostGroup>& groups) {
  return ErrorsOf(groups, [&](int32_t head, const CostSample& sample) {
    const CostQuery query = {sample.graph.get(), sample.config};
    return static_cast<double>(model.Predict(head, {&query, 1})->values[0]);
  });
}

class TrainCostModelTest : public ::testing::Test {
 protected:
  std::string Path(const std::string& name) const {
    return directory_.path() + "/" + name;
  }

  // A training of a second or so.
  CostTraining Small(const std::string& weights) const {
    CostTraining training;
    training.architecture.layers = 2;
    training.architecture.width = 16;
    training.architecture.hidden = 16;
    training.options = {.seed = 7, .epochs = 6, .groups_per_batch = 8};
    training.weights_file = Path(weights);
    return training;
  }

  const TemporaryDirectory directory_;
  const CostTrainingSet set_ = {
      .spec = SyntheticSpec(),
      .training = MakeSyntheticKernels({.programs = 3, .kernels = 5}),
      .validation =
          MakeSyntheticKernels({.programs = 2, .kernels = 3, .seed = 2})};
};

TEST_F(TrainCostModelTest, LearnsAKnownCostAndAnother) {
  const CostTrainingSet set = {
      .spec = SyntheticSpec(),
      .training = MakeSyntheticKernels({.programs = 64, .kernels = 10}),
      .validation =
          MakeSyntheticKernels({.programs = 4, .kernels = 10, .seed = 2})};
  const std::vector<CostGroup> tested =
      MakeSyntheticKernels({.programs = 8, .kernels = 10, .seed = 3});
  CostTraining training;
  training.options = {.epochs = 30, .groups_per_batch = 32};
  training.weights_file = Path("weights.pt");
  std::vector<double> losses;
  training.on_progress = [&](const CostProgress& progress) {
    losses.push_back(progress.loss);
    EXPECT_GE(progress.error, progress.best_error);
  };
  HONE_ASSERT_OK_AND_ASSIGN(const CostTrainingResult result,
                            TrainCostModel(set, training));
  EXPECT_EQ(result.epochs, 30);
  ASSERT_EQ(losses.size(), 30);
  EXPECT_LT(losses.back(), losses.front() / 20);

  HONE_ASSERT_OK_AND_ASSIGN(
      const auto model,
      CostModel::Parse(ReadAll(Path("weights.pt")), set.spec));
  const Errors learned = ErrorsOf(*model, tested);
  const LinearModel time(set.training, 0), tile(set.training, 1);
  const Errors linear =
      ErrorsOf(tested, [&](int32_t head, const CostSample& sample) {
        return (head == 0 ? time : tile).Predict(sample);
      });
  EXPECT_LT(learned.mape, 4);
  EXPECT_LT(learned.mape, linear.mape / 2.5);
  EXPECT_LT(learned.ape, 3);
  EXPECT_LT(learned.ape, linear.ape / 4);

  // Deviations are of the size of the errors, and larger for graphs of another
  // size than all that were learned.
  std::vector<CostQuery> queries, large_queries;
  std::vector<double> log_times;
  const std::vector<CostGroup> large = MakeSyntheticKernels(
      {.programs = 8, .kernels = 10, .most_nodes = 120, .seed = 4});
  for (const CostGroup& group : tested) {
    if (group.head != 0) continue;
    AppendQueries(group, queries);
    log_times.push_back(group.samples[0].log_time);
  }
  for (const CostGroup& group : large) {
    if (group.head == 0) AppendQueries(group, large_queries);
  }
  HONE_ASSERT_OK_AND_ASSIGN(const CostPredictions near,
                            model->Predict(0, queries));
  HONE_ASSERT_OK_AND_ASSIGN(const CostPredictions far,
                            model->Predict(0, large_queries));
  double squares = 0, expected = 0, mean_near = 0, mean_far = 0;
  for (size_t i = 0; i < queries.size(); ++i) {
    const double error = log_times[i] - static_cast<double>(near.values[i]);
    const auto deviation = static_cast<double>(near.deviations[i]);
    squares += error * error;
    expected += deviation * deviation;
    mean_near += deviation / static_cast<double>(queries.size());
  }
  for (const float deviation : far.deviations) {
    mean_far += static_cast<double>(deviation) /
                static_cast<double>(far.deviations.size());
  }
  EXPECT_GT(squares, expected / 9);
  EXPECT_LT(squares, expected * 9);
  EXPECT_GT(mean_far, 1.5 * mean_near);

  // On a machine whose steps cost more, some measurements tell most of it.
  const std::vector<CostGroup> elsewhere = MakeSyntheticKernels(
      {.programs = 8, .kernels = 10, .seed = 5, .overhead = 400});
  std::vector<CostGroup> measured = MakeSyntheticKernels(
      {.programs = 6, .kernels = 10, .seed = 6, .overhead = 400});
  for (CostGroup& group : measured) {
    // Every fourth tile.
    for (size_t i = 0; i < group.samples.size(); ++i) {
      group.samples[i] =
          group.samples[std::min(4 * i, group.samples.size() - 1)];
    }
    group.samples.resize((group.samples.size() + 3) / 4);
  }
  const Errors before = ErrorsOf(*model, elsewhere);
  ASSERT_THAT(model->Refine(measured), IsOk());
  const Errors after = ErrorsOf(*model, elsewhere);
  EXPECT_LT(after.mape, before.mape / 2);
  EXPECT_LT(after.ape, before.ape);
  // What is known already does not change the model for the worse.
  ASSERT_THAT(model->Refine(measured), IsOk());
  EXPECT_LT(ErrorsOf(*model, elsewhere).mape, after.mape * 1.2);
}

TEST_F(TrainCostModelTest, MakesTheSameBytesBySeed) {
  for (const char* name : {"a", "b"}) {
    ASSERT_THAT(TrainCostModel(set_, Small(name)), IsOk());
  }
  EXPECT_EQ(ReadAll(Path("a")), ReadAll(Path("b")));
  CostTraining other = Small("c");
  other.options.seed = 8;
  ASSERT_THAT(TrainCostModel(set_, other), IsOk());
  EXPECT_NE(ReadAll(Path("a")), ReadAll(Path("c")));
}

TEST_F(TrainCostModelTest, GoesOnWhereItStopped) {
  ASSERT_THAT(TrainCostModel(set_, Small("whole")), IsOk());
  CostTraining training = Small("resumed");
  training.state_file = Path("state");
  // The state after each epoch, as an interruption leaves it: it is gone at the
  // end.
  std::string state;
  training.on_progress = [&](const CostProgress& progress) {
    if (progress.epoch == 4) state = ReadAll(training.state_file);
  };
  ASSERT_THAT(TrainCostModel(set_, training), IsOk());
  EXPECT_EQ(ReadAll(Path("resumed")), ReadAll(Path("whole")));
  EXPECT_FALSE(std::filesystem::exists(training.state_file));
  std::filesystem::remove(Path("resumed"));

  std::ofstream(training.state_file, std::ios::binary) << state;
  std::vector<int64_t> epochs;
  training.on_progress = [&](const CostProgress& progress) {
    epochs.push_back(progress.epoch);
  };
  ASSERT_THAT(TrainCostModel(set_, training), IsOk());
  EXPECT_THAT(epochs, ::testing::ElementsAre(4, 5, 6));
  EXPECT_EQ(ReadAll(Path("resumed")), ReadAll(Path("whole")));

  // The state of another training, and no state.
  std::ofstream(training.state_file, std::ios::binary) << state;
  CostTrainingSet other = set_;
  other.training[0].samples[0].log_time += 1;
  EXPECT_THAT(
      TrainCostModel(other, training),
      StatusIs(absl::StatusCode::kFailedPrecondition,
               HasSubstr("state: belongs to a training on other data")));
  state[state.size() / 2] ^= 1;
  std::ofstream(training.state_file, std::ios::binary) << state;
  EXPECT_THAT(TrainCostModel(set_, training),
              StatusIs(kInvalid, HasSubstr("state: not the state of a")));
  training.state_file = "/dev/zero";
  EXPECT_THAT(TrainCostModel(set_, training),
              StatusIs(kInvalid, HasSubstr("/dev/zero: is no regular file")));
}

TEST_F(TrainCostModelTest, StartsFromWeights) {
  ASSERT_THAT(TrainCostModel(set_, Small("first")), IsOk());
  CostTraining training = Small("second");
  training.initial_weights = Path("first");
  training.architecture = CostOptions();
  training.options.epochs = 1;
  training.options.learning_rate = 1e-6;
  HONE_ASSERT_OK_AND_ASSIGN(const CostTrainingResult second,
                            TrainCostModel(set_, training));
  HONE_ASSERT_OK_AND_ASSIGN(const auto first,
                            CostModel::ParseAsSaved(ReadAll(Path("first"))));
  HONE_ASSERT_OK_AND_ASSIGN(const auto metrics,
                            EvaluateCostModel(*first, set_.validation));
  EXPECT_NEAR(second.best_error, SelectionError(set_.spec, metrics), 0.5);
  training.initial_weights = Path("none");
  EXPECT_THAT(TrainCostModel(set_, training),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("none: cannot")));
  std::ofstream(Path("text")) << "text";
  training.initial_weights = Path("text");
  EXPECT_THAT(TrainCostModel(set_, training),
              StatusIs(kInvalid, HasSubstr("text: not the weights of a cost")));
}

TEST_F(TrainCostModelTest, RunsEveryAblation) {
  for (const char* architecture :
       {"encoder=attention", "encoder=sequence", "reduction=lstm",
        "reduction=transformer", "join=early"}) {
    SCOPED_TRACE(architecture);
    CostTraining training = Small("ablation");
    HONE_ASSERT_OK_AND_ASSIGN(
        training.architecture,
        ParseCostOptions(std::string("layers=1,width=16,hidden=16,") +
                         architecture));
    std::vector<double> losses;
    training.on_progress = [&](const CostProgress& progress) {
      losses.push_back(progress.loss);
    };
    ASSERT_THAT(TrainCostModel(set_, training), IsOk());
    EXPECT_LT(losses.back(), losses.front());
  }
  for (const OrderLoss loss : {OrderLoss::kLogistic, OrderLoss::kSquared}) {
    SCOPED_TRACE(OrderLossName(loss));
    CostTraining training = Small("ablation");
    training.options.order_loss = loss;
    std::vector<double> losses;
    training.on_progress = [&](const CostProgress& progress) {
      losses.push_back(progress.loss);
    };
    ASSERT_THAT(TrainCostModel(set_, training), IsOk());
    EXPECT_LT(losses.back(), losses.front());
  }
}

TEST_F(TrainCostModelTest, NeedsSomethingToTrainOn) {
  EXPECT_THAT(TrainCostModel({.spec = SyntheticSpec()}, Small("w")),
              StatusIs(kInvalid, HasSubstr("no kernels to train on")));
  CostTrainingSet set = set_;
  set.validation[0].head = 5;
  EXPECT_THAT(TrainCostModel(set, Small("w")),
              StatusIs(kInvalid, HasSubstr("head 5")));
}

TEST_F(TrainCostModelTest, StopsInTimeWithWeights) {
  CostTraining training = Small("w");
  training.time = absl::ZeroDuration();
  HONE_ASSERT_OK_AND_ASSIGN(const CostTrainingResult result,
                            TrainCostModel(set_, training));
  EXPECT_EQ(result.epochs, 0);
  EXPECT_TRUE(std::filesystem::exists(Path("w")));
}

}  // namespace
}  // namespace hone::learning
