#include "bench/training/data_set.h"

#include <filesystem>
#include <set>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "bench/pass_order_split.h"
#include "graphs/device_graph_json.h"
#include "graphs/fingerprint.h"
#include "tests/graphs/random_device_graph.h"
#include "tests/support/status_matchers.h"
#include "tuning/tasks/placement_problem.h"

namespace hone::bench {
namespace {

using ::hone::testing::StatusIs;
using ::testing::HasSubstr;

using optimizers::policies::TrainingProblem;
using optimizers::policies::TrainingSet;

DataSetOptions Small() {
  DataSetOptions options;
  options.corpus = std::string(HONE_SOURCE_DIR) + "/bench/data/corpus";
  options.partitions = std::string(HONE_SOURCE_DIR) + "/bench/data/partition";
  options.max_instructions = 900;
  options.graphs = 12;
  options.max_nodes = 60;
  return options;
}

class DataSetTest : public ::testing::TestWithParam<DataSet> {};

TEST_P(DataSetTest, HasProblemsOfOneKindAndNoneTwice) {
  HONE_ASSERT_OK_AND_ASSIGN(const TrainingSet set, GetParam().make(Small()));
  ASSERT_FALSE(set.training.empty());
  ASSERT_FALSE(set.validation.empty());
  std::set<std::string> names;
  std::set<std::string> policies;
  for (const auto* problems : {&set.training, &set.validation}) {
    for (const TrainingProblem& problem : *problems) {
      EXPECT_TRUE(names.insert(problem.name).second) << problem.name;
      HONE_ASSERT_OK_AND_ASSIGN(const auto made, problem.make());
      policies.emplace(made->policy_name());
      HONE_ASSERT_OK_AND_ASSIGN(const auto default_cost,
                                made->Measure(made->DefaultCandidate()));
      EXPECT_EQ(default_cost.outcome, space::Outcome::kOk)
          << problem.name << ": " << default_cost.message;
    }
  }
  EXPECT_EQ(policies.size(), 1);
}

TEST_P(DataSetTest, SaysWhatItContains) {
  EXPECT_NE(GetParam().contents, "");
  EXPECT_THAT(std::string(GetParam().contents), HasSubstr("held out"));
}

INSTANTIATE_TEST_SUITE_P(All, DataSetTest,
                         ::testing::ValuesIn(DataSets().begin(),
                                             DataSets().end()),
                         [](const auto& param) {
                           std::string name(param.param.id);
                           std::erase(name, '-');
                           return name;
                         });

TEST(DataSets, UnknownOnesAreAnsweredWithTheList) {
  EXPECT_THAT(DataSets().Find("nope"),
              StatusIs(absl::StatusCode::kNotFound,
                       HasSubstr("unknown data set 'nope', expected one of: "
                                 "go, partition, pass-order, placement")));
}

TEST(PassOrderData, HasNoModuleThatFiguresArePublishedOn) {
  HONE_ASSERT_OK_AND_ASSIGN(const TrainingSet set, MakePassOrderData(Small()));
  for (const TrainingProblem& problem : set.training) {
    EXPECT_EQ(SplitOf(problem.name), Split::kTraining) << problem.name;
  }
  for (const TrainingProblem& problem : set.validation) {
    EXPECT_EQ(SplitOf(problem.name), Split::kValidation) << problem.name;
  }
}

TEST(PassOrderData, NamesWhatLeavesNothing) {
  DataSetOptions options = Small();
  options.max_instructions = 1;
  EXPECT_THAT(MakePassOrderData(options),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("--max-instructions 1: no modules")));
}

TEST(PlacementData, HasNoPublicGraph) {
  HONE_ASSERT_OK_AND_ASSIGN(const TrainingSet set, MakePlacementData(Small()));
  std::set<std::string> generated;
  for (const auto* problems : {&set.training, &set.validation}) {
    for (const TrainingProblem& problem : *problems) {
      HONE_ASSERT_OK_AND_ASSIGN(const auto made, problem.make());
      EXPECT_TRUE(
          generated
              .insert(graphs::Fingerprint(
                  static_cast<const tuning::PlacementProblem&>(*made).graph()))
              .second)
          << problem.name;
    }
  }
  for (const auto& file : std::filesystem::directory_iterator(
           std::string(HONE_SOURCE_DIR) + "/tests/testdata/graphs")) {
    if (file.path().extension() != ".json") continue;
    HONE_ASSERT_OK_AND_ASSIGN(
        const graphs::DeviceGraph graph,
        graphs::ParseDeviceGraph(testing::ReadGraphFile(file.path().filename()),
                                 "graph"));
    EXPECT_FALSE(generated.contains(graphs::Fingerprint(graph)));
  }
}

}  // namespace
}  // namespace hone::bench
