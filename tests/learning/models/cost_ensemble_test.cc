#include "learning/models/cost_ensemble.h"

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "bench/cost_model/synthetic_kernels.h"
#include "learning/cost_learner.h"
#include "learning/models/cost_model.h"
#include "tests/support/status_matchers.h"

namespace hone::learning {
namespace {

using ::hone::bench::SyntheticSpec;
using ::hone::testing::IsOk;
using ::hone::testing::StatusIs;
using ::testing::HasSubstr;

constexpr absl::StatusCode kInvalid = absl::StatusCode::kInvalidArgument;

const std::vector<CostGroup>& Groups() {
  static const auto* const groups = new std::vector<CostGroup>(
      bench::MakeSyntheticKernels({.programs = 2, .kernels = 6}));
  return *groups;
}

std::vector<CostQuery> Queries() {
  std::vector<CostQuery> queries;
  for (const CostGroup& group : Groups()) AppendQueries(group, queries);
  return queries;
}

// A model that has learned a little.
std::unique_ptr<CostModel> Learned(uint64_t seed) {
  auto model = std::make_unique<CostModel>(
      SyntheticSpec(), CostOptions{.width = 16, .hidden = 16}, seed);
  CostLearner learner(*model, {.seed = seed});
  learner.FitScales(Groups());
  std::vector<CostLearner::Drawn> all;
  for (const CostGroup& group : Groups()) {
    all.push_back({&group, {}});
    for (size_t i = 0; i < group.samples.size(); ++i) {
      all.back().samples.push_back(i);
    }
  }
  for (int i = 0; i < 3; ++i) learner.Update(all, 1e-2);
  learner.Finish(Groups(), {});
  return model;
}

CostPredictions Predict(const CostPredictor& model, int32_t head) {
  const auto predictions = model.Predict(head, Queries());
  EXPECT_THAT(predictions, IsOk());
  return *predictions;
}

std::unique_ptr<CostEnsemble> Ensemble(
    const std::vector<const CostModel*>& members) {
  std::vector<std::unique_ptr<CostPredictor>> copies;
  for (const CostModel* member : members) copies.push_back(member->Clone());
  return std::make_unique<CostEnsemble>(std::move(copies));
}

TEST(CostEnsemble, PredictsTheMeanAndWhereMembersDisagree) {
  const auto a = Learned(1), b = Learned(2);
  const auto both = Ensemble({a.get(), b.get()});
  for (const int32_t head : {0, 1}) {
    const CostPredictions of_a = Predict(*a, head), of_b = Predict(*b, head),
                          of_both = Predict(*both, head);
    for (size_t i = 0; i < of_a.values.size(); ++i) {
      EXPECT_NEAR(of_both.values[i], (of_a.values[i] + of_b.values[i]) / 2,
                  1e-4);
      const float half = (of_a.values[i] - of_b.values[i]) / 2;
      const float own = (of_a.deviations[i] * of_a.deviations[i] +
                         of_b.deviations[i] * of_b.deviations[i]) /
                        2;
      EXPECT_NEAR(of_both.deviations[i], std::sqrt(own + half * half), 1e-3);
    }
  }
  EXPECT_THAT(both->Predict(2, {}), StatusIs(kInvalid, HasSubstr("head 2")));
}

TEST(CostEnsemble, OfOneIsThatOne) {
  const auto model = Learned(1);
  const auto alone = Ensemble({model.get()});
  EXPECT_EQ(Predict(*alone, 0).values, Predict(*model, 0).values);
}

TEST(CostEnsemble, IsWrittenAndRead) {
  const auto a = Learned(1), b = Learned(2);
  const auto both = Ensemble({a.get(), b.get()});
  const std::string bytes = both->Serialize();
  const CostSpec spec = SyntheticSpec();
  for (const CostSpec* const wanted :
       std::vector<const CostSpec*>{nullptr, &spec}) {
    HONE_ASSERT_OK_AND_ASSIGN(const auto read,
                              ParseCostPredictor(bytes, wanted));
    EXPECT_EQ(read->spec(), spec);
    EXPECT_EQ(Predict(*read, 1).values, Predict(*both, 1).values);
    EXPECT_EQ(Predict(*read, 1).deviations, Predict(*both, 1).deviations);
    EXPECT_EQ(read->Serialize(), bytes);
  }
  // A single model is read as one.
  HONE_ASSERT_OK_AND_ASSIGN(const auto single,
                            ParseCostPredictor(a->Serialize(), nullptr));
  EXPECT_EQ(Predict(*single, 0).values, Predict(*a, 0).values);
}

TEST(CostEnsemble, OfEnsemblesHasTheirMembers) {
  const auto a = Learned(1), b = Learned(2), c = Learned(3);
  std::vector<std::unique_ptr<CostPredictor>> members;
  members.push_back(Ensemble({a.get(), b.get()}));
  members.push_back(c->Clone());
  const CostEnsemble nested(std::move(members));
  const std::string bytes = nested.Serialize();
  EXPECT_EQ(bytes, Ensemble({a.get(), b.get(), c.get()})->Serialize());
  EXPECT_THAT(ParseCostPredictor(bytes, nullptr), IsOk());
}

TEST(CostEnsemble, RefinesItsMembersApartFromItsClone) {
  const auto a = Learned(1), b = Learned(2);
  const auto both = Ensemble({a.get(), b.get()});
  const auto clone = both->Clone();
  const std::vector<CostGroup> slower =
      bench::MakeSyntheticKernels({.overhead = 5000});
  EXPECT_THAT(clone->Refine(slower), IsOk());
  EXPECT_THAT(a->Refine(slower), IsOk());
  EXPECT_THAT(b->Refine(slower), IsOk());
  EXPECT_EQ(Predict(*clone, 0).values,
            Predict(*Ensemble({a.get(), b.get()}), 0).values);
  EXPECT_NE(Predict(*both, 0).values, Predict(*clone, 0).values);
  CostGroup bad = Groups()[0];
  bad.head = 7;
  EXPECT_THAT(both->Refine({&bad, 1}), StatusIs(kInvalid, HasSubstr("head 7")));
}

TEST(CostEnsemble, RefusesWhatIsNone) {
  const auto model = Learned(1);
  const std::string bytes = Ensemble({model.get(), model.get()})->Serialize();
  CostSpec spec = SyntheticSpec();
  spec.features = "synthetic 2";
  EXPECT_THAT(ParseCostPredictor(bytes, &spec),
              StatusIs(kInvalid, HasSubstr("member 1 of 2: weights are for "
                                           "version 'synthetic 1'")));
  EXPECT_THAT(ParseCostPredictor("text", nullptr),
              StatusIs(kInvalid, HasSubstr("not the weights of a cost model")));
  std::string broken = bytes;
  broken[broken.size() / 2] ^= 1;
  EXPECT_THAT(ParseCostPredictor(broken, nullptr),
              StatusIs(kInvalid, HasSubstr("not the weights of a cost model")));
  // Training goes on from a single model only.
  EXPECT_THAT(CostModel::ParseAsSaved(bytes),
              StatusIs(kInvalid, HasSubstr("not the weights of a cost model")));
}

}  // namespace
}  // namespace hone::learning
