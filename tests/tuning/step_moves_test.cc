#include "tuning/tasks/step_moves.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/rng.h"
#include "graphs/op_graph.h"
#include "tests/support/status_matchers.h"
#include "tests/tuning/random_steps.h"
#include "tuning/tasks/step_problem.h"

namespace hone::tuning {
namespace {

using Changes = std::vector<space::Change>;
using Features = std::map<std::string, double>;

Features DescribeOn(space::LocalState& state, const Changes& changes) {
  std::vector<float> features;
  state.DescribeMove(changes, features);
  const std::vector<std::string> names = StepMoveFeatureNames();
  EXPECT_EQ(features.size(), names.size());
  Features named;
  for (size_t i = 0; i < names.size(); ++i)
    named[names[i]] = double{features[i]};
  return named;
}

// A few variables of any kinds, each once.
Changes RandomChanges(const StepProblem& problem, Rng& rng) {
  Changes changes;
  const auto variables = static_cast<uint64_t>(problem.variable_count());
  std::set<int32_t> seen;
  for (uint64_t n = rng.Below(6); n > 0; --n) {
    const auto v = static_cast<int32_t>(rng.Below(variables));
    if (!seen.insert(v).second) continue;
    changes.push_back({v, static_cast<int32_t>(rng.Below(
                              static_cast<uint64_t>(problem.domain_size(v))))});
  }
  return changes;
}

void ExpectEqual(const space::LocalScore& a, const space::LocalScore& b) {
  EXPECT_EQ(a.rank, b.rank);
  EXPECT_EQ(a.energy, b.energy);
}

TEST(StepMoves, NamesAreDistinct) {
  const std::vector<std::string> names = StepMoveFeatureNames();
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(),
            names.size());
}

TEST(StepMoves, AnyMoveHasFiniteFeaturesOfModerateSize) {
  int64_t moves = 0;
  ForEachStepProblem(5, 40, 40, [&](const StepProblem& problem, Rng& rng) {
    EXPECT_EQ(problem.move_feature_names(), StepMoveFeatureNames());
    const auto state = problem.MakeLocal({RandomValues(problem, rng)});
    Changes changes;
    for (int i = 0; i < 60; ++i) {
      if (i % 2 == 0) {
        state->Propose(rng, changes);
      } else {
        changes = RandomChanges(problem, rng);
      }
      ++moves;
      for (const auto& [name, value] : DescribeOn(*state, changes)) {
        ASSERT_TRUE(std::isfinite(value)) << name;
        EXPECT_LE(std::abs(value), 2.0001) << name;
      }
      if (i % 10 != 9 || changes.empty()) continue;
      state->Try(changes);
      state->Commit();
    }
  });
  EXPECT_GT(moves, 5000);
}

// Of moves on random steps: those that look best by the estimate gain more
// often than the others.
TEST(StepMoves, TheEstimateTellsGainsFromLosses) {
  int64_t best_gains = 0, other_gains = 0, bests = 0, others = 0;
  ForEachStepProblem(6, 40, 40, [&](const StepProblem& problem, Rng& rng) {
    const auto state = problem.MakeLocal({RandomValues(problem, rng)});
    constexpr int kMoves = 24;
    std::vector<std::pair<float, bool>> moves;  // the estimate, and if it gains
    for (int i = 0; i < kMoves; ++i) {
      Changes changes;
      state->Propose(rng, changes);
      if (changes.empty()) continue;
      std::vector<float> features;
      state->DescribeMove(changes, features);
      const double before = state->score().rank.cost;
      moves.emplace_back(problem.EstimateMove(features),
                         state->Try(changes).rank.cost < before);
    }
    std::sort(moves.begin(), moves.end(),
              [](const auto& a, const auto& b) { return a.first > b.first; });
    for (size_t i = 0; i < moves.size(); ++i) {
      const bool is_best = i < moves.size() / 4;
      ++(is_best ? bests : others);
      if (moves[i].second) ++(is_best ? best_gains : other_gains);
    }
  });
  ASSERT_GT(bests, 200);
  const double best =
      static_cast<double>(best_gains) / static_cast<double>(bests);
  const double other =
      static_cast<double>(other_gains) / static_cast<double>(others);
  EXPECT_GT(best, 1.2 * other);
}

TEST(StepMoves, DescribingChangesNothing) {
  ForEachStepProblem(6, 25, 25, [](const StepProblem& problem, Rng& rng) {
    const std::vector<int32_t> values = RandomValues(problem, rng);
    const auto state = problem.MakeLocal({values});
    const auto silent = problem.MakeLocal({values});
    for (int i = 0; i < 20; ++i) {
      const int64_t evaluations = problem.evaluations();
      const space::LocalScore score = state->score();
      const Changes changes = RandomChanges(problem, rng);
      DescribeOn(*state, RandomChanges(problem, rng));
      DescribeOn(*state, changes);
      EXPECT_EQ(problem.evaluations(), evaluations);
      ExpectEqual(state->score(), score);
      EXPECT_EQ(state->values(), silent->values());
      ExpectEqual(state->Try(changes), silent->Try(changes));
      // Between a try and its commit, too.
      DescribeOn(*state, RandomChanges(problem, rng));
      if (i % 3 != 0) continue;
      state->Commit();
      silent->Commit();
      ExpectEqual(state->score(), silent->score());
      EXPECT_EQ(state->values(), silent->values());
    }
  });
}

// Whatever was described, tried and made before.
TEST(StepMoves, DependOnTheAssignmentAndTheMoveOnly) {
  ForEachStepProblem(7, 25, 25, [](const StepProblem& problem, Rng& rng) {
    const auto state = problem.MakeLocal({RandomValues(problem, rng)});
    for (int i = 0; i < 12; ++i) {
      const Changes changes = RandomChanges(problem, rng);
      const std::vector<int32_t> values(state->values().begin(),
                                        state->values().end());
      const auto fresh = problem.MakeLocal({values});
      const Features first = DescribeOn(*state, changes);
      EXPECT_EQ(first, DescribeOn(*fresh, changes));
      state->Try(RandomChanges(problem, rng));
      EXPECT_EQ(first, DescribeOn(*state, changes));
      if (i % 2 == 0) state->Commit();
    }
  });
}

// A chain a → b → c, and d by itself, of matrix products that take 1, 2, 3 and
// 2 seconds; what is sent takes half a second.
class TwoDevices : public ::testing::Test {
 protected:
  void Make(StepDecisions decisions) {
    std::vector<graphs::OpNode> nodes;
    for (const double seconds : {1.0, 2.0, 3.0, 2.0}) {
      nodes.push_back({.id = static_cast<int64_t>(nodes.size()),
                       .opcode = "dot",
                       .flops = seconds,
                       .output_bytes = 1});
    }
    const graphs::Cluster cluster = {
        .accelerators = {{.count = 2,
                          .flops_per_second = 1,
                          .bytes_per_second = 1e9}},
        .cpus = {},
        .link = {2, 0}};
    auto problem = StepProblem::Create(
        *graphs::OpGraph::Create(nodes, {{0, 1, 1}, {1, 2, 1}}), cluster,
        decisions);
    HONE_ASSERT_OK(problem);
    problem_ = *std::move(problem);
  }
  int32_t Device(int32_t unit) const {
    return problem_->space().first_device() + unit;
  }
  int32_t Priority(int32_t unit) const {
    return problem_->space().first_priority() + unit;
  }
  // With these devices of a, b, c and d, and all else as by default.
  std::unique_ptr<space::LocalState> At(const std::vector<int32_t>& devices) {
    std::vector<int32_t> values = problem_->DefaultCandidate().choices;
    std::copy(devices.begin(), devices.end(), values.begin() + Device(0));
    return problem_->MakeLocal({values});
  }

  std::unique_ptr<StepProblem> problem_;
};

// As shares of the step: their cube roots.
void ExpectPart(const Features& features, const char* name, double seconds,
                double step) {
  EXPECT_NEAR(features.at(name), std::cbrt(seconds / step), 1e-4) << name;
}

TEST_F(TwoDevices, AMoveThatAddsATransferToTheCriticalPath) {
  Make({.devices = true});
  // 6 seconds for the chain; d has 4 to spare.
  const auto state = At({0, 0, 0, 1});
  ASSERT_DOUBLE_EQ(state->score().rank.cost, 6000);
  const Features b = DescribeOn(*state, {{Device(1), 1}});
  EXPECT_EQ(b.at("moves_devices"), 1);
  for (const char* other : {"moves_priorities", "fuses", "unfuses",
                            "moves_order", "earlier", "later"}) {
    EXPECT_EQ(b.at(other), 0) << other;
  }
  ExpectPart(b, "moved_time", 2, 6);
  // Loads 6 and 2, of a mean of 4.
  EXPECT_NEAR(b.at("from_load"), 6.0 / 4 / 2, 1e-6);
  EXPECT_NEAR(b.at("to_load"), 2.0 / 4 / 2, 1e-6);
  ExpectPart(b, "sent_before", 0, 6);
  ExpectPart(b, "sent_after", 1, 6);
  ExpectPart(b, "sent_change", 1, 6);
  EXPECT_EQ(b.at("critical_share"), 1);
  ExpectPart(b, "critical_time", 2, 6);
  ExpectPart(b, "critical_sent", 0, 6);
  ExpectPart(b, "critical_added", 1, 6);
  ExpectPart(b, "critical_saved", 0, 6);
  EXPECT_EQ(b.at("least_slack"), 0);
  EXPECT_EQ(b.at("tight_kernels"), 0.75);
  EXPECT_EQ(b.at("tight_share"), 1);
  // c gets its input at 4 in place of 3. d is on the new device for one of the
  // two seconds in which b runs.
  ExpectPart(b, "delay", 1, 6);
  ExpectPart(b, "mean_delay", 1, 6);
  ExpectPart(b, "critical_delay", 1, 6);
  EXPECT_NEAR(b.at("critical_exits"), 1.0 / 4, 1e-6);
  EXPECT_NEAR(b.at("to_busy"), 0.5, 1e-6);
  ExpectPart(b, "waited", 0, 6);
  ExpectPart(b, "blocked", 0, 6);

  const Features d = DescribeOn(*state, {{Device(3), 0}});
  EXPECT_EQ(d.at("critical_share"), 0);
  ExpectPart(d, "least_slack", 4, 6);
  ExpectPart(d, "mean_slack", 4, 6);
  EXPECT_EQ(d.at("tight_share"), 0);
  ExpectPart(d, "sent_change", 0, 6);
  ExpectPart(d, "delay", -4, 6);
  EXPECT_NEAR(d.at("to_busy"), 1, 1e-6);
  ExpectPart(d, "critical_delay", 0, 6);
  EXPECT_EQ(d.at("critical_exits"), 0);
}

TEST_F(TwoDevices, AMoveThatSavesTransfersOfTheCriticalPath) {
  Make({.devices = true});
  const auto state = At({0, 1, 0, 1});
  // d is done while b waits for a, or after it.
  const double step = state->score().rank.cost / 1000;
  ASSERT_GE(step, 7);
  const Features b = DescribeOn(*state, {{Device(1), 0}});
  ExpectPart(b, "sent_before", 1, step);
  ExpectPart(b, "sent_after", 0, step);
  ExpectPart(b, "sent_change", -1, step);
  EXPECT_GT(b.at("critical_saved"), 0);
  EXPECT_EQ(b.at("critical_added"), 0);
  // b could begin at 1.5, but d runs until 2. On the other device it ends at 3,
  // and c, which begins at 4.5, could begin then.
  ASSERT_DOUBLE_EQ(step, 7.5);
  ExpectPart(b, "waited", 0.5, step);
  ExpectPart(b, "critical_waited", 0.5, step);
  ExpectPart(b, "blocked", 0, step);
  ExpectPart(b, "delay", -1, step);
  ExpectPart(b, "critical_delay", -1.5, step);
  const Features d = DescribeOn(*state, {{Device(3), 0}});
  ExpectPart(d, "waited", 0, step);
  ExpectPart(d, "blocked", 0.5, step);
  // All of the chain goes: no edge between kernels that move is sent.
  const Features all = DescribeOn(
      *At({0, 0, 0, 1}), {{Device(0), 1}, {Device(1), 1}, {Device(2), 1}});
  ExpectPart(all, "moved_time", 6, 6);
  ExpectPart(all, "sent_after", 0, 6);
  ExpectPart(all, "critical_added", 0, 6);
  ExpectPart(all, "critical_time", 6, 6);
  EXPECT_NEAR(all.at("changes"), 2.0 / 12, 1e-6);
  // It takes as long there, one kernel after the other.
  ExpectPart(all, "delay", 0, 6);
}

TEST_F(TwoDevices, OtherMovesAreToldApart) {
  Make({.devices = true, .priorities = true, .fusion = true});
  const auto state = At({0, 0, 0, 1});
  const std::vector<int32_t> values(state->values().begin(),
                                    state->values().end());
  const auto priority = static_cast<size_t>(Priority(3));
  ASSERT_EQ(values[priority], StepSpace::kStay);
  const Features earlier =
      DescribeOn(*state, {{Priority(3), StepSpace::kStay + 4}});
  EXPECT_EQ(earlier.at("moves_priorities"), 1);
  EXPECT_EQ(earlier.at("moves_devices"), 0);
  EXPECT_NEAR(earlier.at("earlier"), 0.5, 1e-6);
  EXPECT_EQ(earlier.at("later"), 0);
  const Features later = DescribeOn(*state, {{Priority(3), 0}});
  EXPECT_EQ(later.at("earlier"), 0);
  EXPECT_NEAR(later.at("later"), 1, 1e-6);
  const int32_t fused = problem_->space().first_fused();
  EXPECT_EQ(DescribeOn(*state, {{fused, 1}}).at("fuses"), 1);
  EXPECT_EQ(DescribeOn(*state, {{fused, 0}}).at("unfuses"), 1);
  const Features order = DescribeOn(*state, {{0, 0}});
  EXPECT_EQ(order.at("moves_order"), 1);
  EXPECT_EQ(order.at("moved_time"), 0);
  EXPECT_EQ(order.at("least_slack"), 0);
}

}  // namespace
}  // namespace hone::tuning
