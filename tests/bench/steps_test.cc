#include "bench/placement/steps.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/temporary_directory.h"
#include "tests/support/status_matchers.h"

namespace hone::bench {
namespace {

using ::hone::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kModels =
    std::string(HONE_SOURCE_DIR) + "/bench/data/placement";

StepTableOptions SmallOptions() {
  StepTableOptions options;
  options.models = kModels;
  options.only = "^txl_2l$";
  options.searches = {"annealing", "uniform"};
  options.seeds = 1;
  options.simulations = 20;
  return options;
}

TEST(StepTable, ComparesSearchesWithKnownMethods) {
  std::ostringstream out;
  StepTableOptions options = SmallOptions();
  options.seeds = 2;
  HONE_ASSERT_OK_AND_ASSIGN(const auto document, MeasureSteps(options, out));
  EXPECT_EQ(document.at("simulations"), 20);
  EXPECT_EQ(document.at("seeds"), 2);
  EXPECT_EQ(document.at("worse_than_a_known_method"), 0);
  ASSERT_EQ(document.at("rows").size(), 1u);
  const auto& row = document.at("rows").at(0);
  EXPECT_EQ(row.at("model"), "txl_2l");
  EXPECT_EQ(row.at("devices"), 2);
  EXPECT_GT(row.at("units"), 100);
  const double bound = row.at("bound_ms").get<double>();
  EXPECT_GT(bound, 0);
  double best_known = std::numeric_limits<double>::infinity();
  for (const auto& [method, cost] : row.at("known").items()) {
    if (cost.is_null()) continue;
    EXPECT_GE(cost.get<double>(), bound) << method;
    best_known = std::min(best_known, cost.get<double>());
  }
  ASSERT_EQ(row.at("searches").size(), 2u);
  for (const auto& [search, of] : row.at("searches").items()) {
    SCOPED_TRACE(search);
    ASSERT_EQ(of.at("costs_ms").size(), 2u);
    double sum = 0;
    for (const auto& cost : of.at("costs_ms")) {
      EXPECT_GE(cost.get<double>(), bound);
      EXPECT_LE(cost.get<double>(), best_known);
      sum += cost.get<double>();
    }
    EXPECT_NEAR(of.at("mean_ms").get<double>(), sum / 2, 1e-9);

    const auto& ratios = document.at("ratios").at(search);
    EXPECT_NEAR(ratios.at("bound").get<double>(), sum / 2 / bound, 1e-9);
    EXPECT_NEAR(ratios.at("best known").get<double>(), sum / 2 / best_known,
                1e-9);
    EXPECT_NEAR(
        ratios.at("uniform").get<double>(),
        of.at("mean_ms").get<double>() /
            row.at("searches").at("uniform").at("mean_ms").get<double>(),
        1e-9);
    // Searches that are not there have no ratio.
    EXPECT_FALSE(ratios.contains("hdp"));

    std::vector<std::string> simulations;
    double last = 1 + 1e-9;
    for (const auto& [made, share] : document.at("curves").at(search).items()) {
      simulations.push_back(made);
      EXPECT_LE(share.get<double>(), last) << made;
      last = share.get<double>();
    }
    EXPECT_THAT(simulations, ElementsAre("1", "10", "20"));
    // The geometric mean of two.
    EXPECT_LE(last, ratios.at("best known").get<double>() + 1e-9);
  }
  EXPECT_THAT(out.str(), HasSubstr("txl_2l on 2 devices"));
}

TEST(StepTable, ComparesAllDecisionsAtOnceWithOneAfterTheOther) {
  std::ostringstream out;
  StepTableOptions options = SmallOptions();
  options.decisions = {.devices = true, .priorities = true, .fusion = true};
  options.in_turn = true;
  options.searches = {"annealing"};
  HONE_ASSERT_OK_AND_ASSIGN(const auto document, MeasureSteps(options, out));
  const auto& searches = document.at("rows").at(0).at("searches");
  ASSERT_EQ(searches.size(), 3u);
  const double joint = searches.at("annealing").at("mean_ms").get<double>();
  for (const char* name :
       {"annealing, fusion last", "annealing, fusion first"}) {
    SCOPED_TRACE(name);
    EXPECT_NEAR(document.at("ratios").at("annealing").at(name).get<double>(),
                joint / searches.at(name).at("mean_ms").get<double>(), 1e-9);
    EXPECT_TRUE(document.at("curves").contains(name));
  }
  const double usual =
      document.at("rows").at(0).at("known").at("default").get<double>();
  EXPECT_NEAR(document.at("gain_over_default").at("annealing").get<double>(),
              usual / joint - 1, 1e-9);
}

TEST(StepTable, ReadsAnyFolderAndIsDeterministic) {
  const TemporaryDirectory folder;
  std::filesystem::copy(kModels + "/txl_2l.hlo.zst",
                        folder.path() + "/mine.hlo.zst");
  std::ofstream(folder.path() + "/manifest.json")
      << R"([{"name": "mine", "devices": 4}, {"name": "gone", "devices": 2}])";
  StepTableOptions options = SmallOptions();
  options.models = folder.path();
  options.only = "mine";
  options.searches = {"annealing"};
  std::ostringstream out;
  const auto costs = [&] {
    const auto document = MeasureSteps(options, out);
    HONE_EXPECT_OK(document);
    const auto& row = document->at("rows").at(0);
    EXPECT_EQ(row.at("devices"), 4);
    return row.at("searches").at("annealing").at("costs_ms").dump();
  };
  EXPECT_EQ(costs(), costs());
  options.only = "gone";
  EXPECT_THAT(MeasureSteps(options, out),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("gone")));
}

TEST(StepTable, BadFoldersAreRefused) {
  std::ostringstream out;
  StepTableOptions options = SmallOptions();
  options.models = "/no/such";
  EXPECT_THAT(MeasureSteps(options, out),
              StatusIs(absl::StatusCode::kNotFound,
                       HasSubstr("/no/such/manifest.json")));
  const TemporaryDirectory folder;
  options.models = folder.path();
  options.only = "";
  for (const char* manifest :
       {"", "[", "{}", "3", "[3]", R"([{"name": "a"}])", R"([{"devices": 2}])",
        R"([{"name": 3, "devices": 2}])", R"([{"name": "a", "devices": 2.5}])",
        R"([{"name": "a", "devices": 2}, null])"}) {
    SCOPED_TRACE(manifest);
    std::ofstream(folder.path() + "/manifest.json") << manifest;
    EXPECT_THAT(MeasureSteps(options, out),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("expected a list of")));
  }
  // Without models there is nothing to compare.
  std::ofstream(folder.path() + "/manifest.json") << "[]";
  EXPECT_THAT(MeasureSteps(options, out),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("matches none of the models")));
}

TEST(StepTable, BadOptionsAreRefused) {
  std::ostringstream out;
  StepTableOptions options = SmallOptions();
  options.only = "(";
  EXPECT_THAT(MeasureSteps(options, out),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("--models-only '('")));
  options.only = "no_such_model";
  EXPECT_THAT(
      MeasureSteps(options, out),
      StatusIs(absl::StatusCode::kInvalidArgument,
               HasSubstr("--models-only 'no_such_model' matches none")));
  options = SmallOptions();
  options.searches = {"no_such_search"};
  EXPECT_THAT(
      MeasureSteps(options, out),
      StatusIs(absl::StatusCode::kNotFound, HasSubstr("no_such_search")));
  options = SmallOptions();
  options.searches = {"policy"};
  options.weights = "/no/such/weights";
  EXPECT_THAT(
      MeasureSteps(options, out),
      StatusIs(absl::StatusCode::kNotFound, HasSubstr("/no/such/weights")));
}

}  // namespace
}  // namespace hone::bench
