#include "tuning/resumed_log.h"

#include <algorithm>
#include <vector>

#include "gtest/gtest.h"

namespace hone::tuning {
namespace {

// 100 trials of 10 choices; the cheapest are in the middle.
std::vector<space::Trial> Collect(int64_t max_choices) {
  ResumedLog log(max_choices);
  for (int64_t id = 0; id < 100; ++id) {
    space::Trial trial;
    trial.id = id;
    trial.candidate.choices.assign(10, static_cast<int32_t>(id));
    trial.measurement.cost = static_cast<double>(std::abs(id - 50));
    log.Add(std::move(trial));
  }
  return log.Take();
}

TEST(ResumedLog, KeepsAllWithinTheBound) {
  const std::vector<space::Trial> trials = Collect(1000);
  ASSERT_EQ(trials.size(), 100u);
  for (size_t i = 0; i < trials.size(); ++i) {
    EXPECT_EQ(trials[i].id, static_cast<int64_t>(i));
  }
}

TEST(ResumedLog, KeepsTheFirstTheLastAndTheBestBeyondIt) {
  const std::vector<space::Trial> trials = Collect(200);
  EXPECT_LE(trials.size(), 20u);
  EXPECT_GE(trials.size(), 10u);
  EXPECT_EQ(trials.front().id, 0);
  EXPECT_EQ(trials.back().id, 99);
  EXPECT_TRUE(std::is_sorted(trials.begin(), trials.end(),
                             [](const space::Trial& a, const space::Trial& b) {
                               return a.id < b.id;
                             }));
  for (const int64_t best : {49, 50, 51}) {
    EXPECT_TRUE(std::any_of(
        trials.begin(), trials.end(),
        [&](const space::Trial& trial) { return trial.id == best; }))
        << best;
  }
  for (const space::Trial& trial : trials) {
    EXPECT_EQ(trial.candidate.choices,
              std::vector<int32_t>(10, static_cast<int32_t>(trial.id)));
  }
}

TEST(ResumedLog, KeepsTheFirstAndTheLastWhateverTheirSize) {
  const std::vector<space::Trial> trials = Collect(1);
  ASSERT_EQ(trials.size(), 2u);
  EXPECT_EQ(trials[0].id, 0);
  EXPECT_EQ(trials[1].id, 99);
}

}  // namespace
}  // namespace hone::tuning
