#include "tuning/tasks/partition_proposals.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/rng.h"
#include "graphs/mcm/chip_loads.h"
#include "graphs/mcm/partition_graph.h"
#include "tests/graphs/mcm/partition_by_definition.h"
#include "tests/graphs/mcm/random_partition_graph.h"
#include "tests/support/status_matchers.h"
#include "tuning/tasks/partition_problem.h"

namespace hone::tuning {
namespace {

using graphs::PartitionGraph;
using ::hone::testing::ForEachPartition;
using ::hone::testing::IsValidByDefinition;
using ::hone::testing::RandomPartitionGraph;
using ::hone::testing::SmallPackage;

using Chips = std::vector<int32_t>;
using Changes = std::vector<space::Change>;

std::unique_ptr<PartitionProblem> ProblemOf(PartitionGraph graph) {
  const graphs::Package package =
      SmallPackage(graph.chips(), graph.memory_bytes());
  auto problem = PartitionProblem::Create(std::move(graph), package,
                                          PartitionObjective::kModelled);
  return problem.ok() ? *std::move(problem) : nullptr;
}

// A chain, each node with these milliseconds and those of its output.
PartitionGraph Chain(const std::vector<double>& times,
                     const std::vector<double>& transfers, int32_t chips) {
  std::vector<graphs::OpNode> nodes;
  std::vector<graphs::OpEdge> edges;
  for (size_t i = 0; i < times.size(); ++i) {
    const auto id = static_cast<int64_t>(i);
    nodes.push_back({.id = id,
                     .opcode = "dot",
                     .flops = 1e6 * times[i],
                     .output_bytes = 1e6 * transfers[i]});
    if (i > 0) edges.push_back({id - 1, id, 1e6 * transfers[i - 1]});
  }
  auto graph = PartitionGraph::Create(*graphs::OpGraph::Create(nodes, edges),
                                      SmallPackage(chips, 1e9));
  HONE_EXPECT_OK(graph);
  return *std::move(graph);
}

void Start(const PartitionProblem& problem, const Chips& chips,
           PartitionProposals& proposals) {
  proposals.Start(chips, graphs::ComputeChipLoads(problem.graph(), chips));
}

Chips After(Chips chips, const Changes& changes) {
  for (const space::Change& change : changes) {
    chips[static_cast<size_t>(change.variable)] = change.value;
  }
  return chips;
}

// Expects changes of distinct variables, in range, that lead to a partition
// without faults.
void ExpectMove(const PartitionGraph& graph, const Chips& from,
                const Changes& changes) {
  std::set<int32_t> variables;
  for (const space::Change& change : changes) {
    EXPECT_TRUE(variables.insert(change.variable).second);
    ASSERT_GE(change.variable, 0);
    ASSERT_LT(static_cast<size_t>(change.variable), graph.size());
    ASSERT_GE(change.value, 0);
    ASSERT_LT(change.value, graph.chips());
    EXPECT_NE(change.value, from[static_cast<size_t>(change.variable)]);
  }
  EXPECT_TRUE(IsValidByDefinition(graph, After(from, changes)));
}

TEST(PartitionProposals, KeepTheRules) {
  Rng rng(40);
  int moves = 0;
  int tight = 0;
  for (int i = 0; i < 90; ++i) {
    const bool is_tight = i % 3 == 0;
    const size_t nodes = 2 + rng.Below(is_tight ? 8 : 50);
    const int32_t chips =
        i % 10 == 1 ? 64 : 1 + static_cast<int32_t>(rng.Below(12));
    const auto problem =
        ProblemOf(RandomPartitionGraph(rng, nodes, chips, is_tight));
    if (problem == nullptr) continue;
    PartitionProposals proposals(*problem);
    Chips at = problem->DefaultCandidate().choices;
    Changes changes;
    for (int step = 0; step < 60; ++step) {
      Start(*problem, at, proposals);
      // Former changes are replaced.
      changes = {{-1, -1}};
      proposals.Propose(rng, changes);
      ExpectMove(problem->graph(), at, changes);
      if (HasFatalFailure()) return;
      moves += changes.empty() ? 0 : 1;
      tight += is_tight && !changes.empty() ? 1 : 0;
      at = After(at, changes);
    }
  }
  EXPECT_GT(moves, 3000);
  EXPECT_GT(tight, 500);
}

// A search may start from anything, with data that flows back, gaps and chips
// that are too full.
TEST(PartitionProposals, FromFaultyPartitionsKeepTheRules) {
  Rng rng(41);
  int moves = 0;
  for (int i = 0; i < 60; ++i) {
    const auto problem = ProblemOf(RandomPartitionGraph(
        rng, 2 + rng.Below(12), 2 + static_cast<int32_t>(rng.Below(6)), i % 2));
    if (problem == nullptr) continue;
    PartitionProposals proposals(*problem);
    for (int start = 0; start < 10; ++start) {
      Chips at(problem->graph().size());
      for (int32_t& chip : at) {
        chip = static_cast<int32_t>(
            rng.Below(static_cast<uint64_t>(problem->graph().chips())));
      }
      Start(*problem, at, proposals);
      Changes changes;
      for (int draw = 0; draw < 10; ++draw) {
        proposals.Propose(rng, changes);
        if (changes.empty()) continue;
        ExpectMove(problem->graph(), at, changes);
        if (HasFatalFailure()) return;
        ++moves;
      }
    }
  }
  EXPECT_GT(moves, 200);
}

// Returns what moves reach from the default, up to all of `count`.
std::set<Chips> Reach(const PartitionProblem& problem, size_t count,
                      bool with_repairs, Rng& rng) {
  PartitionProposals proposals(problem);
  std::vector<Chips> reached = {problem.DefaultCandidate().choices};
  std::set<Chips> known = {reached[0]};
  Changes changes;
  for (int start = 0; start < 20'000 && known.size() < count; ++start) {
    const Chips from = reached[rng.Below(reached.size())];
    Start(problem, from, proposals);
    for (int draw = 0; draw < 4; ++draw) {
      const int64_t repairs = problem.repairs().moves;
      proposals.Propose(rng, changes);
      if (!with_repairs && problem.repairs().moves != repairs) continue;
      Chips to = After(from, changes);
      if (known.insert(to).second) reached.push_back(std::move(to));
    }
  }
  return known;
}

TEST(PartitionProposals, ReachEveryPartition) {
  Rng rng(42);
  size_t partitions = 0;
  size_t without_repairs = 0;
  for (int i = 0; i < 120; ++i) {
    const auto problem = ProblemOf(RandomPartitionGraph(
        rng, 2 + rng.Below(6), 2 + static_cast<int32_t>(rng.Below(3)),
        i % 3 == 0));
    if (problem == nullptr) continue;
    std::set<Chips> valid;
    ForEachPartition(problem->graph(), [&](const Chips& chips) {
      if (IsValidByDefinition(problem->graph(), chips)) valid.insert(chips);
    });
    EXPECT_EQ(Reach(*problem, valid.size(), true, rng), valid) << i;
    partitions += valid.size();
    without_repairs += Reach(*problem, valid.size(), false, rng).size();
  }
  EXPECT_GT(partitions, 1000u);
  // Without repairs few stay out of reach, where memory is tight.
  EXPECT_GT(static_cast<double>(without_repairs),
            0.98 * static_cast<double>(partitions));
}

TEST(PartitionProposals, RepairsAreCounted) {
  Rng rng(43);
  int64_t repairs = 0;
  int64_t variables = 0;
  int64_t all = 0;
  for (int i = 0; i < 20; ++i) {
    const auto problem = ProblemOf(RandomPartitionGraph(rng, 30, 6));
    ASSERT_NE(problem, nullptr);
    EXPECT_EQ(problem->repairs().moves, 0);
    EXPECT_EQ(problem->repairs().variables, 0);
    PartitionProposals proposals(*problem);
    Chips at = problem->DefaultCandidate().choices;
    Changes changes;
    for (int step = 0; step < 1000; ++step) {
      const PartitionProblem::Repairs before = problem->repairs();
      Start(*problem, at, proposals);
      proposals.Propose(rng, changes);
      const PartitionProblem::Repairs after = problem->repairs();
      ASSERT_GE(after.moves, before.moves);
      // A repair changes a node or more, and at most all.
      const int64_t made = after.moves - before.moves;
      EXPECT_GE(after.variables - before.variables, made);
      EXPECT_LE(after.variables - before.variables,
                made * static_cast<int64_t>(problem->graph().size()));
      at = After(at, changes);
    }
    repairs += problem->repairs().moves;
    variables += problem->repairs().variables;
    all += problem->repairs().moves *
           static_cast<int64_t>(problem->graph().size());
  }
  EXPECT_GT(repairs, 20);
  // Most nodes keep the chips of the move.
  EXPECT_LT(variables, all / 2);
  // One by hand.
  const auto problem = ProblemOf(RandomPartitionGraph(rng, 30, 6));
  problem->CountRepair(3);
  problem->CountRepair(0);
  EXPECT_EQ(problem->repairs().moves, 2);
  EXPECT_EQ(problem->repairs().variables, 3);
}

// Proposals that started elsewhere before agree with new ones.
TEST(PartitionProposals, DependOnTheirStartAndTheSeedOnly) {
  Rng rng(44);
  for (int i = 0; i < 15; ++i) {
    const auto problem = ProblemOf(RandomPartitionGraph(
        rng, 5 + rng.Below(30), 2 + static_cast<int32_t>(rng.Below(8))));
    ASSERT_NE(problem, nullptr);
    PartitionProposals used(*problem);
    Chips at = problem->DefaultCandidate().choices;
    std::set<std::vector<std::pair<int32_t, int32_t>>> seen;
    for (int step = 0; step < 20; ++step) {
      PartitionProposals fresh(*problem);
      Start(*problem, at, used);
      Start(*problem, at, fresh);
      Rng a(rng.Next());
      Rng b = a;
      Changes changes;
      for (int draw = 0; draw < 20; ++draw) {
        Changes again;
        used.Propose(a, changes);
        fresh.Propose(b, again);
        ASSERT_EQ(changes, again);
        ASSERT_EQ(a.state(), b.state());
        std::vector<std::pair<int32_t, int32_t>> move;
        for (const auto& [variable, value] : changes) {
          move.emplace_back(variable, value);
        }
        seen.insert(move);
      }
      at = After(at, changes);
    }
    EXPECT_GT(seen.size(), 5u);
  }
}

TEST(PartitionProposals, MostBeginAtTheBusiestChip) {
  // Chip 2 of 5 has most of the work, chips far from it little.
  std::vector<double> times(40, 1);
  for (size_t i = 16; i < 24; ++i) times[i] = 10;
  const auto problem =
      ProblemOf(Chain(times, std::vector<double>(40, 0.01), 10));
  ASSERT_NE(problem, nullptr);
  ASSERT_EQ(problem->graph().size(), 40u);
  Chips at;
  for (int32_t i = 0; i < 40; ++i) at.push_back(i / 4);
  const auto share = [&](int32_t chip) {
    PartitionProposals proposals(*problem);
    Start(*problem, at, proposals);
    Rng rng(45);
    int touching = 0;
    Changes changes;
    constexpr int kDraws = 2000;
    for (int draw = 0; draw < kDraws; ++draw) {
      proposals.Propose(rng, changes);
      touching += std::any_of(
          changes.begin(), changes.end(), [&](const space::Change& change) {
            return at[static_cast<size_t>(change.variable)] == chip;
          });
    }
    return static_cast<double>(touching) / kDraws;
  };
  EXPECT_GT(share(4), 0.5);
  EXPECT_LT(share(1), share(4));
  EXPECT_GT(share(1), 0);
  EXPECT_GT(share(9), 0);
}

TEST(PartitionProposals, CutMostlyWhereLittleFlows) {
  std::vector<double> transfers(21, 0.5);
  transfers[6] = 0.01;
  const auto problem = ProblemOf(Chain(std::vector<double>(21, 1), transfers,
                                       /*chips=*/4));
  ASSERT_NE(problem, nullptr);
  ASSERT_EQ(problem->graph().size(), 21u);
  PartitionProposals proposals(*problem);
  const Chips at(21);
  Start(*problem, at, proposals);
  Rng rng(46);
  std::map<size_t, int> cuts;
  int count = 0;
  Changes changes;
  for (int draw = 0; draw < 2000; ++draw) {
    proposals.Propose(rng, changes);
    const Chips to = After(at, changes);
    for (size_t i = 0; i + 1 < to.size(); ++i) {
      if (to[i] == to[i + 1]) continue;
      ++cuts[i];
      ++count;
    }
  }
  // Each of the 20 places is cut, this one far more often than a 20th.
  EXPECT_EQ(cuts.size(), 20u);
  EXPECT_GT(cuts[6], 0.2 * count);
}

// Two other chips become one for a chip that is split, once all have nodes.
TEST(PartitionProposals, FreeAChipForTheBusiest) {
  std::vector<double> times(16, 1);
  for (size_t i = 4; i < 8; ++i) times[i] = 4;
  for (const bool is_last : {false, true}) {
    if (is_last) std::reverse(times.begin(), times.end());
    const auto problem =
        ProblemOf(Chain(times, std::vector<double>(16, 0.01), 4));
    ASSERT_NE(problem, nullptr);
    ASSERT_EQ(problem->graph().size(), 16u);
    Chips at;
    for (int32_t i = 0; i < 16; ++i) at.push_back(i / 4);
    PartitionProposals proposals(*problem);
    Start(*problem, at, proposals);
    const size_t busiest = is_last ? 8 : 4;
    Rng rng(47);
    int freeing = 0;
    Changes changes;
    for (int draw = 0; draw < 500; ++draw) {
      proposals.Propose(rng, changes);
      const Chips to = After(at, changes);
      if (to[busiest] == to[busiest + 3]) continue;
      // The cuts around the busiest chip are where they were.
      if (to[busiest - 1] == to[busiest] ||
          to[busiest + 3] == to[busiest + 4]) {
        continue;
      }
      freeing += to.back() == 3;
    }
    EXPECT_GT(freeing, 5);
  }
}

TEST(PartitionProposals, OneChipHasNoMoves) {
  Rng rng(48);
  const auto problem = ProblemOf(RandomPartitionGraph(rng, 20, 1));
  ASSERT_NE(problem, nullptr);
  PartitionProposals proposals(*problem);
  Start(*problem, problem->DefaultCandidate().choices, proposals);
  Changes changes = {{0, 0}};
  for (int draw = 0; draw < 50; ++draw) {
    proposals.Propose(rng, changes);
    EXPECT_TRUE(changes.empty());
  }
}

}  // namespace
}  // namespace hone::tuning
