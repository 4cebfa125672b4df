#include "bench/cost_model/search_comparison.h"

#include <cmath>
#include <sstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/status_matchers.h"

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
