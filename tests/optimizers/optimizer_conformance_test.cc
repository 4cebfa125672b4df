// The conformance of every registered optimizer, on small problems whose
// optimum is known. A new optimizer is covered by its line in optimizers.def;
// CapabilitiesOf declares what it must find beyond that.

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <tuple>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "optimizers/registry.h"
#include "optimizers/search.h"
#include "tests/support/fake_clock.h"
#include "tests/support/locks.h"
#include "tests/support/status_matchers.h"
#include "tests/support/toy_problems.h"

namespace hone::optimizers {

// For the names of the test cases.
static void PrintTo(const OptimizerInfo& info, std::ostream* out) {
  *out << info.id;
}

namespace {

using ::hone::testing::FakeClock;
using ::hone::testing::OptimalCost;

struct ToyProblem {
  std::string name;
  std::unique_ptr<space::Problem> (*make)();
  // The least cost, where it takes too long to find.
  std::optional<double> optimum = std::nullopt;
};

void PrintTo(const ToyProblem& problem, std::ostream* out) {
  *out << problem.name;
}

const ToyProblem kToyProblems[] = {
    {"NumberRewriting", testing::NumberRewriting},
    {"DelayedReward", testing::DelayedReward},
    {"CappedSum", testing::CappedSum},
    {"GraphPartition", testing::GraphPartition},
    {"InfiniteCosts", testing::InfiniteCosts},
    {"InfiniteAssignments", testing::InfiniteAssignments},
    {"ExpensiveCosts", testing::ExpensiveCosts},
    {"NoisyCosts", testing::NoisyCosts},
    {"NoisyAssignments", testing::NoisyAssignments},
    {"ChangingLegality", testing::ChangingLegality},
    {"IllegalDefault", testing::IllegalDefault},
    {"InfeasibleDefault", testing::InfeasibleDefault},
    {"TightOrder", testing::TightOrder},
    // No assignment has fewer than 39 neighbors that disagree without losing
    // more.
    {"ManyVariables", testing::ManyVariables, 40},
    {"CombinationLock", testing::CombinationLock},
    {"SequenceLock", testing::SequenceLock},
    {"LoadBalance", [] { return testing::LoadBalance(7, 3); }},
    {"ThreeLocks", testing::ThreeLocks, testing::kThreeLocksOptimum},
};

// The toy problems an optimizer solves to optimality within kTrials, whatever
// the seed. One that works on assignments declares some of them at least.
struct Capabilities {
  std::vector<std::string> solves;
  // Problems on which it provably stops short of the optimum.
  std::vector<std::string> misses;
};

Capabilities CapabilitiesOf(absl::string_view id) {
  if (id == "annealing") {
    return {{"CappedSum", "GraphPartition", "InfiniteCosts",
             "InfiniteAssignments", "ExpensiveCosts", "InfeasibleDefault",
             "CombinationLock", "LoadBalance"},
            {}};
  }
  if (id == "beam") {
    return {{"NumberRewriting", "DelayedReward", "CappedSum", "GraphPartition",
             "InfiniteCosts", "ExpensiveCosts", "ChangingLegality",
             "IllegalDefault", "InfeasibleDefault", "TightOrder",
             "CombinationLock", "SequenceLock", "LoadBalance"},
            {}};
  }
  if (id == "default") {
    return {{},
            {"NumberRewriting", "DelayedReward", "CappedSum", "GraphPartition",
             "TightOrder", "CombinationLock", "SequenceLock"}};
  }
  if (id == "dqn") {
    return {{"DelayedReward", "ChangingLegality", "IllegalDefault"}, {}};
  }
  if (id == "exhaustive") {
    return {{"LoadBalance"}, {}};
  }
  if (id == "finetune" || id == "ppo") {
    return {{"DelayedReward", "GraphPartition", "ChangingLegality",
             "IllegalDefault", "CombinationLock", "LoadBalance"},
            {}};
  }
  if (id == "genetic") {
    return {{"InfiniteAssignments", "InfeasibleDefault", "CombinationLock",
             "LoadBalance"},
            {}};
  }
  if (id == "greedy") {
    return {{"ExpensiveCosts", "ChangingLegality", "IllegalDefault",
             "CombinationLock", "SequenceLock", "LoadBalance"},
            {"DelayedReward", "TightOrder"}};
  }
  // Nothing that one game does not come upon, and without weights nothing of
  // assignments.
  if (id == "zero_shot") {
    return {{}, {"GraphPartition", "CombinationLock", "SequenceLock"}};
  }
  if (id == "guided") {
    return {{"DelayedReward", "ExpensiveCosts", "ChangingLegality",
             "IllegalDefault", "CombinationLock", "LoadBalance"},
            {}};
  }
  if (id == "hdp") {
    return {{"LoadBalance"}, {}};
  }
  if (id == "parts") return {{"ThreeLocks"}, {}};
  if (id == "policy") {
    return {{"DelayedReward", "ChangingLegality", "IllegalDefault",
             "InfiniteAssignments", "InfeasibleDefault", "CombinationLock",
             "LoadBalance"},
            {}};
  }
  if (id == "random") {
    // What the locks are there for: sampling alone does not open them.
    return {{"DelayedReward", "ChangingLegality", "LoadBalance"},
            {"TightOrder", "CombinationLock", "SequenceLock"}};
  }
  // The model errs by less than what tells the best from others.
  if (id == "xtat") {
    return {{"NumberRewriting", "DelayedReward", "GraphPartition",
             "ExpensiveCosts", "ChangingLegality", "IllegalDefault",
             "InfeasibleDefault", "CombinationLock", "LoadBalance"},
            {}};
  }
  return {};
}

Kinds KindsOf(const space::Problem& problem) {
  if (problem.sequential() == nullptr) return kAssignment;
  const bool is_composite =
      dynamic_cast<const space::CompositeProblem*>(&problem) != nullptr;
  return kSequential | (is_composite ? kComposite : 0);
}

int64_t MeasurementsOf(const space::Problem& problem) {
  if (const auto* locks = dynamic_cast<const testing::Locks*>(&problem)) {
    return locks->measurements();
  }
  return problem.sequential() != nullptr
             ? static_cast<const testing::IntegerProblem&>(problem)
                   .measurements()
             : static_cast<const testing::TableProblem&>(problem)
                   .measurements();
}

constexpr int64_t kTrials = 1500;

class OptimizerConformance
    : public ::testing::TestWithParam<std::tuple<OptimizerInfo, ToyProblem>> {
 protected:
  void SetUp() override {
    problem_ = toy().make();
    supported_ = (info().kinds & KindsOf(*problem_)) != 0;
    if (!supported_) {
      EXPECT_THAT(CreateOptimizer(info(), *problem_, {}),
                  testing::StatusIs(absl::StatusCode::kInvalidArgument,
                                    ::testing::HasSubstr(info().id)));
    }
  }

  const OptimizerInfo& info() const { return std::get<0>(GetParam()); }
  // Returns true if the optimizer trains a network as it goes, or searches a
  // model, which takes milliseconds a trial.
  bool IsLearned() const {
    return info().id == "dqn" || info().id == "finetune" ||
           info().id == "guided" || info().id == "hdp" ||
           info().id == "policy" || info().id == "ppo" || info().id == "xtat" ||
           info().id == "zero_shot";
  }
  // Returns the number of trials that a test can afford of `trials`.
  int64_t Affordable(int64_t trials) const {
    if (!IsLearned()) return trials;
    // At least one update in each test: a round is 16 trials.
    const bool takes_long =
        toy().name == "ManyVariables" || toy().name == "SequenceLock";
    return trials / (takes_long ? 15 : 8);
  }

  const ToyProblem& toy() const { return std::get<1>(GetParam()); }

  std::unique_ptr<Optimizer> Make(uint64_t seed) const {
    return *CreateOptimizer(info(), *problem_, {.seed = seed});
  }

  // The trials of a whole search. The noise of costs is that of the number of
  // the measurement.
  std::vector<space::Trial> Trace(uint64_t seed, int64_t trials,
                                  int32_t batch_size = 16,
                                  absl::Span<const space::Trial> log = {}) {
    problem_->Recall(log);
    std::vector<space::Trial> trace(log.begin(), log.end());
    SearchOptions options;
    options.resume = log;
    options.batch_size = batch_size;
    options.on_trial = [&](const space::Trial& trial) {
      trace.push_back(trial);
      return absl::OkStatus();
    };
    std::unique_ptr<Optimizer> optimizer = Make(seed);
    HONE_EXPECT_OK(RunSearch(*problem_, *optimizer, {.trials = trials},
                             FakeClock(), options));
    return trace;
  }

  static std::vector<space::Candidate> CandidatesOf(
      const std::vector<space::Trial>& trace) {
    std::vector<space::Candidate> candidates;
    for (const space::Trial& trial : trace) {
      candidates.push_back(trial.candidate);
    }
    return candidates;
  }

  SearchResult Run(uint64_t seed, const space::Budget& budget) const {
    std::unique_ptr<Optimizer> optimizer = Make(seed);
    auto result = RunSearch(*problem_, *optimizer, budget, FakeClock());
    HONE_EXPECT_OK(result);
    return *result;
  }

  // The least cost within `trials`; a search ends once it is down to `target`.
  double BestCost(uint64_t seed, int64_t trials, double target) const {
    double best = std::numeric_limits<double>::infinity();
    SearchOptions options;
    options.on_trial = [&](const space::Trial& trial) {
      best = std::min(best, space::EffectiveCost(trial.measurement));
      return absl::OkStatus();
    };
    options.stop = [&] { return best <= target; };
    std::unique_ptr<Optimizer> optimizer = Make(seed);
    HONE_EXPECT_OK(RunSearch(*problem_, *optimizer, {.trials = trials},
                             FakeClock(), options));
    return best;
  }

  bool Contains(const std::vector<std::string>& names) const {
    return std::find(names.begin(), names.end(), toy().name) != names.end();
  }

  std::unique_ptr<space::Problem> problem_;
  bool supported_ = false;
};

TEST_P(OptimizerConformance, NameIsTheId) {
  if (!supported_) return;
  EXPECT_EQ(Make(1)->name(), info().id);
}

TEST_P(OptimizerConformance, FirstCandidateIsTheDefault) {
  if (!supported_) return;
  const std::vector<space::Candidate> first = Make(1)->Suggest(1);
  ASSERT_EQ(first.size(), 1);
  EXPECT_EQ(first[0], problem_->DefaultCandidate());
}

TEST_P(OptimizerConformance, SuggestDoesNotChangeState) {
  if (!supported_) return;
  std::unique_ptr<Optimizer> optimizer = Make(3);
  for (int64_t id = 0; id < Affordable(200); ++id) {
    const std::vector<space::Candidate> batch = optimizer->Suggest(7);
    ASSERT_LE(batch.size(), 7);
    EXPECT_EQ(optimizer->Suggest(7), batch);
    // A smaller request is answered by the beginning of a larger one.
    const std::vector<space::Candidate> one = optimizer->Suggest(1);
    if (batch.empty()) {
      EXPECT_TRUE(one.empty());
      break;
    }
    ASSERT_EQ(one.size(), 1);
    ASSERT_EQ(one[0], batch[0]);
    optimizer->Observe({id, batch[0], *problem_->Measure(batch[0])});
  }
}

TEST_P(OptimizerConformance, SameSeedSameTraceWhateverTheBatches) {
  if (!supported_) return;
  const auto trace = CandidatesOf(Trace(5, Affordable(300)));
  EXPECT_EQ(CandidatesOf(Trace(5, Affordable(300))), trace);
  EXPECT_EQ(CandidatesOf(Trace(5, Affordable(300), 1)), trace);
  EXPECT_EQ(CandidatesOf(Trace(5, Affordable(300), 100)), trace);
}

TEST_P(OptimizerConformance, ResumesFromItsLog) {
  if (!supported_) return;
  const int64_t trials = Affordable(300);
  const std::vector<space::Trial> whole = Trace(7, trials);
  for (int percent : {10, 50, 90}) {
    const size_t kept = whole.size() * static_cast<size_t>(percent) / 100;
    const auto log = absl::MakeConstSpan(whole).first(kept);
    const std::vector<space::Trial> resumed = Trace(7, trials, 16, log);
    if (Make(7)->replays()) {
      EXPECT_EQ(CandidatesOf(resumed), CandidatesOf(whole)) << percent << " %";
    } else {
      // It goes on from what the log has found in its own way, and comes to an
      // end by itself only if the whole search did.
      EXPECT_EQ(std::ssize(resumed) < trials, std::ssize(whole) < trials)
          << percent << " %";
    }
  }
}

TEST_P(OptimizerConformance, KeepsTheTrialBudget) {
  if (!supported_) return;
  for (int64_t trials : {0, 1, 2, 17, 100}) {
    const SearchResult result = Run(9, {.trials = trials});
    EXPECT_LE(result.trials, trials);
    if (result.trials < trials) {
      EXPECT_EQ(result.end, SearchEnd::kExhausted);
    }
  }
}

TEST_P(OptimizerConformance, MeasuresNothingButItsTrials) {
  if (!supported_) return;
  const SearchResult result = Run(9, {.trials = Affordable(300)});
  EXPECT_EQ(MeasurementsOf(*problem_),
            result.trials - (toy().name == "IllegalDefault" ? 1 : 0));
}

TEST_P(OptimizerConformance, CandidatesAreWellFormed) {
  if (!supported_) return;
  for (const space::Trial& trial : Trace(11, Affordable(500))) {
    const std::vector<int32_t>& choices = trial.candidate.choices;
    if (const auto* sequential = problem_->sequential()) {
      EXPECT_LE(choices.size(), static_cast<size_t>(sequential->max_steps()));
      // A search may have to begin with a default that is not legal.
      EXPECT_EQ(trial.measurement.outcome == space::Outcome::kOk,
                trial.id > 0 || toy().name != "IllegalDefault")
          << trial.measurement.message;
    } else {
      const auto* assignment = problem_->assignment();
      ASSERT_EQ(choices.size(),
                static_cast<size_t>(assignment->variable_count()));
      for (int32_t v = 0; v < assignment->variable_count(); ++v) {
        EXPECT_GE(choices[static_cast<size_t>(v)], 0);
        EXPECT_LT(choices[static_cast<size_t>(v)], assignment->domain_size(v));
      }
    }
  }
}

TEST_P(OptimizerConformance, NeverEndsWorseThanTheDefault) {
  if (!supported_) return;
  const space::Measurement baseline =
      *problem_->Measure(problem_->DefaultCandidate());
  for (int64_t trials :
       {int64_t{1}, int64_t{5}, int64_t{50}, Affordable(500)}) {
    const SearchResult result = Run(13, {.trials = trials});
    ASSERT_TRUE(result.baseline);
    EXPECT_EQ(result.baseline->candidate, problem_->DefaultCandidate());
    if (!problem_->is_noisy()) {
      EXPECT_EQ(result.baseline->measurement.cost, baseline.cost);
    }
    if (problem_->is_noisy()) {
      ASSERT_TRUE(result.best);
      EXPECT_LE(result.best->measurement.cost,
                result.baseline->measurement.cost);
    } else if (baseline.outcome == space::Outcome::kOk) {
      ASSERT_TRUE(result.best);
      EXPECT_LE(result.best->measurement.cost, baseline.cost);
    } else if (trials >= 50) {
      // A default that violates the constraints is left behind, but not by a
      // policy without weights that has one proposal.
      const bool stays =
          info().id == "default" ||
          (info().id == "zero_shot" && problem_->assignment() != nullptr);
      EXPECT_EQ(result.best.has_value(), !stays);
    }
  }
}

// A plug-in without a line there would be tested for less than the others.
TEST_P(OptimizerConformance, DeclaresWhatItFinds) {
  const Capabilities capabilities = CapabilitiesOf(info().id);
  EXPECT_FALSE(capabilities.solves.empty() && capabilities.misses.empty());
}

TEST_P(OptimizerConformance, FindsWhatItDeclares) {
  if (!supported_) return;
  const Capabilities capabilities = CapabilitiesOf(info().id);
  const double optimum =
      toy().optimum ? *toy().optimum : OptimalCost(*problem_);
  const bool solves = Contains(capabilities.solves);
  const bool misses = Contains(capabilities.misses);
  const int64_t trials = solves ? kTrials : Affordable(kTrials);
  // Where nothing is declared, costs are checked against the optimum only.
  for (uint64_t seed = 0; seed < (solves || misses ? 5 : 1); ++seed) {
    const double cost = BestCost(seed, trials, optimum);
    if (!problem_->is_noisy()) {
      EXPECT_GE(cost, optimum);
    }
    if (solves) {
      EXPECT_EQ(cost, optimum) << "seed " << seed;
    }
    if (misses) {
      EXPECT_GT(cost, optimum) << "seed " << seed;
    }
  }
}

TEST(CapabilitiesOf, NameToyProblemsAndAssignmentsAmongThem) {
  for (const OptimizerInfo& info : Optimizers()) {
    SCOPED_TRACE(info.id);
    const Capabilities capabilities = CapabilitiesOf(info.id);
    bool solves_assignments = false;
    for (const auto* names : {&capabilities.solves, &capabilities.misses}) {
      for (const std::string& name : *names) {
        const auto* toy = std::find_if(
            std::begin(kToyProblems), std::end(kToyProblems),
            [&](const ToyProblem& problem) { return problem.name == name; });
        ASSERT_NE(toy, std::end(kToyProblems)) << name;
        const Kinds kinds = KindsOf(*toy->make());
        EXPECT_NE(info.kinds & kinds, 0u) << name;
        solves_assignments |=
            kinds == kAssignment && names == &capabilities.solves;
      }
    }
    const bool finds_nothing = info.id == "default" || info.id == "zero_shot";
    if (finds_nothing || (info.kinds & kAssignment) == 0) continue;
    EXPECT_TRUE(solves_assignments);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, OptimizerConformance,
    ::testing::Combine(::testing::ValuesIn(Optimizers().begin(),
                                           Optimizers().end()),
                       ::testing::ValuesIn(kToyProblems)),
    [](const ::testing::TestParamInfo<OptimizerConformance::ParamType>& param) {
      return std::string(std::get<0>(param.param).id) + "On" +
             std::get<1>(param.param).name;
    });

}  // namespace
}  // namespace hone::optimizers
