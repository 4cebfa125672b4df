#include "tuning/tasks/partition_draw.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/rng.h"
#include "graphs/mcm/partition_graph.h"
#include "space/domains.h"
#include "tests/graphs/mcm/partition_by_definition.h"
#include "tests/graphs/mcm/random_partition_graph.h"
#include "tests/support/status_matchers.h"
#include "tuning/tasks/partition_closure.h"
#include "tuning/tasks/partition_domains.h"
#include "tuning/tasks/partition_problem.h"

namespace hone::tuning {
namespace {

using graphs::PartitionGraph;
using ::hone::testing::ForEachPartition;
using ::hone::testing::IsValidByDefinition;
using ::hone::testing::RandomPartitionGraph;
using ::hone::testing::SmallPackage;

using Chips = std::vector<int32_t>;

std::vector<uint64_t> Left(const space::Domains& domains) {
  std::vector<uint64_t> left;
  for (int32_t v = 0; v < domains.variable_count(); ++v) {
    left.push_back(domains.Get(v));
  }
  return left;
}

std::set<Chips> AllValid(const PartitionGraph& graph) {
  std::set<Chips> valid;
  ForEachPartition(graph, [&](const Chips& chips) {
    if (IsValidByDefinition(graph, chips)) valid.insert(chips);
  });
  return valid;
}

// A chain of many nodes, and now and then one that is read again later. Its
// weights take a share of the memory of all chips.
PartitionGraph TightChain(Rng& rng, size_t count, int32_t chips, double share,
                          bool has_skips) {
  std::vector<graphs::OpNode> nodes;
  std::vector<graphs::OpEdge> edges;
  double total = 0;
  for (size_t i = 0; i < count; ++i) {
    const auto id = static_cast<int64_t>(i);
    const auto bytes = static_cast<double>(10 + rng.Below(90));
    total += bytes;
    nodes.push_back({.id = id,
                     .name = absl::StrCat("n", i),
                     .opcode = "dot",
                     .flops = 1e6 * static_cast<double>(1 + rng.Below(8)),
                     .output_bytes = 8,
                     .parameter_bytes = bytes});
    if (i > 0) edges.push_back({id - 1, id, 8});
    if (has_skips && i > 3 && rng.Below(8) == 0) {
      edges.push_back({id - 3, id, 8});
    }
  }
  auto graph = PartitionGraph::Create(
      *graphs::OpGraph::Create(std::move(nodes), std::move(edges)),
      SmallPackage(chips, total / (share * chips)));
  HONE_EXPECT_OK(graph);
  return *std::move(graph);
}

TEST(PartitionDraw, KeepsTheRulesAndLeavesTheDomains) {
  Rng rng(50);
  int drawn = 0;
  for (int i = 0; i < 60; ++i) {
    const bool is_tight = i % 3 == 0;
    // With many chips and arcs at random, tries may all fail.
    const bool is_hard = i % 10 == 1;
    const PartitionGraph graph = RandomPartitionGraph(
        rng, 2 + rng.Below(is_tight ? 10 : 60),
        is_hard ? 36 : 1 + static_cast<int32_t>(rng.Below(12)), is_tight);
    const PartitionClosure closure(graph);
    PartitionDomains domains(graph, closure);
    const std::vector<uint64_t> before = Left(domains);
    for (int draw = 0; draw < 5; ++draw) {
      const auto chips = DrawPartition(graph, domains, rng, nullptr);
      ASSERT_EQ(Left(domains), before);
      if (!chips) {
        EXPECT_TRUE(is_tight || is_hard) << i;
        continue;
      }
      ++drawn;
      ASSERT_EQ(chips->size(), graph.size());
      EXPECT_TRUE(IsValidByDefinition(graph, *chips));
    }
  }
  EXPECT_GT(drawn, 200);
}

// Domains that were narrowed before bound the draw, and are left as they were.
TEST(PartitionDraw, HeedsWhatIsNarrowed) {
  Rng rng(51);
  int drawn = 0;
  for (int i = 0; i < 100; ++i) {
    const PartitionGraph graph =
        RandomPartitionGraph(rng, 3 + rng.Below(10), 4, i % 2 == 0);
    const PartitionClosure closure(graph);
    PartitionDomains domains(graph, closure);
    const auto node = static_cast<int32_t>(rng.Below(graph.size()));
    const auto allowed = uint64_t{1} + rng.Below(15);
    if (!domains.Narrow(node, allowed)) continue;
    const std::vector<uint64_t> before = Left(domains);
    const auto chips = DrawPartition(graph, domains, rng, nullptr);
    ASSERT_EQ(Left(domains), before);
    if (!chips) continue;
    ++drawn;
    EXPECT_TRUE(IsValidByDefinition(graph, *chips));
    EXPECT_NE(allowed >> (*chips)[static_cast<size_t>(node)] & 1, 0u);
  }
  EXPECT_GT(drawn, 50);
}

TEST(PartitionDraw, DrawsEachPartitionWhereMemoryIsAmple) {
  Rng rng(52);
  size_t partitions = 0;
  for (int i = 0; i < 80; ++i) {
    const PartitionGraph graph = RandomPartitionGraph(
        rng, 2 + rng.Below(5), 1 + static_cast<int32_t>(rng.Below(4)));
    const std::set<Chips> valid = AllValid(graph);
    const PartitionClosure closure(graph);
    PartitionDomains domains(graph, closure);
    std::set<Chips> drawn;
    for (int draw = 0; draw < 20'000 && drawn.size() < valid.size(); ++draw) {
      const auto chips = DrawPartition(graph, domains, rng, nullptr);
      ASSERT_TRUE(chips.has_value());
      drawn.insert(*chips);
    }
    EXPECT_EQ(drawn, valid) << i;
    partitions += valid.size();
  }
  EXPECT_GT(partitions, 300u);
}

TEST(PartitionDraw, FailsOnlyWhereThereIsNone) {
  Rng rng(53);
  int possible = 0;
  int impossible = 0;
  int failed = 0;
  for (int i = 0; i < 200; ++i) {
    const PartitionGraph graph = RandomPartitionGraph(
        rng, 2 + rng.Below(5), 1 + static_cast<int32_t>(rng.Below(4)),
        /*is_tight=*/true);
    const std::set<Chips> valid = AllValid(graph);
    const PartitionClosure closure(graph);
    PartitionDomains domains(graph, closure);
    for (int draw = 0; draw < 5; ++draw) {
      const auto chips = DrawPartition(graph, domains, rng, nullptr);
      if (valid.empty()) {
        ++impossible;
        EXPECT_FALSE(chips.has_value());
      } else {
        ++possible;
        failed += chips.has_value() ? 0 : 1;
      }
    }
  }
  EXPECT_GT(possible, 300);
  EXPECT_GT(impossible, 30);
  EXPECT_LE(failed, possible / 100);
}

TEST(PartitionDraw, SucceedsWhereMemoryIsTight) {
  Rng rng(54);
  for (const double share : {0.5, 0.6, 0.7, 0.8, 0.9}) {
    size_t different = 0;
    std::set<int32_t> used;
    for (int i = 0; i < 6; ++i) {
      const PartitionGraph graph =
          TightChain(rng, 200, i < 3 ? 8 : 16, share, i % 2 == 0);
      const PartitionClosure closure(graph);
      PartitionDomains domains(graph, closure);
      const std::vector<uint64_t> before = Left(domains);
      std::set<Chips> of_graph;
      for (int draw = 0; draw < 8; ++draw) {
        const auto drawn = DrawPartition(graph, domains, rng, nullptr);
        ASSERT_EQ(Left(domains), before);
        ASSERT_TRUE(drawn.has_value()) << share;
        EXPECT_TRUE(IsValidByDefinition(graph, *drawn));
        of_graph.insert(*drawn);
        used.insert(*std::max_element(drawn->begin(), drawn->end()));
      }
      different += of_graph.size();
    }
    // Draws agree where memory alone says how full chips are.
    EXPECT_GE(different, share < 0.7 ? 30u : 15u) << share;
    EXPECT_GE(used.size(), 2u);
  }
}

// Fills chips with all that fits, in the order of a chain: as few chips as
// there can be.
int32_t FewestChips(const PartitionGraph& graph) {
  int32_t used = 1;
  double bytes = 0;
  for (const graphs::NodeIndex node : graph.topological_order()) {
    bytes += graph.node(node).resident_bytes;
    if (bytes <= graph.memory_bytes()) continue;
    bytes = graph.node(node).resident_bytes;
    ++used;
  }
  return used;
}

TEST(PartitionDraw, FailsOnNoChainThatFits) {
  Rng rng(57);
  int possible = 0;
  int impossible = 0;
  for (int i = 0; i < 200; ++i) {
    const PartitionGraph graph =
        TightChain(rng, 100, i % 2 == 0 ? 8 : 16, 0.85 + 0.14 * rng.Uniform(),
                   /*has_skips=*/false);
    const bool fits = FewestChips(graph) <= graph.chips();
    ++(fits ? possible : impossible);
    const PartitionClosure closure(graph);
    PartitionDomains domains(graph, closure);
    EXPECT_EQ(DrawPartition(graph, domains, rng, nullptr).has_value(), fits)
        << i;
  }
  EXPECT_GT(possible, 50);
  EXPECT_GT(impossible, 50);
}

// Two variables of two values, of which the first may not be 0. That shows when
// the second is decided.
class LateConflict final : public space::Domains {
 public:
  int32_t variable_count() const override { return free_->variable_count(); }
  uint64_t Get(int32_t variable) const override { return free_->Get(variable); }
  bool Narrow(int32_t variable, uint64_t values) override {
    return free_->Narrow(variable, values) &&
           !(Get(0) == 0b01 && std::has_single_bit(Get(1)));
  }
  int32_t Mark() override { return free_->Mark(); }
  void Undo(int32_t mark) override { free_->Undo(mark); }

 private:
  const std::unique_ptr<space::Domains> free_ = space::MakeFreeDomains({2, 2});
};

// The first node counts where it ends up, not where it was tried before.
TEST(PartitionDraw, FillsAfterAConflictByWhatIsOnTheChips) {
  std::vector<graphs::OpNode> nodes;
  for (int64_t i = 0; i < 2; ++i) {
    nodes.push_back(
        {.id = i, .opcode = "dot", .flops = 1e6, .parameter_bytes = 60});
  }
  HONE_ASSERT_OK_AND_ASSIGN(
      const PartitionGraph graph,
      PartitionGraph::Create(*graphs::OpGraph::Create(nodes, {}),
                             SmallPackage(2, 100)));
  ASSERT_EQ(graph.size(), 2u);
  ASSERT_EQ(graph.topological_order()[0], 0u);
  for (uint64_t seed = 0; seed < 10; ++seed) {
    LateConflict domains;
    Rng rng(seed);
    EXPECT_EQ(DrawPartition(graph, domains, rng, nullptr), Chips({1, 0}));
  }
}

// A graph for one chip, or of one node, leaves nothing to decide.
TEST(PartitionDraw, FailsWhereTheOnlyPartitionDoesNotFit) {
  Rng rng(58);
  for (const auto& [size, chips] :
       {std::pair<size_t, int32_t>{2, 1}, {30, 1}, {1, 2}, {1, 36}}) {
    for (const bool fits : {false, true}) {
      std::vector<graphs::OpNode> nodes;
      for (size_t i = 0; i < size; ++i) {
        nodes.push_back({.id = static_cast<int64_t>(i),
                         .opcode = "dot",
                         .flops = 1e6,
                         .parameter_bytes = 60});
      }
      const double bytes = 60 * static_cast<double>(size);
      HONE_ASSERT_OK_AND_ASSIGN(
          const PartitionGraph graph,
          PartitionGraph::Create(
              *graphs::OpGraph::Create(nodes, {}),
              SmallPackage(chips, fits ? bytes : bytes - 1)));
      const PartitionClosure closure(graph);
      PartitionDomains domains(graph, closure);
      const auto drawn = DrawPartition(graph, domains, rng, nullptr);
      EXPECT_EQ(drawn.has_value(), fits);
      if (drawn) {
        EXPECT_EQ(*drawn, Chips(size));
      }
    }
  }
}

// Chips are not all used up by the first few nodes.
TEST(PartitionDraw, HasPartsOfAllSizes) {
  Rng rng(55);
  const PartitionGraph graph = TightChain(rng, 100, 8, 0.01, false);
  const PartitionClosure closure(graph);
  PartitionDomains domains(graph, closure);
  std::vector<double> mean(8);
  double most = 0;
  constexpr int kDraws = 60;
  for (int draw = 0; draw < kDraws; ++draw) {
    const auto chips = DrawPartition(graph, domains, rng, nullptr);
    ASSERT_TRUE(chips.has_value());
    std::vector<double> sizes(8);
    for (const int32_t chip : *chips) ++sizes[static_cast<size_t>(chip)];
    most += *std::max_element(sizes.begin(), sizes.end()) / kDraws;
    for (size_t c = 0; c < 8; ++c) mean[c] += sizes[c] / kDraws;
  }
  // No chip has most of the graph as a rule.
  EXPECT_LT(most, 80);
  EXPECT_LT(*std::max_element(mean.begin(), mean.end()), 50);
}

TEST(PartitionDraw, IsDeterministicBySeedAndThatOfTheProblem) {
  Rng rng(56);
  for (uint64_t i = 0; i < 10; ++i) {
    const graphs::Package package = SmallPackage(6, 1e9);
    const PartitionGraph graph =
        RandomPartitionGraph(rng, 5 + rng.Below(30), 6);
    const auto problem =
        PartitionProblem::Create(graph, package, PartitionObjective::kModelled);
    HONE_ASSERT_OK(problem);
    const PartitionClosure closure(graph);
    PartitionDomains domains(graph, closure);
    const auto made = (*problem)->MakeDomains();
    Rng a(i);
    Rng b(i);
    std::set<Chips> different;
    for (int draw = 0; draw < 5; ++draw) {
      const auto chips = DrawPartition(graph, domains, a, nullptr);
      ASSERT_TRUE(chips.has_value());
      EXPECT_EQ((*problem)->Draw(*made, b, nullptr), chips);
      different.insert(*chips);
    }
    EXPECT_GT(different.size(), 1u);
    EXPECT_EQ((*problem)->evaluations(), 0);
  }
}

}  // namespace
}  // namespace hone::tuning
