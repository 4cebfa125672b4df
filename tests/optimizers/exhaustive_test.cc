#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <set>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "optimizers/registry.h"
#include "optimizers/search.h"
#include "tests/support/fake_clock.h"
#include "tests/support/status_matchers.h"
#include "tests/support/toy_problems.h"

namespace hone::optimizers {
namespace {

using ::hone::testing::FakeClock;
using ::hone::testing::TableProblem;

// Three variables of 4, 3 and 2 values; their sum is at most `cap`.
TableProblem::Spec Capped(int32_t cap) {
  TableProblem::Spec spec;
  spec.domains = {4, 3, 2};
  spec.default_values = {0, 0, 0};
  spec.cost = [](absl::Span<const int32_t> values) {
    return 10.0 - values[0] - values[1] - values[2];
  };
  spec.propagate = [cap](std::vector<uint64_t>& domains) {
    int32_t least = 0;
    for (const uint64_t left : domains) least += std::countr_zero(left);
    return least <= cap;
  };
  return spec;
}

std::vector<std::vector<int32_t>> Visited(const space::Problem& problem,
                                          SearchResult* result = nullptr) {
  auto optimizer = CreateOptimizer("exhaustive", problem, {});
  HONE_EXPECT_OK(optimizer.status());
  std::vector<std::vector<int32_t>> visited;
  SearchOptions options;
  options.on_trial = [&](const space::Trial& trial) {
    visited.push_back(trial.candidate.choices);
    return absl::OkStatus();
  };
  auto end =
      RunSearch(problem, **optimizer, {.trials = 1000}, FakeClock(), options);
  HONE_EXPECT_OK(end.status());
  if (result != nullptr) *result = *end;
  return visited;
}

TEST(Exhaustive, VisitsWhatSatisfiesTheConstraintsOnce) {
  for (const int32_t cap : {0, 1, 3, 6}) {
    const TableProblem problem(Capped(cap));
    std::set<std::vector<int32_t>> expected;
    for (int32_t a = 0; a < 4; ++a) {
      for (int32_t b = 0; b < 3; ++b) {
        for (int32_t c = 0; c < 2; ++c) {
          if (a + b + c <= cap) expected.insert({a, b, c});
        }
      }
    }
    SearchResult result;
    const auto visited = Visited(problem, &result);
    EXPECT_EQ(visited.size(), expected.size()) << cap;
    EXPECT_EQ(std::set(visited.begin(), visited.end()), expected) << cap;
    EXPECT_EQ(result.end, SearchEnd::kExhausted);
    EXPECT_EQ(result.best->measurement.cost, 10.0 - cap);
  }
}

TEST(Exhaustive, GoesInLexicographicOrder) {
  const TableProblem problem(Capped(6));
  const auto visited = Visited(problem);
  EXPECT_TRUE(std::is_sorted(visited.begin(), visited.end()));
}

TEST(Exhaustive, WithoutVariablesThereIsOneAssignment) {
  TableProblem::Spec spec;
  spec.cost = [](absl::Span<const int32_t>) { return 1.0; };
  const TableProblem problem(std::move(spec));
  EXPECT_THAT(Visited(problem), ::testing::ElementsAre(::testing::IsEmpty()));
}

}  // namespace
}  // namespace hone::optimizers
