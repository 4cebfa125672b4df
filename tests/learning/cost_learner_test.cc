#include "learning/cost_learner.h"

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "bench/cost_model/synthetic_kernels.h"
#include "tests/support/status_matchers.h"

namespace hone::learning {
namespace {

std::vector<CostGroup> Groups() {
  return bench::MakeSyntheticKernels({.programs = 1, .kernels = 6});
}

CostModel Model() {
  CostOptions options;
  options.width = 16;
  options.hidden = 16;
  options.layers = 1;
  return {bench::SyntheticSpec(), options, 1};
}

CostLearner::Drawn All(const CostGroup& group) {
  CostLearner::Drawn drawn = {&group, {}};
  for (size_t i = 0; i < group.samples.size(); ++i) drawn.samples.push_back(i);
  return drawn;
}

// The weights after some steps with these groups.
std::string After(const std::vector<CostGroup>& groups, int steps = 2) {
  CostModel model = Model();
  CostLearner learner(model, {});
  learner.FitScales(Groups());
  std::vector<CostLearner::Drawn> all;
  for (const CostGroup& group : groups) all.push_back(All(group));
  for (int i = 0; i < steps; ++i) learner.Update(all, 1e-2);
  return model.Serialize();
}

// The groups with the samples' times of one in reverse order.
std::vector<CostGroup> WithReversed(std::vector<CostGroup> groups, size_t g) {
  std::vector<CostSample>& samples = groups[g].samples;
  for (size_t i = 0; 2 * i + 1 < samples.size(); ++i) {
    std::swap(samples[i].log_time, samples[samples.size() - 1 - i].log_time);
  }
  // Of head "time" there is one.
  if (samples.size() == 1) samples[0].log_time += 1;
  return groups;
}

TEST(CostLearner, LearnsFromEveryGroupByItsWeight) {
  const std::vector<CostGroup> groups = Groups();
  const std::string weights = After(groups);
  EXPECT_EQ(After(groups), weights);
  for (size_t g = 0; g < groups.size(); ++g) {
    EXPECT_NE(After(WithReversed(groups, g)), weights) << g;
    std::vector<CostGroup> without = groups;
    without[g].weight = 0;
    const std::string unweighted = After(without);
    EXPECT_NE(unweighted, weights) << g;
    EXPECT_EQ(After(WithReversed(without, g)), unweighted) << g;
  }
}

// With noise on the features, twin configurations do not look alike.
TEST(CostLearner, AddsNoiseToWhatItLearnsFrom) {
  const auto weights = [](double noise, uint64_t seed) {
    CostModel model = Model();
    CostLearner learner(model, {.seed = seed, .input_noise = noise});
    const std::vector<CostGroup> groups = Groups();
    learner.FitScales(groups);
    // The last layer of a new network hides what is before it.
    for (int i = 0; i < 2; ++i) {
      learner.Update({{All(groups[0]), All(groups[1])}}, 1e-2);
    }
    return model.Serialize();
  };
  EXPECT_EQ(weights(0.1, 1), weights(0.1, 1));
  EXPECT_NE(weights(0.1, 1), weights(0, 1));
  EXPECT_NE(weights(0.1, 1), weights(0.2, 1));
}

TEST(CostLearner, LearnsNothingFromGroupsWithoutWeight) {
  CostModel model = Model();
  CostLearner learner(model, {});
  const std::string before = model.Serialize();
  std::vector<CostGroup> groups = Groups();
  for (CostGroup& group : groups) group.weight = 0;
  EXPECT_EQ(learner.Update({{All(groups[0]), All(groups[1])}}, 1e-2), 0);
  EXPECT_EQ(learner.Update({}, 1e-2), 0);
  EXPECT_EQ(model.Serialize(), before);
}

TEST(CostLearner, ReturnsTheMeanLoss) {
  // A new network predicts the mean of the logarithms of times.
  std::vector<CostGroup> groups;
  for (const CostGroup& group : Groups()) {
    if (group.head == 0) groups.push_back(group);
  }
  double mean = 0, squares = 0, weights = 0;
  for (const CostGroup& group : groups) {
    mean += group.samples[0].log_time / static_cast<double>(groups.size());
  }
  for (size_t g = 0; g < groups.size(); ++g) {
    groups[g].weight = 1 + static_cast<double>(g);
    const double error = groups[g].samples[0].log_time - mean;
    squares += groups[g].weight * error * error;
    weights += groups[g].weight;
  }
  CostModel model = Model();
  CostLearner learner(model, {});
  learner.FitScales(groups);
  std::vector<CostLearner::Drawn> all;
  for (const CostGroup& group : groups) all.push_back(All(group));
  EXPECT_NEAR(learner.Update(all, 1e-2), squares / weights, 1e-4);
}

TEST(CostLearner, TakesUnseenKindsForTheUnknownOne) {
  std::vector<CostGroup> groups = Groups();
  for (CostGroup& group : groups) {
    space::Observation graph = *group.samples[0].graph;
    for (int32_t& kind : graph.node_kinds) kind = kind == 5 ? 2 : kind;
    const auto shared =
        std::make_shared<const space::Observation>(std::move(graph));
    for (CostSample& sample : group.samples) sample.graph = shared;
  }
  CostModel model = Model();
  CostLearner learner(model, {});
  learner.FitScales(groups);
  std::vector<CostLearner::Drawn> all;
  for (const CostGroup& group : groups) all.push_back(All(group));
  for (int i = 0; i < 3; ++i) learner.Update(all, 1e-2);
  learner.Finish(groups, {});
  const CostSample& sample = groups[0].samples[0];
  space::Observation unseen = *sample.graph, unknown = unseen;
  unseen.node_kinds.back() = 5;
  unknown.node_kinds.back() = 0;
  const CostQuery queries[] = {{&unseen, sample.config},
                               {&unknown, sample.config},
                               {sample.graph.get(), sample.config}};
  HONE_ASSERT_OK_AND_ASSIGN(const CostPredictions predictions,
                            model.Predict(0, queries));
  EXPECT_NEAR(predictions.values[0], predictions.values[1], 1e-5);
  EXPECT_GT(std::abs(predictions.values[0] - predictions.values[2]), 1e-4);
}

TEST(CostLearner, ScalesScoresToLogarithmsOfTimes) {
  const std::vector<CostGroup> groups = Groups();
  CostModel model = Model();
  CostLearner learner(model, {});
  learner.FitScales(groups);
  std::vector<CostLearner::Drawn> all;
  for (const CostGroup& group : groups) all.push_back(All(group));
  for (int i = 0; i < 60; ++i) learner.Update(all, 1e-2);
  learner.Finish(groups, {});
  // The least-squares slope of logarithms by scores, within groups.
  double products = 0, squares = 0, errors = 0, expected = 0;
  for (const CostGroup& group : groups) {
    if (group.head != 1) continue;
    std::vector<CostQuery> queries;
    AppendQueries(group, queries);
    HONE_ASSERT_OK_AND_ASSIGN(const CostPredictions predictions,
                              model.Predict(1, queries));
    const auto count = static_cast<double>(queries.size());
    double mean_score = 0, mean_time = 0;
    for (size_t i = 0; i < queries.size(); ++i) {
      mean_score += static_cast<double>(predictions.values[i]) / count;
      mean_time += group.samples[i].log_time / count;
    }
    for (size_t i = 0; i < queries.size(); ++i) {
      const double score =
          static_cast<double>(predictions.values[i]) - mean_score;
      const double time = group.samples[i].log_time - mean_time;
      products += score * time;
      squares += score * score;
      errors += (score - time) * (score - time);
      const auto deviation = static_cast<double>(predictions.deviations[i]);
      expected += deviation * deviation;
    }
  }
  EXPECT_NEAR(products / squares, 1, 0.01);
  // Fitted to the same samples, deviations explain the errors.
  EXPECT_NEAR(expected / errors, 1, 0.05);
}

}  // namespace
}  // namespace hone::learning
