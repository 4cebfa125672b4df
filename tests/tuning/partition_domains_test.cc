#include "tuning/tasks/partition_domains.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/rng.h"
#include "graphs/mcm/partition_rules.h"
#include "graphs/mcm/partitions.h"
#include "space/complete.h"
#include "tests/graphs/mcm/partition_by_definition.h"
#include "tests/graphs/mcm/random_partition_graph.h"
#include "tests/support/status_matchers.h"
#include "tests/tuning/partitions_by_gecode.h"

namespace hone::tuning {
namespace {

using graphs::PartitionGraph;
using ::hone::testing::ForEachPartition;
using ::hone::testing::IsValidByDefinition;
using ::hone::testing::RandomPartitionGraph;

using Partitions = std::set<std::vector<int32_t>>;

Partitions AllValid(const PartitionGraph& graph) {
  Partitions valid;
  ForEachPartition(graph, [&](const std::vector<int32_t>& chips) {
    if (IsValidByDefinition(graph, chips)) valid.insert(chips);
  });
  return valid;
}

std::vector<uint64_t> Left(const PartitionDomains& domains) {
  std::vector<uint64_t> left;
  for (int32_t v = 0; v < domains.variable_count(); ++v) {
    left.push_back(domains.Get(v));
  }
  return left;
}

std::vector<int32_t> RandomOrder(Rng& rng, size_t size) {
  std::vector<int32_t> order(size);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), rng);
  return order;
}

// Finds all partitions by branching on the variables in `order`.
void Enumerate(PartitionDomains& domains, const std::vector<int32_t>& order,
               size_t position, Partitions& found) {
  if (position == order.size()) {
    std::vector<int32_t> chips;
    for (const uint64_t left : Left(domains)) {
      ASSERT_TRUE(std::has_single_bit(left));
      chips.push_back(std::countr_zero(left));
    }
    found.insert(chips);
    return;
  }
  const int32_t variable = order[position];
  for (uint64_t left = domains.Get(variable); left != 0; left &= left - 1) {
    const int32_t mark = domains.Mark();
    const std::vector<uint64_t> before = Left(domains);
    if (domains.Narrow(variable, left & -left)) {
      Enumerate(domains, order, position + 1, found);
    }
    domains.Undo(mark);
    ASSERT_EQ(Left(domains), before);
  }
}

TEST(PartitionDomainsTest, LeavesExactlyTheValidPartitions) {
  Rng rng(8);
  size_t partitions = 0;
  size_t impossible = 0;
  for (int i = 0; i < 150; ++i) {
    const PartitionGraph graph = RandomPartitionGraph(
        rng, 2 + rng.Below(6), 1 + static_cast<int32_t>(rng.Below(4)),
        i % 3 == 0);
    const PartitionClosure closure(graph);
    PartitionDomains domains(graph, closure);
    Partitions found;
    Enumerate(domains, RandomOrder(rng, graph.size()), 0, found);
    ASSERT_EQ(found, AllValid(graph)) << i;
    partitions += found.size();
    if (found.empty()) ++impossible;
  }
  EXPECT_GT(partitions, 1000u);
  EXPECT_GT(impossible, 5u);
}

TEST(PartitionDomainsTest, LeavesWhatGecodeFinds) {
  Rng rng(14);
  size_t partitions = 0;
  for (int i = 0; i < 40; ++i) {
    const PartitionGraph graph = RandomPartitionGraph(
        rng, 4 + rng.Below(7), 2 + static_cast<int32_t>(rng.Below(5)));
    const PartitionClosure closure(graph);
    PartitionDomains domains(graph, closure);
    Partitions found;
    Enumerate(domains, RandomOrder(rng, graph.size()), 0, found);
    ASSERT_EQ(found, hone::testing::PartitionsByGecode(graph)) << i;
    partitions += found.size();
  }
  EXPECT_GT(partitions, 5000u);
}

TEST(PartitionDomainsTest, PropagationLosesNoPartition) {
  Rng rng(9);
  for (int i = 0; i < 60; ++i) {
    const PartitionGraph graph = RandomPartitionGraph(
        rng, 3 + rng.Below(4), 2 + static_cast<int32_t>(rng.Below(3)),
        i % 3 == 0);
    const Partitions valid = AllValid(graph);
    const PartitionClosure closure(graph);
    PartitionDomains domains(graph, closure);
    std::vector<uint64_t> asked(graph.size(), ~uint64_t{0});
    for (int step = 0; step < 6; ++step) {
      const auto variable = static_cast<int32_t>(rng.Below(graph.size()));
      const uint64_t values = rng.Next();
      asked[static_cast<size_t>(variable)] &= values;
      const bool is_open = domains.Narrow(variable, values);
      for (const std::vector<int32_t>& chips : valid) {
        bool is_asked_for = true;
        for (size_t v = 0; v < chips.size(); ++v) {
          is_asked_for = is_asked_for && (asked[v] >> chips[v] & 1) != 0;
        }
        if (!is_asked_for) continue;
        ASSERT_TRUE(is_open);
        for (size_t v = 0; v < chips.size(); ++v) {
          ASSERT_NE(domains.Get(static_cast<int32_t>(v)) >> chips[v] & 1, 0u);
        }
      }
      if (!is_open) break;
    }
  }
}

TEST(PartitionDomainsTest, ValidPartitionsAreLeftAsTheyAre) {
  Rng rng(10);
  for (int i = 0; i < 100; ++i) {
    const PartitionGraph graph = RandomPartitionGraph(
        rng, 5 + rng.Below(60), 2 + static_cast<int32_t>(rng.Below(35)));
    const auto chips = graphs::PartitionByOrders(graph, nullptr);
    ASSERT_TRUE(chips.has_value());
    const PartitionClosure closure(graph);
    PartitionDomains domains(graph, closure);
    // FIX, in any order.
    EXPECT_EQ(
        space::Repair(domains, RandomOrder(rng, graph.size()), *chips, rng),
        *chips);
    EXPECT_EQ(domains.statistics().conflicts, 0);
  }
}

TEST(PartitionDomainsTest, RandomDrawsAreValid) {
  Rng rng(11);
  int drawn = 0;
  for (int i = 0; i < 100; ++i) {
    const PartitionGraph graph = RandomPartitionGraph(
        rng, 5 + rng.Below(80), 2 + static_cast<int32_t>(rng.Below(35)),
        i % 4 == 0);
    const PartitionClosure closure(graph);
    PartitionDomains domains(graph, closure);
    const std::vector<uint64_t> before = Left(domains);
    std::optional<std::vector<int32_t>> chips;
    for (int attempt = 0; attempt < 64 && !chips; ++attempt) {
      chips = space::Complete(
          domains, RandomOrder(rng, graph.size()),
          [&](int32_t, uint64_t left) { return space::DrawValue(left, rng); },
          nullptr, space::kFewConflicts);
      EXPECT_EQ(Left(domains), before);
    }
    if (!chips) continue;
    ++drawn;
    HONE_ASSERT_OK(graphs::CheckPartition(graph, *chips));
  }
  EXPECT_GT(drawn, 65);
}

TEST(PartitionDomainsTest, UndoRestoresEveryBit) {
  Rng rng(12);
  for (int i = 0; i < 50; ++i) {
    const PartitionGraph graph = RandomPartitionGraph(
        rng, 5 + rng.Below(30), 2 + static_cast<int32_t>(rng.Below(10)),
        i % 2 == 0);
    const PartitionClosure closure(graph);
    PartitionDomains domains(graph, closure);
    std::vector<std::pair<int32_t, std::vector<uint64_t>>> marks;
    for (int step = 0; step < 60; ++step) {
      if (!marks.empty() && rng.Below(3) == 0) {
        const size_t to = rng.Below(marks.size());
        domains.Undo(marks[to].first);
        ASSERT_EQ(Left(domains), marks[to].second);
        marks.resize(to);
        continue;
      }
      marks.push_back({domains.Mark(), Left(domains)});
      if (!domains.Narrow(static_cast<int32_t>(rng.Below(graph.size())),
                          rng.Next() | rng.Next())) {
        domains.Undo(marks.back().first);
        ASSERT_EQ(Left(domains), marks.back().second);
        marks.pop_back();
      }
    }
  }
}

TEST(PartitionDomainsTest, ATightSampleIsTheCandidateOfThePolicy) {
  // SAMPLE with all probability on a valid partition draws it.
  Rng rng(13);
  const PartitionGraph graph = RandomPartitionGraph(rng, 40, 8);
  const auto chips = graphs::PartitionByOrders(graph, nullptr);
  ASSERT_TRUE(chips.has_value());
  const PartitionClosure closure(graph);
  PartitionDomains domains(graph, closure);
  const auto drawn = space::Complete(
      domains, RandomOrder(rng, graph.size()),
      [&](int32_t variable, uint64_t left) {
        const int32_t wanted = (*chips)[static_cast<size_t>(variable)];
        EXPECT_NE(left >> wanted & 1, 0u);
        return wanted;
      });
  EXPECT_EQ(drawn, *chips);
}

}  // namespace
}  // namespace hone::tuning
