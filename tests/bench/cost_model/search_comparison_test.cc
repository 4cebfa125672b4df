#include "bench/cost_model/search_comparison.h"

#include <cmath>
#include <fstream>
#include <sstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "backends/tpu_sim/tpu_module.h"
#include "base/temporary_directory.h"
#include "bench/cost_model/tile_level.h"
#include "hlo/text/parser.h"
#include "optimizers/registry.h"
#include "tests/support/status_matchers.h"
#include "tuning/tasks/tpu_tile_problem.h"

namespace hone::bench {
namespace {

using ::hone::testing::StatusIs;
using ::testing::HasSubstr;

TEST(SearchComparison, SpreadsAreOfGeometricMeans) {
  // Two cases: 2 and 8 with the first seed, 1 and 1 with the second.
  const Spread spread = SpreadOf({std::log(2) + std::log(8), 0}, 2);
  EXPECT_NEAR(spread.mean, (4 + 1) / 2.0, 1e-12);
  EXPECT_NEAR(spread.least, 1, 1e-12);
  EXPECT_NEAR(spread.most, 4, 1e-12);
}

// Of few tiles, random ones repeat, and some do not fit: neither counts.
TEST(SearchComparison, OnlyNewTilesThatFitAreMeasurements) {
  const hlo::Module module = *hlo::ParseHloText(R"(HloModule m

ENTRY e {
  a = f32[2048,4096] parameter(0)
  b = f32[2048,4096] parameter(1)
  ROOT s = f32[2048,4096] add(a, b)
})");
  const backends::Tpu tpu = *backends::FindTpu("v4");
  const backends::TpuModule prepared = *backends::PrepareForTpu(module, tpu);
  ASSERT_EQ(prepared.kernels.size(), 1);
  const auto problem = tuning::MakeTpuTileProblem(prepared.kernels[0], tpu,
                                                  /*with_flags=*/false);
  HONE_ASSERT_OK_AND_ASSIGN(
      const auto random, optimizers::CreateOptimizer("random", *problem, {}));
  HONE_ASSERT_OK_AND_ASSIGN(const Found found,
                            FindWithin(*problem, *random, 2'000));
  HONE_ASSERT_OK_AND_ASSIGN(
      const auto exhaustive,
      optimizers::CreateOptimizer("exhaustive", *problem, {}));
  HONE_ASSERT_OK_AND_ASSIGN(const Found all,
                            FindWithin(*problem, *exhaustive, 10'000));
  EXPECT_EQ(found.least_ns.size(), all.least_ns.size());
  EXPECT_LT(all.least_ns.size(), 10'000);
  EXPECT_EQ(found.least_ns.back(), all.least_ns.back());
  HONE_ASSERT_OK_AND_ASSIGN(const double best, BestTileNs(*problem));
  EXPECT_EQ(all.least_ns.back(), best);
  EXPECT_EQ(problem->Measure(found.best)->cost, best);
}

// A figure of programs that were never trained on is of no others.
TEST(SearchComparison, OnlyHeldOutProgramsAreTuned) {
  const TemporaryDirectory folder;
  const std::string split = folder.path() + "/split.json";
  std::ofstream(split) << R"({"random": {"validation": [], "test": ["mlp"]}})";
  SearchComparisonOptions options;
  options.budgets = {8};
  options.split = split;
  options.corpus = std::string(HONE_SOURCE_DIR) + "/bench/data/corpus";
  options.partitions = std::string(HONE_SOURCE_DIR) + "/bench/data/partition";
  options.only = "^(mlp|gpt2_tiny)[.]fwd$";
  HONE_ASSERT_OK_AND_ASSIGN(const TunedPrograms tuned,
                            ReadTunedPrograms(options));
  ASSERT_EQ(tuned.programs.size(), 1);
  EXPECT_EQ(tuned.programs[0].name, "mlp.fwd");
}

TEST(SearchComparison, RowsBeginWithNoCases) {
  const SearchRow row = MakeSearchRow("beam", 3, 2);
  EXPECT_EQ(row.optimizer, "beam");
  EXPECT_EQ(row.sums, std::vector<LogSums>(3, LogSums{0, 0}));
}

TEST(SearchComparison, HeadsAndRowsHaveEqualColumns) {
  std::ostringstream out;
  PrintSearchHead("search", {8, 16}, {"near"}, out);
  EXPECT_EQ(out.str(),
            "| search | 8 | spread | 16 | spread | near |\n"
            "|---|---|---|---|---|---|\n");
  EXPECT_EQ(SpreadCells({.mean = 0.5, .least = 0.25, .most = 1}),
            " 0.5000 | 0.2500 to 1.0000 |");
}

TEST(SearchComparison, BudgetsAscend) {
  SearchComparisonOptions options;
  for (const auto& budgets :
       {std::vector<int64_t>{}, std::vector<int64_t>{8, 4}}) {
    options.budgets = budgets;
    EXPECT_THAT(ReadTunedPrograms(options).status(),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("--budgets: not ascending")));
  }
  options.tpu = "v0";
  EXPECT_THAT(ReadTunedPrograms(options).status(),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("v0")));
}

}  // namespace
}  // namespace hone::bench
