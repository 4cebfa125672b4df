#include "graphs/step/fusion_rules.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/graphs/step/fusion_by_definition.h"

namespace hone::graphs {
namespace {

using ::hone::testing::FusionByDefinition;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Builds graphs node by node; ids are the places of nodes.
class Graph {
 public:
  // Adds a node that reads all of `operands`, and `others` bytes besides.
  NodeIndex Add(const std::string& opcode, double output_bytes,
                const std::vector<NodeIndex>& operands, double flops = 0,
                double others = 0) {
    const auto node = static_cast<NodeIndex>(nodes_.size());
    double bytes = output_bytes + others;
    for (const NodeIndex operand : operands) {
      edges_.push_back({operand, node, nodes_[operand].output_bytes});
      bytes += nodes_[operand].output_bytes;
    }
    nodes_.push_back({.id = node,
                      .opcode = opcode,
                      .flops = flops,
                      .bytes = opcode == "parameter" ? 0 : bytes,
                      .output_bytes = output_bytes});
    return node;
  }
  OpNode& operator[](NodeIndex node) { return nodes_[node]; }
  OpGraph Build() const { return *OpGraph::Create(nodes_, edges_); }

 private:
  std::vector<OpNode> nodes_;
  std::vector<OpEdge> edges_;
};

Fusion Of(const OpGraph& graph, const std::vector<NodeIndex>& nodes) {
  Fusion fused(graph.size());
  for (const NodeIndex node : nodes) fused[node] = 1;
  return fused;
}

// Checks the members, inputs, flops and bytes of a kernel.
void ExpectCost(const OpGraph& graph, const std::vector<NodeIndex>& fused,
                NodeIndex root, const KernelCost& expected) {
  FusionRules rules(graph);
  const Fusion fusion = Of(graph, fused);
  const KernelCost cost = rules.Cost(root, fusion);
  EXPECT_DOUBLE_EQ(cost.flops, expected.flops);
  EXPECT_DOUBLE_EQ(cost.bytes, expected.bytes);
  EXPECT_EQ(cost.members, expected.members);
  EXPECT_EQ(cost.inputs, expected.inputs);
  EXPECT_EQ(cost.reductions, expected.reductions);
}

TEST(FusionRulesTest, AChainReadsAndWritesOnce) {
  Graph graph;
  const NodeIndex p = graph.Add("parameter", 400, {});
  const NodeIndex a = graph.Add("exponential", 400, {p}, 800);
  const NodeIndex b = graph.Add("negate", 400, {a}, 100);
  const NodeIndex c = graph.Add("add", 400, {b}, 100, /*others=*/4);
  const OpGraph built = graph.Build();
  ExpectCost(built, {}, c, {100, 804, 1, 1, 0});
  ExpectCost(built, {b}, c, {200, 804, 2, 1, 0});
  ExpectCost(built, {a, b}, c, {1000, 804, 3, 1, 0});
  ExpectCost(built, {}, p, {0, 0, 1, 0, 0});
}

TEST(FusionRulesTest, MembersComeAfterThoseThatReadThem) {
  Graph graph;
  const NodeIndex p = graph.Add("parameter", 4, {});
  const NodeIndex a = graph.Add("negate", 4, {p});
  const NodeIndex b = graph.Add("negate", 4, {a});
  const NodeIndex c = graph.Add("add", 4, {a, b});
  const OpGraph built = graph.Build();
  FusionRules rules(built);
  rules.Cost(c, Of(built, {a, b}));
  EXPECT_THAT(rules.members(), ElementsAre(c, b, a));
  rules.Cost(p, Of(built, {a, b}));
  EXPECT_THAT(rules.members(), ElementsAre(p));
  EXPECT_THAT(rules.KernelsOf(a, Of(built, {a})), ElementsAre(b, c));
  EXPECT_THAT(rules.KernelsOf(p, Of(built, {a, b})), ElementsAre(c));
  EXPECT_THAT(rules.KernelsOf(c, Of(built, {a, b})), IsEmpty());
}

TEST(FusionRulesTest, ABroadcastRepeatsWhatItReads) {
  Graph graph;
  const NodeIndex p = graph.Add("parameter", 40, {});
  const NodeIndex a = graph.Add("exponential", 40, {p}, 10);
  const NodeIndex b = graph.Add("broadcast", 400, {a});
  const NodeIndex c = graph.Add("negate", 400, {b}, 100);
  const OpGraph built = graph.Build();
  ExpectCost(built, {b}, c, {100, 440, 2, 1, 0});
  ExpectCost(built, {a, b}, c, {100 + 10 * 10, 440, 3, 1, 0});
}

TEST(FusionRulesTest, ASliceNeedsAShareOfWhatItReads) {
  Graph graph;
  const NodeIndex p = graph.Add("parameter", 400, {});
  const NodeIndex a = graph.Add("exponential", 400, {p}, 100);
  const NodeIndex s = graph.Add("slice", 40, {a});
  graph[s].bytes = 80;
  const NodeIndex c = graph.Add("negate", 40, {s}, 10);
  const OpGraph built = graph.Build();
  ExpectCost(built, {s}, c, {10, 40 + 40, 2, 1, 0});
  ExpectCost(built, {a}, s, {10, 40 + 40, 2, 1, 0});
  ExpectCost(built, {a, s}, c, {10 + 10, 40 + 40, 3, 1, 0});
}

TEST(FusionRulesTest, ADiamondIsComputedOnce) {
  Graph graph;
  const NodeIndex p = graph.Add("parameter", 400, {});
  const NodeIndex a = graph.Add("exponential", 400, {p}, 800);
  const NodeIndex b = graph.Add("negate", 400, {a, p}, 100);
  const NodeIndex c = graph.Add("sine", 400, {a, p}, 500);
  const NodeIndex d = graph.Add("add", 400, {b, c}, 100);
  ExpectCost(graph.Build(), {a, b, c}, d, {1500, 800, 4, 1, 0});
}

TEST(FusionRulesTest, SeveralUsersComputeAgain) {
  Graph graph;
  const NodeIndex p = graph.Add("parameter", 400, {});
  const NodeIndex a = graph.Add("exponential", 400, {p}, 800);
  const NodeIndex b = graph.Add("negate", 400, {a}, 100);
  const NodeIndex c = graph.Add("sine", 400, {a}, 500);
  const OpGraph built = graph.Build();
  ExpectCost(built, {a}, b, {900, 800, 2, 1, 0});
  ExpectCost(built, {a}, c, {1300, 800, 2, 1, 0});
}

TEST(FusionRulesTest, AReshapeAloneIsFree) {
  Graph graph;
  const NodeIndex p = graph.Add("parameter", 400, {});
  const NodeIndex a = graph.Add("negate", 400, {p}, 100);
  const NodeIndex r = graph.Add("reshape", 400, {a});
  const OpGraph built = graph.Build();
  ExpectCost(built, {}, r, {0, 0, 1, 1, 0});
  ExpectCost(built, {a}, r, {100, 800, 2, 1, 0});
}

// A graph in which `node` is read by a negation, and whether it may be fused.
bool FusesInto(Graph graph, NodeIndex node, const std::string& user) {
  graph.Add(user, 400, {node}, 100);
  const OpGraph built = graph.Build();
  FusionRules rules(built);
  Fusion fused(built.size());
  const bool fuses = rules.Fuse(node, fused);
  EXPECT_EQ(fused, fuses ? Of(built, {node}) : Fusion(built.size()));
  EXPECT_EQ(fused, rules.Legalize(Of(built, {node})));
  EXPECT_EQ(FusionByDefinition(built, Of(built, {node})).IsLegal(), fuses)
      << built.node(node).opcode << " into " << user;
  return fuses;
}

TEST(FusionRulesTest, OnlySomeOperatorsFuse) {
  Graph graph;
  const NodeIndex p = graph.Add("parameter", 400, {});
  const NodeIndex node = graph.Add("add", 400, {p}, 100);
  EXPECT_TRUE(FusesInto(graph, node, "exponential"));
  EXPECT_TRUE(FusesInto(graph, node, "dynamic-update-slice"));
  EXPECT_TRUE(FusesInto(graph, node, "reduce"));
  EXPECT_FALSE(FusesInto(graph, node, "dot"));
  EXPECT_FALSE(FusesInto(graph, node, "while"));
  EXPECT_FALSE(FusesInto(graph, p, "add"));
  for (const char* const opcode :
       {"dot", "custom-call", "dynamic-update-slice", "sort", "tuple"}) {
    graph[node].opcode = opcode;
    EXPECT_FALSE(FusesInto(graph, node, "add")) << opcode;
  }
}

TEST(FusionRulesTest, ResultsOfTheProgramDoNotFuse) {
  Graph graph;
  const NodeIndex p = graph.Add("parameter", 400, {});
  const NodeIndex node = graph.Add("add", 400, {p}, 100);
  graph[node].is_output = true;
  EXPECT_FALSE(FusesInto(graph, node, "negate"));
  const OpGraph built = graph.Build();
  graph[node].is_output = false;
  const OpGraph unread = graph.Build();
  EXPECT_FALSE(FusionRules(unread).may_fuse(node));
}

TEST(FusionRulesTest, ALargeReductionIsARoot) {
  Graph graph;
  const NodeIndex p = graph.Add("parameter", 1600, {});
  const NodeIndex a = graph.Add("negate", 1600, {p}, 400);
  const NodeIndex node = graph.Add("reduce", 100, {a}, 400);
  EXPECT_FALSE(FusesInto(graph, node, "negate"));
  ExpectCost(graph.Build(), {a}, node, {800, 1700, 2, 1, 1});
  graph[node].output_bytes = 104;
  EXPECT_TRUE(FusesInto(graph, node, "negate"));
}

TEST(FusionRulesTest, AKernelHasLimitedMembers) {
  Graph graph;
  NodeIndex last = graph.Add("parameter", 4, {});
  std::vector<NodeIndex> chain;
  for (int i = 0; i < 60; ++i) {
    if (i > 0) chain.push_back(last);
    last = graph.Add("negate", 4, {last});
  }
  const OpGraph built = graph.Build();
  FusionRules rules(built);
  const Fusion fused = rules.Legalize(Of(built, chain));
  // From the end: the first 12 make a kernel of what is left.
  EXPECT_EQ(fused[last - 47], 1);
  EXPECT_EQ(fused[last - 48], 0);
  EXPECT_EQ(rules.Cost(last, fused).members, FusionRules::kMaxMembers);
  EXPECT_EQ(rules.Cost(last - 48, fused).members, 12);
}

TEST(FusionRulesTest, AKernelHasLimitedInputs) {
  Graph graph;
  std::vector<NodeIndex> adds = {graph.Add("parameter", 4, {})};
  for (int i = 0; i < 24; ++i) {
    const NodeIndex left = graph.Add("parameter", 4, {});
    const NodeIndex right = graph.Add("parameter", 4, {});
    adds.push_back(graph.Add("add", 4, {left, right}, 1));
  }
  const NodeIndex root = graph.Add("concatenate", 100, adds);
  const OpGraph built = graph.Build();
  FusionRules rules(built);
  Fusion fused(built.size());
  for (size_t i = 1; i < 24; ++i) EXPECT_TRUE(rules.Fuse(adds[i], fused));
  EXPECT_EQ(rules.Cost(root, fused).inputs, FusionRules::kMaxInputs);
  EXPECT_FALSE(rules.Fuse(adds[24], fused));
  const std::vector<NodeIndex> most(adds.begin() + 1, adds.end() - 1);
  EXPECT_EQ(rules.Legalize(Of(built, most)), Of(built, most));
  const std::vector<NodeIndex> all(adds.begin() + 1, adds.end());
  EXPECT_NE(rules.Legalize(Of(built, all)), Of(built, all));
}

TEST(FusionRulesTest, AKernelMayReadMoreOnTheWayToWhatIsLegal) {
  Graph graph;
  std::vector<NodeIndex> arguments;
  std::vector<NodeIndex> parts;
  for (int i = 0; i < 10; ++i)
    arguments.push_back(graph.Add("parameter", 4, {}));
  for (int i = 0; i < 47; ++i) {
    parts.push_back(graph.Add("concatenate", 40, arguments));
  }
  graph.Add("concatenate", 1880, parts);
  const OpGraph built = graph.Build();
  FusionRules rules(built);
  Fusion fused(built.size());
  EXPECT_FALSE(rules.Fuse(parts[0], fused));
  EXPECT_EQ(rules.Legalize(Of(built, parts)), Of(built, parts));
}

TEST(FusionRulesTest, ANodeIsInAFewKernelsUnlessItCostsNothing) {
  for (const bool cheap : {false, true}) {
    SCOPED_TRACE(cheap);
    Graph graph;
    const NodeIndex p = graph.Add("parameter", 4, {});
    const NodeIndex a =
        cheap ? graph.Add("iota", 4, {}) : graph.Add("negate", 4, {p}, 1);
    const NodeIndex b = graph.Add("add", 4, {a, p}, 1);
    graph.Add("negate", 4, {a}, 1);
    for (int i = 0; i < 8; ++i) graph.Add("negate", 4, {b}, 1);
    const OpGraph built = graph.Build();
    FusionRules rules(built);
    EXPECT_EQ(rules.is_cheap(a), cheap);
    Fusion fused(built.size());
    // In the kernel of b and one more; with b fused in 8 and one more.
    EXPECT_TRUE(rules.Fuse(a, fused));
    EXPECT_EQ(rules.Fuse(b, fused), cheap);
    EXPECT_EQ(rules.KernelsOf(a, Of(built, {a, b})).size(), 9);
    Fusion other(built.size());
    EXPECT_TRUE(rules.Fuse(b, other));
    EXPECT_EQ(rules.Fuse(a, other), cheap);
  }
}

TEST(FusionRulesTest, WeightsOfMoreThanAScalarCost) {
  Graph graph;
  const NodeIndex a = graph.Add("broadcast", 400, {}, 0, /*others=*/16);
  graph.Add("negate", 400, {a});
  for (const double bytes : {16, 17}) {
    graph[a].parameter_bytes = bytes;
    const OpGraph built = graph.Build();
    EXPECT_EQ(FusionRules(built).is_cheap(a), bytes == 16);
  }
}

// Broadcasts of broadcasts: what they multiply stays finite.
TEST(FusionRulesTest, UsesAreBounded) {
  Graph graph;
  NodeIndex last = graph.Add("iota", 1, {}, 1e18);
  std::vector<NodeIndex> fused = {last};
  for (int i = 0; i < 36; ++i) {
    // Each reads one byte of the one before, and repeats it.
    last = graph.Add("broadcast", 1e15, {last}, 1e18);
    fused.push_back(last);
  }
  last = graph.Add("tanh", 1e15, {last}, 1e18);
  std::vector<OpNode> nodes;
  std::vector<OpEdge> edges;
  const OpGraph whole = graph.Build();
  for (size_t i = 0; i < whole.size(); ++i) {
    nodes.push_back(whole.node(static_cast<NodeIndex>(i)));
  }
  for (OpEdge edge : whole.edges()) {
    edge.bytes = 1;
    edges.push_back(edge);
  }
  const OpGraph narrow = *OpGraph::Create(nodes, edges);
  FusionRules rules(narrow);
  const KernelCost cost = rules.Cost(last, Of(narrow, fused));
  EXPECT_EQ(cost.members, 38);
  EXPECT_GT(cost.flops, 1e36);
  EXPECT_LT(cost.flops, 1e38);
}

// What no kernel could read is no root of others, and none of their members.
TEST(FusionRulesTest, NodesWithTooManyOperandsStandAlone) {
  for (const size_t operands : {size_t{96}, size_t{97}}) {
    Graph graph;
    std::vector<NodeIndex> read;
    for (size_t i = 0; i < operands; ++i) {
      read.push_back(graph.Add("dot", 8, {}, 1));
    }
    const NodeIndex wide = graph.Add("add", 8, read, 1);
    graph.Add("add", 8, {wide}, 1);
    const OpGraph built = graph.Build();
    FusionRules rules(built);
    EXPECT_EQ(rules.may_consume(wide), operands == 96);
    EXPECT_EQ(rules.may_fuse(wide), operands == 96);
    Fusion fused(built.size());
    EXPECT_FALSE(rules.Fuse(wide, fused));
  }
}

}  // namespace
}  // namespace hone::graphs
