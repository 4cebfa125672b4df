#include "optimizers/search.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "optimizers/registry.h"
#include "tests/support/fake_clock.h"
#include "tests/support/status_matchers.h"
#include "tests/support/toy_problems.h"

namespace hone::optimizers {
namespace {

using ::hone::testing::FakeClock;
using ::hone::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Proposes a fixed list.
class Listed final : public Optimizer {
 public:
  explicit Listed(std::vector<space::Candidate> list)
      : list_(std::move(list)) {}
  absl::string_view name() const override { return "listed"; }
  std::vector<space::Candidate> Suggest(int32_t n) const override {
    std::vector<space::Candidate> batch;
    for (size_t i = next_;
         i < list_.size() && batch.size() < static_cast<size_t>(n); ++i) {
      batch.push_back(list_[i]);
    }
    return batch;
  }
  void Observe(const space::Trial&) override { ++next_; }
  // Goes on with the list.
  void Adopt(absl::Span<const space::Trial> log) override {
    adopted_ = log.size();
  }
  bool replays() const override { return replays_; }

  size_t adopted() const { return adopted_; }
  void set_replays(bool replays) { replays_ = replays; }

 private:
  std::vector<space::Candidate> list_;
  size_t next_ = 0;
  size_t adopted_ = 0;
  bool replays_ = true;
};

// Counts down from 10 by one or by two; cost is what is left, and not a number
// at 7.
std::unique_ptr<space::Problem> CountDown() {
  testing::IntegerProblem::Spec spec;
  spec.initial = 10;
  spec.actions = {{"one", [](int64_t n) { return n - 1; }},
                  {"two", [](int64_t n) { return n - 2; }}};
  spec.cost = [](int64_t n) {
    return n == 7 ? std::numeric_limits<double>::quiet_NaN()
                  : static_cast<double>(n);
  };
  spec.max_steps = 4;
  return std::make_unique<testing::IntegerProblem>(std::move(spec));
}

TEST(RunSearch, KeepsTheBestAndOfEqualOnesTheShortest) {
  const auto problem = CountDown();
  const std::vector<space::Candidate> list = {
      {}, {{0, 0}}, {{1}}, {{0, 1}}, {{9}}};
  Listed optimizer(list);
  HONE_ASSERT_OK_AND_ASSIGN(
      const SearchResult result,
      RunSearch(*problem, optimizer, {.trials = 100}, FakeClock()));
  EXPECT_EQ(result.end, SearchEnd::kExhausted);
  EXPECT_EQ(result.trials, 6);  // The clean-up tried none.
  ASSERT_TRUE(result.baseline && result.best);
  EXPECT_EQ(result.baseline->measurement.cost, 10);
  EXPECT_EQ(result.best->id, 2);
  EXPECT_EQ(result.best->measurement.cost, 8);
}

TEST(RunSearch, HasNoBestWhenNothingIsValid) {
  const auto problem = CountDown();
  const std::vector<space::Candidate> list = {{{9}}, {{0, 0, 0, 0, 0}}};
  Listed optimizer(list);
  HONE_ASSERT_OK_AND_ASSIGN(
      const SearchResult result,
      RunSearch(*problem, optimizer, {.trials = 100}, FakeClock()));
  EXPECT_FALSE(result.best);
  EXPECT_EQ(result.baseline->measurement.outcome, space::Outcome::kInvalid);
}

TEST(RunSearch, StopsExactlyAtTheTimeBudget) {
  const auto problem = testing::NumberRewriting();
  HONE_ASSERT_OK_AND_ASSIGN(auto optimizer,
                            CreateOptimizer("random", *problem, {}));
  FakeClock clock;
  SearchOptions options;
  options.on_trial = [&](const space::Trial&) {
    clock.Advance(absl::Seconds(1));
    return absl::OkStatus();
  };
  HONE_ASSERT_OK_AND_ASSIGN(
      const SearchResult result,
      RunSearch(*problem, *optimizer,
                {.trials = 1000, .time = absl::Seconds(30)}, clock, options));
  EXPECT_EQ(result.end, SearchEnd::kTime);
  EXPECT_EQ(result.trials, 30);
  EXPECT_EQ(result.elapsed, absl::Seconds(30));
}

TEST(RunSearch, StopsExactlyAtTheTrialBudgetWithinABatch) {
  const auto problem = testing::NumberRewriting();
  HONE_ASSERT_OK_AND_ASSIGN(auto optimizer,
                            CreateOptimizer("random", *problem, {}));
  HONE_ASSERT_OK_AND_ASSIGN(
      const SearchResult result,
      RunSearch(*problem, *optimizer, {.trials = 21}, FakeClock()));
  EXPECT_EQ(result.end, SearchEnd::kTrials);
  EXPECT_EQ(result.trials, 21);
}

TEST(RunSearch, MeasuresNothingWithoutABudget) {
  const auto problem = testing::NumberRewriting();
  HONE_ASSERT_OK_AND_ASSIGN(auto optimizer,
                            CreateOptimizer("random", *problem, {}));
  HONE_ASSERT_OK_AND_ASSIGN(
      const SearchResult result,
      RunSearch(*problem, *optimizer,
                {.trials = 10, .time = absl::ZeroDuration()}, FakeClock()));
  EXPECT_EQ(result.trials, 0);
  EXPECT_FALSE(result.baseline);
}

TEST(RunSearch, StopsWhenToldTo) {
  const auto problem = testing::NumberRewriting();
  HONE_ASSERT_OK_AND_ASSIGN(auto optimizer,
                            CreateOptimizer("beam", *problem, {}));
  int trials = 0;
  SearchOptions options;
  options.on_trial = [&](const space::Trial&) {
    ++trials;
    return absl::OkStatus();
  };
  options.stop = [&] { return trials == 12; };
  HONE_ASSERT_OK_AND_ASSIGN(
      const SearchResult result,
      RunSearch(*problem, *optimizer, {.trials = 1000}, FakeClock(), options));
  EXPECT_EQ(result.end, SearchEnd::kStopped);
  EXPECT_EQ(result.trials, 12);
}

TEST(RunSearch, EndsWithTheCallersError) {
  const auto problem = testing::NumberRewriting();
  HONE_ASSERT_OK_AND_ASSIGN(auto optimizer,
                            CreateOptimizer("beam", *problem, {}));
  SearchOptions options;
  options.on_trial = [](const space::Trial& trial) {
    return trial.id < 3 ? absl::OkStatus()
                        : absl::ResourceExhaustedError("disk full");
  };
  EXPECT_THAT(
      RunSearch(*problem, *optimizer, {.trials = 100}, FakeClock(), options),
      StatusIs(absl::StatusCode::kResourceExhausted, "disk full"));
}

TEST(RunSearch, CountsResumedTrials) {
  const auto problem = CountDown();
  const std::vector<space::Candidate> list = {{}, {{1}}, {{0}}, {{1, 1}}};
  std::vector<space::Trial> log;
  for (int64_t id = 0; id < 2; ++id) {
    const space::Candidate& candidate = list[static_cast<size_t>(id)];
    log.push_back({id, candidate, *problem->Measure(candidate)});
  }
  Listed optimizer(list);
  std::vector<int64_t> new_ids;
  SearchOptions options;
  options.resume = log;
  options.on_trial = [&](const space::Trial& trial) {
    new_ids.push_back(trial.id);
    return absl::OkStatus();
  };
  HONE_ASSERT_OK_AND_ASSIGN(
      const SearchResult result,
      RunSearch(*problem, optimizer, {.trials = 3}, FakeClock(), options));
  EXPECT_THAT(new_ids, ::testing::ElementsAre(2));
  EXPECT_EQ(result.trials, 3);
  EXPECT_EQ(result.best->id, 1);
  EXPECT_EQ(result.baseline->id, 0);
}

// Two and one again is the best; the search finds it in a roundabout way.
TEST(RunSearch, CleansTheBestUpWithinTheBudget) {
  const auto problem = CountDown();
  const std::vector<space::Candidate> list = {{}, {{0, 0, 1}}, {{1, 1, 1}}};
  std::vector<space::Trial> log;
  SearchOptions options;
  options.on_trial = [&](const space::Trial& trial) {
    log.push_back(trial);
    return absl::OkStatus();
  };
  Listed optimizer(list);
  HONE_ASSERT_OK_AND_ASSIGN(
      const SearchResult result,
      RunSearch(*problem, optimizer, {.trials = 5}, FakeClock(), options));
  EXPECT_EQ(result.trials, 5);
  EXPECT_EQ(result.best->measurement.cost, 4);
  // The list is at its end after three; each of the rest leaves out one.
  EXPECT_EQ(log[3].candidate, (space::Candidate{{1, 1}}));
  EXPECT_EQ(log[4].candidate, (space::Candidate{{1, 1}}));

  // Resumed at any place, the rest is the same.
  for (size_t cut = 0; cut <= log.size(); ++cut) {
    const std::vector<space::Trial> known(log.begin(),
                                          log.begin() + static_cast<long>(cut));
    std::vector<space::Trial> rest = known;
    SearchOptions resume;
    resume.resume = known;
    resume.on_trial = [&](const space::Trial& trial) {
      rest.push_back(trial);
      return absl::OkStatus();
    };
    Listed again(list);
    HONE_ASSERT_OK(
        RunSearch(*problem, again, {.trials = 5}, FakeClock(), resume)
            .status());
    ASSERT_EQ(rest.size(), log.size()) << cut;
    for (size_t i = 0; i < log.size(); ++i) {
      EXPECT_EQ(rest[i].candidate, log[i].candidate) << cut;
    }
  }
}

TEST(RunSearch, KeepsATenthOfTheBudgetForTheCleanUp) {
  const auto problem = testing::NumberRewriting();
  HONE_ASSERT_OK_AND_ASSIGN(auto optimizer,
                            CreateOptimizer("random", *problem, {}));
  std::vector<space::Trial> log;
  SearchOptions options;
  options.on_trial = [&](const space::Trial& trial) {
    log.push_back(trial);
    return absl::OkStatus();
  };
  HONE_ASSERT_OK_AND_ASSIGN(
      const SearchResult result,
      RunSearch(*problem, *optimizer, {.trials = 200}, FakeClock(), options));
  EXPECT_EQ(result.trials, 200);
  size_t best = 0;
  for (size_t i = 1; i < 180; ++i) {
    if (space::EffectiveCost(log[i].measurement) <
        space::EffectiveCost(log[best].measurement)) {
      best = i;
    }
  }
  // A part of the best of the search.
  EXPECT_LE(log[180].candidate.choices.size(),
            log[best].candidate.choices.size());
  EXPECT_LE(result.best->candidate.choices.size(),
            log[best].candidate.choices.size());
}

TEST(RunSearch, GoesOnFromTheLogOfAnotherSearch) {
  const auto problem = CountDown();
  SearchOptions options;
  space::Measurement measured;
  measured.cost = 3;
  const std::vector<space::Trial> foreign = {{0, {}, *problem->Measure({})},
                                             {1, {{1, 1, 1, 0}}, measured}};
  options.resume = foreign;
  std::vector<int64_t> ids;
  options.on_trial = [&](const space::Trial& trial) {
    ids.push_back(trial.id);
    return absl::OkStatus();
  };
  Listed optimizer({space::Candidate{}, space::Candidate{{0}},
                    space::Candidate{{0, 0}}, space::Candidate{{0, 1}}});
  HONE_ASSERT_OK_AND_ASSIGN(
      const SearchResult result,
      RunSearch(*problem, optimizer, {.trials = 4}, FakeClock(), options));
  EXPECT_EQ(optimizer.adopted(), 2u);
  EXPECT_THAT(ids, ElementsAre(2, 3));
  EXPECT_EQ(result.trials, 4);
  EXPECT_EQ(result.baseline->id, 0);
  EXPECT_EQ(result.best->id, 1);
}

TEST(RunSearch, DoesNotRepeatASearchThatIsCheaperToAdopt) {
  const auto problem = CountDown();
  SearchOptions options;
  const std::vector<space::Trial> log = {{0, {}, *problem->Measure({})}};
  options.resume = log;
  Listed optimizer({space::Candidate{}});
  optimizer.set_replays(false);
  HONE_ASSERT_OK(
      RunSearch(*problem, optimizer, {.trials = 1}, FakeClock(), options));
  EXPECT_EQ(optimizer.adopted(), 1u);
  // Nothing was observed.
  EXPECT_EQ(optimizer.Suggest(1).size(), 1u);
}

TEST(RunSearch, RejectsALogWithAGap) {
  const auto problem = CountDown();
  SearchOptions options;
  const std::vector<space::Trial> gap = {{1, {{}}, {}}};
  options.resume = gap;
  Listed optimizer({space::Candidate{}});
  EXPECT_THAT(
      RunSearch(*problem, optimizer, {.trials = 3}, FakeClock(), options),
      StatusIs(absl::StatusCode::kInvalidArgument,
               HasSubstr("expected trial 0")));
}

TEST(RunSearch, PrefersASmallViolationToALargeOneButNeverPublishesIt) {
  const auto problem = testing::CappedSum();
  Listed optimizer({space::Candidate{std::vector<int32_t>(8, 3)},
                    space::Candidate{std::vector<int32_t>(8, 1)},
                    space::Candidate{std::vector<int32_t>(8, 2)}});
  HONE_ASSERT_OK_AND_ASSIGN(
      const SearchResult result,
      RunSearch(*problem, optimizer, {.trials = 3}, FakeClock()));
  EXPECT_EQ(result.best->id, 1);
  const space::Measurement worst =
      *problem->Measure({std::vector<int32_t>(8, 3)});
  const space::Measurement bad =
      *problem->Measure({std::vector<int32_t>(8, 2)});
  EXPECT_EQ(worst.outcome, space::Outcome::kInvalid);
  EXPECT_LT(worst.cost, bad.cost);
  EXPECT_LT(space::RankOf(bad), space::RankOf(worst));
  EXPECT_LT(space::RankOf(result.best->measurement), space::RankOf(bad));
}

}  // namespace
}  // namespace hone::optimizers
