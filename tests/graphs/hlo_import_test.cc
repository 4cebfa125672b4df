#include "graphs/hlo_import.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "hlo/analysis/cost_analysis.h"
#include "hlo/text/parser.h"
#include "tests/graphs/named_graph.h"
#include "tests/support/status_matchers.h"

namespace hone::graphs {
namespace {

using ::hone::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

// Regions that entries below call.
constexpr char kRegions[] = R"(HloModule m
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT sum = f32[] add(a, b)
}
work {
  p = f32[8] parameter(0)
  q = f32[8] multiply(p, p)
  ROOT r = f32[8] add(q, p)
}
pair {
  p = f32[8] parameter(0)
  e = f32[2] slice(p), slice={[0:2]}
  ROOT both = (f32[8], f32[2]) tuple(p, e)
}
step {
  s = (s32[], f32[8], f32[8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  j = s32[] add(i, one)
  x = f32[8] get-tuple-element(s), index=1
  w = f32[8] get-tuple-element(s), index=2
  y = f32[8] multiply(x, w)
  ROOT t = (s32[], f32[8], f32[8]) tuple(j, y, w)
}
more {
  s = (s32[], f32[8], f32[8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  ten = s32[] constant(10)
  ROOT c = pred[] compare(i, ten), direction=LT
}
reads {
  s = (s32[], f32[8], f32[8]) parameter(0)
  x = f32[8] get-tuple-element(s), index=1
  i = s32[] get-tuple-element(s), index=0
  ten = s32[] constant(10)
  ROOT c = pred[] compare(i, ten), direction=LT
}
ENTRY main {
)";

hlo::Module Parse(const std::string& entry) {
  absl::StatusOr<hlo::Module> module =
      hlo::ParseHloText(absl::StrCat(kRegions, entry, "\n}\n"));
  HONE_EXPECT_OK(module);
  return module.ok() ? *std::move(module) : hlo::Module();
}

// The graph of an entry computation, with nodes by name.
class Imported : public testing::NamedGraph {
 public:
  explicit Imported(const std::string& entry) : Imported(Parse(entry)) {}
  explicit Imported(const hlo::Module& module) {
    const absl::StatusOr<OpGraph> graph = ImportHlo(module);
    HONE_EXPECT_OK(graph);
    if (graph.ok()) testing::NamedGraph::operator=(testing::NamedGraph(*graph));
  }
};

TEST(HloImportTest, ANodeHasItsWorkAndAnEdgeItsBytes) {
  const Imported graph(R"(
  x = f32[4,8] parameter(0)
  w = f32[8,2] parameter(1)
  y = f32[4,2] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  e = f32[4,2] exponential(y)
  ROOT z = f32[4,2] add(y, e))");
  EXPECT_THAT(graph.names, ElementsAre("y", "e", "z"));
  EXPECT_EQ(graph.nodes.at("y"), (OpNode{.id = 0,
                                         .name = "y",
                                         .opcode = "dot",
                                         .flops = 128,
                                         .bytes = 128 + 64 + 32,
                                         .output_bytes = 32,
                                         .parameter_bytes = 128 + 64}));
  // A transcendental counts as a flop.
  EXPECT_EQ(graph.nodes.at("e").flops, 8);
  EXPECT_THAT(
      graph.edges,
      UnorderedElementsAre(Pair("y e", 32), Pair("y z", 32), Pair("e z", 32)));
}

TEST(HloImportTest, EdgesGoThroughTuplesToTheElementsThatAreRead) {
  const Imported graph(R"(
  x = f32[8] parameter(0)
  f = (f32[8], f32[2]) fusion(x), kind=kLoop, calls=pair
  f0 = f32[8] get-tuple-element(f), index=0
  f1 = f32[2] get-tuple-element(f), index=1
  n = f32[8] negate(f0)
  nested = ((f32[8], f32[2]), f32[8]) tuple(f, n)
  inner = (f32[8], f32[2]) get-tuple-element(nested), index=0
  again = f32[2] get-tuple-element(inner), index=1
  last = f32[8] get-tuple-element(nested), index=1
  b = f32[1,2] bitcast(again)
  m = f32[1,2] negate(b)
  k = f32[8] abs(last)
  ROOT r = (f32[1,2], f32[8], f32[2]) tuple(m, k, f1))");
  EXPECT_THAT(graph.names, ElementsAre("f", "n", "m", "k"));
  EXPECT_THAT(graph.edges, UnorderedElementsAre(Pair("f n", 32), Pair("f m", 8),
                                                Pair("n k", 32)));
  EXPECT_EQ(graph.nodes.at("f").output_bytes, 40);
  EXPECT_EQ(graph.nodes.at("f").parameter_bytes, 32);
}

TEST(HloImportTest, AnElementThatIsReadTwiceIsSentOnce) {
  const Imported graph(R"(
  x = f32[8] parameter(0)
  f = (f32[8], f32[2]) fusion(x), kind=kLoop, calls=pair
  f0 = f32[8] get-tuple-element(f), index=0
  c = () custom-call(f, f0, f0), custom_call_target="c", custom_call_has_side_effect=true
  a = f32[8] add(f0, f0)
  ROOT r = f32[8] copy(a), control-predecessors={c})");
  EXPECT_THAT(graph.edges,
              UnorderedElementsAre(Pair("f c", 40), Pair("f a", 32),
                                   Pair("a r", 32), Pair("c r", 0)));
}

TEST(HloImportTest, CalledComputationsAreWorkOfTheCaller) {
  const Imported graph(R"(
  x = f32[8] parameter(0)
  f = f32[8] fusion(x), kind=kLoop, calls=work
  c = f32[8] call(f), to_apply=work
  zero = f32[] constant(0)
  ROOT r = f32[] reduce(c, zero), dimensions={0}, to_apply=add)");
  EXPECT_THAT(graph.names, ElementsAre("f", "c", "r"));
  EXPECT_EQ(graph.nodes.at("f").flops, 16);
  EXPECT_EQ(graph.nodes.at("f").bytes, 64);
  EXPECT_EQ(graph.nodes.at("c").flops, 16);
  EXPECT_EQ(graph.nodes.at("c").bytes, 2 * 96);
  EXPECT_EQ(graph.nodes.at("r").flops, 7);
  EXPECT_EQ(graph.nodes.at("r").parameter_bytes, 4);
}

TEST(HloImportTest, ALoopIsANodeThatRunsAsOftenAsItSays) {
  const std::string entry = R"(
  i = s32[] constant(0)
  x = f32[8] parameter(0)
  w = f32[8] parameter(1)
  y = f32[8] negate(x)
  init = (s32[], f32[8], f32[8]) tuple(i, y, w)
  l = (s32[], f32[8], f32[8]) while(init), condition=more, body=step$
  z = f32[8] get-tuple-element(l), index=1
  ROOT r = f32[8] add(z, z))";
  const Imported once(
      absl::StrReplaceAll(entry, {{"$", ""}, {"constant(0)", "parameter(2)"}}));
  const Imported found(absl::StrReplaceAll(entry, {{"$", ""}}));
  const Imported stated(absl::StrReplaceAll(
      entry, {{"$", ", backend_config={\"known_trip_count\":{\"n\":\"7\"}}"}}));
  EXPECT_THAT(once.names, ElementsAre("y", "l", "r"));
  EXPECT_EQ(once.nodes.at("l").flops, 1 + 8 + 1);
  EXPECT_EQ(found.nodes.at("l").flops, 100);
  EXPECT_EQ(stated.nodes.at("l").flops, 70);
  EXPECT_EQ(found.nodes.at("l").bytes, 10 * once.nodes.at("l").bytes);
  // The weights and the constant of the loop.
  EXPECT_EQ(once.nodes.at("l").parameter_bytes, 32 + 4);
  EXPECT_THAT(once.edges,
              UnorderedElementsAre(Pair("y l", 32), Pair("l r", 32)));
}

// JAX reads all elements in the condition.
TEST(HloImportTest, DeadReadsDoNotHideATripCount) {
  hlo::Module module = Parse(R"(
  i = s32[] constant(0)
  x = f32[8] parameter(0)
  init = (s32[], f32[8], f32[8]) tuple(i, x, x)
  ROOT l = (s32[], f32[8], f32[8]) while(init), condition=reads, body=step)");
  EXPECT_EQ(Imported(module).nodes.at("l").flops, 100);
}

TEST(HloImportTest, AParameterIsANodeWhereSeveralNodesReadIt) {
  const Imported graph(R"(
  own = f32[8] parameter(0)
  shared = f32[8] parameter(1)
  unread = f32[8] parameter(2)
  passed = f32[8] parameter(3)
  a = f32[8] add(own, shared)
  b = f32[8] add(a, shared)
  ROOT r = (f32[8], f32[8]) tuple(b, passed))");
  EXPECT_THAT(graph.names, ElementsAre("shared", "a", "b"));
  EXPECT_EQ(graph.nodes.at("shared"), (OpNode{.id = 0,
                                              .name = "shared",
                                              .opcode = "parameter",
                                              .output_bytes = 32,
                                              .parameter_bytes = 32}));
  EXPECT_EQ(graph.nodes.at("a").parameter_bytes, 32);
  EXPECT_EQ(graph.nodes.at("b").parameter_bytes, 0);
  EXPECT_THAT(graph.edges,
              UnorderedElementsAre(Pair("shared a", 32), Pair("shared b", 32),
                                   Pair("a b", 32)));
}

TEST(HloImportTest, ElementsOfATupleParameterAreSharedOneByOne) {
  const Imported graph(R"(
  p = (f32[8], f32[2], (f32[4], f32[1])) parameter(0)
  p0 = f32[8] get-tuple-element(p), index=0
  p1 = f32[2] get-tuple-element(p), index=1
  p2 = (f32[4], f32[1]) get-tuple-element(p), index=2
  p20 = f32[4] get-tuple-element(p2), index=0
  a = f32[8] negate(p0)
  b = f32[2] negate(p1)
  c = f32[2] abs(p1)
  d = f32[4] negate(p20)
  e = () custom-call(p2, d), custom_call_target="c", custom_call_has_side_effect=true
  ROOT r = (f32[8], f32[2], f32[2]) tuple(a, b, c))");
  EXPECT_EQ(graph.nodes.at("p").parameter_bytes, 8 + 16);
  EXPECT_EQ(graph.nodes.at("p").output_bytes, 8 + 16);
  EXPECT_EQ(graph.nodes.at("a").parameter_bytes, 32);
  EXPECT_EQ(graph.nodes.at("b").parameter_bytes, 0);
  EXPECT_EQ(graph.nodes.at("e").parameter_bytes, 4);
  EXPECT_THAT(graph.edges, UnorderedElementsAre(
                               Pair("p b", 8), Pair("p c", 8), Pair("p d", 16),
                               Pair("p e", 16), Pair("d e", 16)));
}

TEST(HloImportTest, EveryReaderHoldsAConstant) {
  const Imported graph(R"(
  x = f32[2] parameter(0)
  c = f32[2] constant({1, 2})
  a = f32[2] add(x, c)
  ROOT b = f32[2] multiply(a, c))");
  EXPECT_THAT(graph.names, ElementsAre("a", "b"));
  EXPECT_EQ(graph.nodes.at("a").parameter_bytes, 8 + 8);
  EXPECT_EQ(graph.nodes.at("b").parameter_bytes, 8);
}

TEST(HloImportTest, TokensAndControlDependencesCarryNoBytes) {
  const Imported graph(R"(
  x = f32[8] parameter(0)
  t = token[] after-all()
  i = (f32[8], token[]) infeed(t)
  i0 = f32[8] get-tuple-element(i), index=0
  i1 = token[] get-tuple-element(i), index=1
  n = f32[8] negate(x)
  o = token[] outfeed(n, i1), outfeed_shape=f32[8]
  all = token[] after-all(i1, o)
  d = f32[8] add-dependency(i0, all)
  ROOT r = f32[8] abs(d), control-predecessors={n})");
  EXPECT_THAT(
      graph.edges,
      UnorderedElementsAre(Pair("t i", 0), Pair("i o", 0), Pair("n o", 32),
                           Pair("i all", 0), Pair("o all", 0), Pair("i d", 32),
                           Pair("all d", 0), Pair("d r", 32), Pair("n r", 0)));
  EXPECT_EQ(graph.nodes.at("all").bytes, 0);
}

// What waits between the halves would otherwise be before and after one node.
TEST(HloImportTest, TheHalvesOfAnAsynchronousPairAreOneNode) {
  const Imported graph(R"(
  x = f32[8] parameter(0)
  n = f32[8] negate(x)
  s = (f32[8], f32[8], u32[]) copy-start(n)
  m = f32[8] multiply(n, n), control-predecessors={s}
  d = f32[8] copy-done(s), control-predecessors={m}
  ROOT r = f32[8] add(d, m))");
  EXPECT_THAT(graph.names, ElementsAre("n", "s", "m", "r"));
  EXPECT_THAT(graph.edges, UnorderedElementsAre(
                               Pair("n s", 32), Pair("n m", 32), Pair("s m", 0),
                               Pair("s r", 32), Pair("m r", 32)));
  EXPECT_EQ(graph.nodes.at("s").output_bytes, 32);
}

TEST(HloImportTest, BarriersPassValuesOn) {
  const Imported graph(R"(
  x = f32[8] parameter(0)
  y = f32[2] parameter(1)
  a = f32[8] negate(x)
  b = f32[2] negate(y)
  t = (f32[8], f32[2]) tuple(a, b)
  o = (f32[8], f32[2]) opt-barrier(t)
  o1 = f32[2] get-tuple-element(o), index=1
  ROOT r = f32[2] abs(o1))");
  EXPECT_THAT(graph.names, ElementsAre("a", "b", "r"));
  EXPECT_THAT(graph.edges, UnorderedElementsAre(Pair("b r", 8)));
}

TEST(HloImportTest, AModuleWithoutWorkIsItsRoot) {
  const Imported one("ROOT x = f32[8] parameter(0)");
  EXPECT_EQ(one.nodes.at("x"), (OpNode{.name = "x",
                                       .opcode = "parameter",
                                       .output_bytes = 32,
                                       .parameter_bytes = 32,
                                       .is_output = true}));
  const Imported two(R"(
  x = f32[8] parameter(0)
  c = f32[2] constant({1, 2})
  ROOT t = (f32[8], f32[2], f32[8]) tuple(x, c, x))");
  EXPECT_EQ(two.nodes.at("t"), (OpNode{.name = "t",
                                       .opcode = "tuple",
                                       .output_bytes = 72,
                                       .parameter_bytes = 40}));
  EXPECT_FALSE(two.nodes.at("t").is_output);
  const Imported none("ROOT t = () tuple()");
  EXPECT_THAT(none.names, ElementsAre("t"));
}

TEST(HloImportTest, WhatTheProgramReturnsIsMarked) {
  const std::string entry = R"(
  x = f32[8] parameter(0)
  y = f32[8] parameter(1)
  f = (f32[8], f32[2]) fusion(x), kind=kLoop, calls=pair
  f0 = f32[8] get-tuple-element(f), index=0
  n = f32[8] negate(y)
  a = f32[8] add(f0, n)
  b = f32[8] multiply(a, y)
  s = (f32[8], f32[8], u32[]) copy-start(a)
  d = f32[8] copy-done(s)
  t = (f32[8], f32[8]) tuple(b, f0)
  o = (f32[8], f32[8]) opt-barrier(t)
  o1 = f32[8] get-tuple-element(o), index=1
  ROOT r = $)";
  const auto outputs = [&](const std::string& root) {
    const Imported graph(absl::StrReplaceAll(entry, {{"$", root}}));
    std::vector<std::string> found;
    for (const auto& [name, node] : graph.nodes) {
      if (node.is_output) found.push_back(name);
    }
    return found;
  };
  EXPECT_THAT(outputs("f32[8] abs(b)"), ElementsAre("r"));
  EXPECT_THAT(outputs("(f32[8], f32[8]) tuple(n, b)"), ElementsAre("b", "n"));
  // Through barriers, tuples and the second half of a pair; an element counts
  // as all of its result.
  EXPECT_THAT(outputs("(f32[8], f32[8]) tuple(o1, d)"), ElementsAre("f", "s"));
  // Arguments are there before the step and after it.
  EXPECT_THAT(outputs("(f32[8], f32[8], f32[8]) tuple(y, x, n)"),
              ElementsAre("n"));
}

TEST(HloImportTest, NodesHaveTheScopeOfTheirMetadata) {
  const Imported graph(R"(
  x = f32[8] parameter(0)
  a = f32[8] negate(x), metadata={op_name="jit(f)/transpose(jvp(layer1))/attention/neg"}
  b = f32[8] abs(a), metadata={op_name="jit(f)/abs" source_line=3}
  ROOT c = f32[8] exponential(b))");
  EXPECT_EQ(graph.nodes.at("a").scope, "layer1/attention");
  EXPECT_EQ(graph.nodes.at("b").scope, "");
  EXPECT_EQ(graph.nodes.at("c").scope, "");
}

TEST(HloImportTest, InstructionsAreFoundByTheirNodes) {
  const hlo::Module module = Parse(R"(
  x = f32[8] parameter(0)
  own = f32[8] parameter(1)
  c = f32[8] constant({1, 2, 3, 4, 5, 6, 7, 8})
  a = f32[8] add(x, own)
  s = (f32[8], f32[8], u32[]) copy-start(a)
  d = f32[8] copy-done(s)
  b = f32[8] multiply(x, c)
  ROOT r = (f32[8], f32[8]) tuple(d, b))");
  HONE_ASSERT_OK_AND_ASSIGN(const ImportedHlo imported,
                            ImportHloWithNodes(module));
  HONE_ASSERT_OK_AND_ASSIGN(const OpGraph graph, ImportHlo(module));
  EXPECT_EQ(imported.graph, graph);
  std::map<std::string, std::string> found;
  for (const hlo::Instruction& instruction :
       module.entry_computation().instructions()) {
    const int32_t node = imported.nodes[static_cast<size_t>(instruction.id())];
    found[instruction.name()] =
        node < 0 ? "" : graph.node(static_cast<NodeIndex>(node)).name;
  }
  EXPECT_THAT(found, UnorderedElementsAre(Pair("x", "x"), Pair("own", ""),
                                          Pair("c", ""), Pair("a", "a"),
                                          Pair("s", "s"), Pair("d", "s"),
                                          Pair("b", "b"), Pair("r", "")));
}

// The order is that of the fingerprint, so neither names nor the order of lines
// count.
TEST(HloImportTest, NodesAreInTheOrderOfTheFingerprint) {
  const Imported graph(R"(
  x = f32[8] parameter(0)
  late = f32[8] exponential(x)
  early = f32[8] negate(x)
  ROOT r = f32[8] subtract(early, late))");
  EXPECT_THAT(graph.names, ElementsAre("x", "early", "late", "r"));
}

TEST(HloImportTest, UnknownOpcodesKeepTheirName) {
  const Imported graph(R"(
  x = f32[8] parameter(0)
  ROOT r = f32[8] frobnicate(x))");
  EXPECT_EQ(graph.nodes.at("r").opcode, "frobnicate");
}

TEST(HloImportTest, HugeCostsStayFinite) {
  const Imported graph(absl::StrCat(R"(
  i = s32[] constant(0)
  x = f32[8] parameter(0)
  init = (s32[], f32[8], f32[8]) tuple(i, x, x)
  ROOT l = (s32[], f32[8], f32[8]) while(init), condition=more, body=step, backend_config={"known_trip_count":{"n":")",
                                    std::string(18, '9'), "\"}}"));
  EXPECT_EQ(graph.nodes.at("l").flops, 1e18);
  EXPECT_EQ(graph.nodes.at("l").bytes, 1e18);
}

TEST(HloImportTest, HugeTensorsAreBounded) {
  const Imported graph(R"(
  x = f32[8] parameter(0)
  b = f32[8,1000000,1000000,1000] broadcast(x), dimensions={0}
  ROOT r = f32[8,1000000,1000000,1000] negate(b))");
  EXPECT_EQ(graph.nodes.at("b").output_bytes, 1e15);
  EXPECT_EQ(graph.nodes.at("r").output_bytes, 1e15);
}

TEST(HloImportTest, LongChains) {
  constexpr int kLength = 100'000;
  std::string entry = "v0 = f32[8] parameter(0)\n";
  for (int i = 1; i <= kLength; ++i) {
    absl::StrAppend(&entry, i == kLength ? "ROOT " : "", "v", i,
                    " = f32[8] negate(v", i - 1, ")\n");
  }
  HONE_ASSERT_OK_AND_ASSIGN(const OpGraph graph, ImportHlo(Parse(entry)));
  ASSERT_EQ(graph.size(), size_t{kLength});
  ASSERT_EQ(graph.edges().size(), size_t{kLength - 1});
  for (size_t i = 0; i < graph.edges().size(); ++i) {
    ASSERT_EQ(graph.edges()[i], (OpEdge{static_cast<int64_t>(i),
                                        static_cast<int64_t>(i) + 1, 32}));
  }
}

TEST(HloImportTest, WideFanOutThroughOneTuple) {
  constexpr int kWidth = 50'000;
  std::string entry = "x = f32[8] parameter(0)\n";
  std::vector<std::string> names;
  for (int i = 0; i < kWidth; ++i) {
    names.push_back(absl::StrCat("v", i));
    absl::StrAppend(&entry, names.back(), " = f32[8] negate(x)\n");
  }
  const std::string shape = absl::StrCat(
      "(", absl::StrJoin(std::vector<std::string>(kWidth, "f32[8]"), ", "),
      ")");
  absl::StrAppend(&entry, "t = ", shape, " tuple(", absl::StrJoin(names, ", "),
                  ")\no = ", shape, " opt-barrier(t)\n");
  for (int i = 0; i < kWidth; ++i) {
    absl::StrAppend(&entry, "g", i, " = f32[8] get-tuple-element(o), index=", i,
                    "\nw", i, " = f32[8] abs(g", i, ")\n");
  }
  entry += "ROOT r = () custom-call(o), custom_call_target=\"c\"";
  HONE_ASSERT_OK_AND_ASSIGN(const OpGraph graph, ImportHlo(Parse(entry)));
  EXPECT_EQ(graph.size(), size_t{2 * kWidth + 2});
  EXPECT_EQ(graph.edges().size(), size_t{3 * kWidth});
}

TEST(HloImportTest, TooManyElementsAreRefused) {
  constexpr int kWidth = 5'000;
  const std::string shape = absl::StrCat(
      "(", absl::StrJoin(std::vector<std::string>(kWidth, "f32[1]"), ", "),
      ")");
  std::string entry = absl::StrCat("t = ", shape, " parameter(0)\n");
  for (int i = 0; i < kWidth; ++i) {
    absl::StrAppend(&entry, i == 0 ? "ROOT " : "", "v", i,
                    " = () custom-call(t), custom_call_target=\"c\"\n");
  }
  EXPECT_THAT(ImportHlo(Parse(entry)),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("'main'"), HasSubstr("16777216"))));
}

}  // namespace
}  // namespace hone::graphs
