#include "learning/models/cost_model.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/rng.h"
#include "bench/cost_model/synthetic_kernels.h"
#include "learning/cost_learner.h"
#include "learning/models/model.h"
#include "learning/networks/cost_network.h"
#include "tests/support/status_matchers.h"

namespace hone::learning {
namespace {

using ::hone::bench::SyntheticSpec;
using ::hone::testing::IsOk;
using ::hone::testing::StatusIs;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;

constexpr absl::StatusCode kInvalid = absl::StatusCode::kInvalidArgument;

const std::vector<CostGroup>& Groups() {
  static const auto* const groups = new std::vector<CostGroup>(
      bench::MakeSyntheticKernels({.programs = 2, .kernels = 6}));
  return *groups;
}

std::vector<CostQuery> Queries(absl::Span<const CostGroup> groups) {
  std::vector<CostQuery> queries;
  for (const CostGroup& group : groups) AppendQueries(group, queries);
  return queries;
}

// A model that has learned a little.
std::unique_ptr<CostModel> Learned(
    const CostOptions& options = {.width = 16, .hidden = 16},
    const CostSpec& spec = SyntheticSpec(),
    const std::vector<CostGroup>& groups = Groups()) {
  auto model = std::make_unique<CostModel>(spec, options, 1);
  CostLearner learner(*model, {});
  learner.FitScales(groups);
  std::vector<CostLearner::Drawn> all;
  for (const CostGroup& group : groups) {
    all.push_back({&group, {}});
    for (size_t i = 0; i < group.samples.size(); ++i) {
      all.back().samples.push_back(i);
    }
  }
  for (int i = 0; i < 3; ++i) learner.Update(all, 1e-3);
  learner.Finish(groups, {});
  return model;
}

std::vector<float> Values(const CostModel& model, int32_t head,
                          absl::Span<const CostQuery> queries) {
  const auto predictions = model.Predict(head, queries);
  EXPECT_THAT(predictions, IsOk());
  return predictions->values;
}

TEST(CostModel, PredictsNothingAtFirst) {
  const CostModel model(SyntheticSpec(), {}, 1);
  for (const float x : Values(model, 0, Queries(Groups()))) EXPECT_EQ(x, 0);
}

// Compares with Torch, and single predictions with those among others.
void ExpectSameByTorch(const CostModel& model,
                       const std::vector<CostQuery>& queries) {
  SCOPED_TRACE(PrintCostOptions(model.options()));
  for (const int32_t head : {0, 1}) {
    HONE_ASSERT_OK_AND_ASSIGN(const CostPredictions predicted,
                              model.Predict(head, queries));
    const CostPredictions torch = model.PredictByTorch(head, queries);
    EXPECT_THAT(predicted.values, Pointwise(FloatNear(2e-3F), torch.values));
    EXPECT_THAT(predicted.deviations,
                Pointwise(FloatNear(2e-3F), torch.deviations));
    for (size_t i = 0; i < queries.size(); i += 41) {
      EXPECT_NEAR(Values(model, head, {&queries[i], 1})[0], predicted.values[i],
                  2e-3);
    }
  }
}

TEST(CostModel, PredictsAsTorchDoesInAnyCompany) {
  // Samples of kernels by turns, and a kernel without nodes.
  std::vector<CostQuery> queries = Queries(Groups());
  std::stable_sort(queries.begin(), queries.end(),
                   [](const CostQuery& a, const CostQuery& b) {
                     return a.config[0] < b.config[0];
                   });
  const space::Observation empty = {.global_features = {0.5F}};
  queries.push_back({&empty, queries[0].config});
  for (const char* text :
       {"", "aggregator=mean,reduction=mean", "aggregator=max,layers=1",
        "join=early", "join=early,aggregator=mean,reduction=max+sum,layers=0",
        "encoder=attention", "encoder=sequence",
        "reduction=lstm+transformer"}) {
    HONE_ASSERT_OK_AND_ASSIGN(const CostOptions options,
                              ParseCostOptions(text));
    ExpectSameByTorch(*Learned(options), queries);
  }
}

TEST(CostModel, PredictsAsTorchDoesWithFeaturesOfEdges) {
  CostSpec spec = SyntheticSpec();
  spec.graph.edge_features = 2;
  std::vector<CostGroup> groups = Groups();
  Rng rng(4);
  for (CostGroup& group : groups) {
    space::Observation graph = *group.samples[0].graph;
    for (size_t i = 0; i < 2 * graph.edge_sources.size(); ++i) {
      graph.edge_features.push_back(static_cast<float>(rng.Normal()));
    }
    const auto shared =
        std::make_shared<const space::Observation>(std::move(graph));
    for (CostSample& sample : group.samples) sample.graph = shared;
  }
  for (const char* text :
       {"", "aggregator=mean", "aggregator=max,join=early"}) {
    HONE_ASSERT_OK_AND_ASSIGN(const CostOptions options,
                              ParseCostOptions(text));
    const auto model = Learned(options, spec, groups);
    ExpectSameByTorch(*model, Queries(groups));
    // The features make a difference.
    std::vector<CostGroup> other = {groups[1]};
    space::Observation graph = *other[0].samples[0].graph;
    for (float& x : graph.edge_features) x += 1;
    other[0].samples.resize(1);
    other[0].samples[0].graph =
        std::make_shared<const space::Observation>(std::move(graph));
    EXPECT_GT(std::abs(Values(*model, 1, Queries(other))[0] -
                       Values(*model, 1, Queries({&groups[1], 1}))[0]),
              1e-4);
  }
}

TEST(CostModel, IsWrittenAndReadWithItsArchitecture) {
  for (const CostJoin join : {CostJoin::kEarly, CostJoin::kLate}) {
    const auto model = Learned({.width = 16, .hidden = 32, .join = join});
    const std::string bytes = model->Serialize();
    HONE_ASSERT_OK_AND_ASSIGN(const auto as_saved,
                              CostModel::ParseAsSaved(bytes));
    EXPECT_EQ(as_saved->options(), model->options());
    EXPECT_EQ(as_saved->spec(), model->spec());
    EXPECT_EQ(as_saved->Serialize(), bytes);
    const std::vector<CostQuery> queries = Queries(Groups());
    for (const int32_t head : {0, 1}) {
      HONE_ASSERT_OK_AND_ASSIGN(const CostPredictions before,
                                model->Predict(head, queries));
      HONE_ASSERT_OK_AND_ASSIGN(const CostPredictions after,
                                as_saved->Predict(head, queries));
      EXPECT_EQ(after.values, before.values);
      EXPECT_EQ(after.deviations, before.deviations);
    }
  }
}

// Synthetic kernels under another spec: names in another order, some new.
CostSpec OtherSpec() {
  CostSpec spec = SyntheticSpec();
  spec.graph.node_kinds = 7;
  spec.graph.node_kind_names = {"unknown",  "new",    "add",
                                "multiply", "divide", "exponential",
                                "parameter"};
  spec.graph.node_features = 4;
  spec.graph.node_feature_names = {"is_root", "fresh", "rows", "columns"};
  spec.graph.global_features = 2;
  spec.graph.global_feature_names = {"novelty", "elements"};
  spec.config_names = {"steps", "tile_columns", "unheard_of", "tile_rows"};
  std::swap(spec.heads[0], spec.heads[1]);
  return spec;
}

std::vector<CostGroup> UnderOtherSpec(const std::vector<CostGroup>& groups) {
  std::vector<CostGroup> result = groups;
  for (CostGroup& group : result) {
    group.head = 1 - group.head;
    for (CostSample& sample : group.samples) {
      space::Observation graph = *sample.graph;
      graph.node_features.clear();
      for (size_t i = 0; i < graph.node_kinds.size(); ++i) {
        int32_t& kind = graph.node_kinds[i];
        kind = kind == 1 ? 6 : kind;
        const float* const known = &sample.graph->node_features[3 * i];
        graph.node_features.insert(graph.node_features.end(),
                                   {known[2], 17.F, known[0], known[1]});
      }
      graph.global_features = {23.F, sample.graph->global_features[0]};
      sample.graph =
          std::make_shared<const space::Observation>(std::move(graph));
      const std::vector<float> config = sample.config;
      sample.config = {config[2], config[1], 31.F, config[0]};
    }
  }
  return result;
}

TEST(CostModel, MatchesByName) {
  for (const CostJoin join : {CostJoin::kEarly, CostJoin::kLate}) {
    SCOPED_TRACE(static_cast<int>(join));
    const auto model = Learned({.width = 16, .hidden = 16, .join = join});
    HONE_ASSERT_OK_AND_ASSIGN(
        const auto other, CostModel::Parse(model->Serialize(), OtherSpec()));
    const std::vector<CostGroup> groups = UnderOtherSpec(Groups());
    for (const int32_t head : {0, 1}) {
      EXPECT_THAT(
          Values(*other, 1 - head, Queries(groups)),
          Pointwise(FloatNear(2e-3F), Values(*model, head, Queries(Groups()))));
    }
  }
}

TEST(CostModel, TakesNewKindsForTheUnknownOne) {
  const auto model = Learned();
  HONE_ASSERT_OK_AND_ASSIGN(const auto other,
                            CostModel::Parse(model->Serialize(), OtherSpec()));
  CostSample sample = UnderOtherSpec(Groups())[0].samples[0];
  space::Observation fresh = *sample.graph, unknown = *sample.graph;
  fresh.node_kinds[0] = 1;
  unknown.node_kinds[0] = 0;
  const std::vector<float> predicted =
      Values(*other, 0,
             {{&fresh, sample.config},
              {&unknown, sample.config},
              {sample.graph.get(), sample.config}});
  EXPECT_NEAR(predicted[0], predicted[1], 1e-5);
  EXPECT_GT(std::abs(predicted[0] - predicted[2]), 1e-4);
}

TEST(CostModel, RefusesWeightsForSomethingElse) {
  const std::string bytes = Learned()->Serialize();
  CostSpec spec = SyntheticSpec();
  spec.features = "synthetic 2";
  EXPECT_THAT(
      CostModel::Parse(bytes, spec),
      StatusIs(kInvalid,
               HasSubstr("version 'synthetic 1' of the features, expected "
                         "version 'synthetic 2'")));
  spec = SyntheticSpec();
  spec.heads.push_back({"flags", CostTarget::kOrder});
  EXPECT_THAT(CostModel::Parse(bytes, spec),
              StatusIs(kInvalid, HasSubstr("no head 'flags'")));
  spec = SyntheticSpec();
  spec.heads[1].target = CostTarget::kTime;
  EXPECT_THAT(CostModel::Parse(bytes, spec),
              StatusIs(kInvalid, HasSubstr("head 'tile' predict an order, "
                                           "expected times")));
  spec = SyntheticSpec();
  spec.config_names = {"a", "b", "c"};
  EXPECT_THAT(CostModel::Parse(bytes, spec),
              StatusIs(kInvalid, HasSubstr("features of a configuration")));
  EXPECT_THAT(CostModel::ParseAsSaved("text"),
              StatusIs(kInvalid, HasSubstr("not the weights of a cost model")));
  const GameSpec game = {
      .observation = {.node_kinds = 2},
      .actions = {.kind_names = {"go"}, .feature_names = {}}};
  EXPECT_THAT(CostModel::ParseAsSaved(Model(game, {}, 1).Serialize()),
              StatusIs(kInvalid, HasSubstr("weights of a policy for sequences, "
                                           "expected those of a cost model")));
  EXPECT_THAT(Model::ParseAsSaved(bytes),
              StatusIs(kInvalid, HasSubstr("weights of a cost model, expected "
                                           "one for sequences")));
}

TEST(CostModel, RefusesQueriesThatDoNotFit) {
  const CostModel model(SyntheticSpec(), {}, 1);
  const space::Observation graph = {.node_kinds = {9}};
  const CostQuery query = {&graph, Groups()[0].samples[0].config};
  EXPECT_THAT(model.Predict(0, {&query, 1}),
              StatusIs(kInvalid, HasSubstr("node of kind 9")));
  EXPECT_THAT(model.Predict(2, {}),
              StatusIs(kInvalid, HasSubstr("head 2, expected 0 to 1")));
}

// Weights may be finite and too large.
TEST(CostModel, RefusesToPredictWhatIsNoNumber) {
  for (const char* const architecture :
       {"width=16,hidden=16", "width=16,hidden=16,encoder=sequence"}) {
    const auto model = Learned(*ParseCostOptions(architecture));
    for (torch::Tensor weights : model->network()->parameters()) {
      weights.data().mul_(1e30F);
    }
    model->WeightsChanged();
    EXPECT_THAT(model->Predict(0, Queries(Groups())),
                StatusIs(kInvalid, HasSubstr("expected weights that make")));
  }
}

TEST(CostModel, IsRefinedApartFromItsClone) {
  const auto model = Learned();
  const std::vector<CostQuery> queries = Queries(Groups());
  const std::vector<float> before = Values(*model, 0, queries);
  const auto clone = model->Clone();
  EXPECT_EQ(clone->Serialize(), model->Serialize());
  EXPECT_THAT(clone->Refine(bench::MakeSyntheticKernels({.overhead = 5000})),
              IsOk());
  EXPECT_EQ(Values(*model, 0, queries), before);
  EXPECT_NE(clone->Predict(0, queries)->values, before);
  CostGroup bad = Groups()[0];
  bad.head = 7;
  EXPECT_THAT(clone->Refine({&bad, 1}),
              StatusIs(kInvalid, HasSubstr("head 7")));
}

// A head for an order is not changed for the sake of its scores' distances.
TEST(CostModel, RefiningLeavesAnOrderThatIsRight) {
  const auto model = Learned();
  const int32_t head = 1;
  std::vector<CostGroup> measured;
  for (CostGroup group : bench::MakeSyntheticKernels({.seed = 5})) {
    if (group.head != head) continue;
    const std::vector<float> scores =
        Values(*model, head, Queries({&group, 1}));
    for (size_t i = 0; i < scores.size(); ++i) {
      group.samples[i].log_time = std::exp(static_cast<double>(scores[i]));
    }
    measured.push_back(std::move(group));
  }
  ASSERT_GE(measured.size(), 8);
  const std::string before = model->Serialize();
  ASSERT_THAT(model->Refine(measured), IsOk());
  EXPECT_EQ(model->Serialize(), before);
  // The opposite is learned.
  for (CostGroup& group : measured) {
    for (CostSample& sample : group.samples) {
      sample.log_time = -sample.log_time;
    }
  }
  ASSERT_THAT(model->Refine(measured), IsOk());
  EXPECT_NE(model->Serialize(), before);
}

TEST(CostModel, DeviatesByAFactorWhereItLearnedNothing) {
  const auto model = Learned();
  // It predicts the times of these groups well.
  std::vector<CostGroup> groups = Groups();
  for (CostGroup& group : groups) {
    if (group.head != 0) continue;
    const std::vector<float> times = Values(*model, 0, Queries({&group, 1}));
    for (size_t i = 0; i < times.size(); ++i) {
      group.samples[i].log_time = times[i];
    }
  }
  CostLearner(*model, {}).Finish(groups, groups);
  HONE_ASSERT_OK_AND_ASSIGN(
      const auto read, CostModel::Parse(model->Serialize(), SyntheticSpec()));
  const std::unique_ptr<CostPredictor> clone = read->Clone();
  space::Observation graph = *Groups()[0].samples[0].graph;
  const std::vector<float>& config = Groups()[0].samples[0].config;
  std::vector<float> large = config;
  large[0] *= 100;
  space::Observation strange = graph;
  strange.node_kinds[0] = 0;
  const std::vector<CostQuery> queries = {
      {&graph, config}, {&graph, large}, {&strange, config}};
  HONE_ASSERT_OK_AND_ASSIGN(const CostPredictions known,
                            model->Predict(0, {&queries[0], 1}));
  EXPECT_LT(known.deviations[0], 0.69F);
  for (const CostPredictor* each :
       {static_cast<const CostPredictor*>(model.get()),
        static_cast<const CostPredictor*>(read.get()),
        static_cast<const CostPredictor*>(clone.get())}) {
    HONE_ASSERT_OK_AND_ASSIGN(const CostPredictions predictions,
                              each->Predict(0, queries));
    EXPECT_EQ(predictions.deviations[0], known.deviations[0]);
    EXPECT_GE(predictions.deviations[1], 0.69F);
    EXPECT_GE(predictions.deviations[2], 0.69F);
  }
  // Before it learned.
  HONE_ASSERT_OK_AND_ASSIGN(
      const CostPredictions before,
      CostModel(SyntheticSpec(), {}, 1).Predict(0, queries));
  EXPECT_EQ(before.deviations[2], before.deviations[0]);
}

TEST(CostModel, PredictsOnManyThreadsAtOnce) {
  const auto model = Learned();
  const std::vector<CostQuery> queries = Queries(Groups());
  const std::vector<float> expected = Values(*model, 1, queries);
  std::vector<std::thread> threads;
  std::vector<std::vector<float>> actual(4);
  for (std::vector<float>& values : actual) {
    threads.emplace_back([&] { values = Values(*model, 1, queries); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::vector<float>& values : actual) EXPECT_EQ(values, expected);
}

}  // namespace
}  // namespace hone::learning
