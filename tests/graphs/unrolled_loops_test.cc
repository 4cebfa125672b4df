#include "graphs/unrolled_loops.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "graphs/hlo_import.h"
#include "graphs/node_rules.h"
#include "graphs/trip_counts.h"
#include "hlo/analysis/cost_analysis.h"
#include "hlo/equivalence/equivalence.h"
#include "hlo/evaluator/evaluator.h"
#include "hlo/inference/verifier.h"
#include "hlo/text/parser.h"
#include "tests/graphs/named_graph.h"
#include "tests/support/corpus.h"
#include "tests/support/random_module.h"
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

// A loop of two iterations: x becomes x·w + b, w stays.
constexpr char kLoop[] = R"(HloModule m
step {
  s = (s32[], f32[8], f32[8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  j = s32[] add(i, one)
  x = f32[8] get-tuple-element(s), index=1
  w = f32[8] get-tuple-element(s), index=2
  y = f32[8] multiply(x, w), metadata={op_name="jit(f)/layer/mul"}
  b = f32[8] constant({1,2,3,4,5,6,7,8})
  z = f32[8] add(y, b)
  ROOT t = (s32[], f32[8], f32[8]) tuple(j, z, w)
}
more {
  s = (s32[], f32[8], f32[8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  two = s32[] constant(2)
  ROOT c = pred[] compare(i, two), direction=LT
}
ENTRY main {
  i = s32[] constant(0)
  p = f32[8] parameter(0)
  w = f32[8] parameter(1)
  x = f32[8] negate(p)
  init = (s32[], f32[8], f32[8]) tuple(i, x, w)
  l = (s32[], f32[8], f32[8]) while(init), condition=more, body=step
  z = f32[8] get-tuple-element(l), index=1
  v = f32[8] get-tuple-element(l), index=2
  ROOT r = f32[8] subtract(z, v)
}
)";

// A loop of two iterations around one of three, which starts anew each time.
constexpr char kNested[] = R"(HloModule m
inner {
  s = (s32[], f32[8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  j = s32[] add(i, one)
  x = f32[8] get-tuple-element(s), index=1
  y = f32[8] multiply(x, x)
  ROOT t = (s32[], f32[8]) tuple(j, y)
}
three {
  s = (s32[], f32[8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(3)
  ROOT c = pred[] compare(i, n), direction=LT
}
outer {
  s = (s32[], f32[8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  j = s32[] add(i, one)
  x = f32[8] get-tuple-element(s), index=1
  zero = s32[] constant(0)
  init = (s32[], f32[8]) tuple(zero, x)
  l = (s32[], f32[8]) while(init), condition=three, body=inner
  y = f32[8] get-tuple-element(l), index=1
  e = f32[8] exponential(y)
  ROOT t = (s32[], f32[8]) tuple(j, e)
}
two {
  s = (s32[], f32[8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(2)
  ROOT c = pred[] compare(i, n), direction=LT
}
ENTRY main {
  i = s32[] constant(0)
  x = f32[8] parameter(0)
  init = (s32[], f32[8]) tuple(i, x)
  l = (s32[], f32[8]) while(init), condition=two, body=outer
  ROOT r = f32[8] get-tuple-element(l), index=1
}
)";

hlo::Module Parse(const std::string& text) {
  absl::StatusOr<hlo::Module> module = hlo::ParseHloText(text);
  HONE_EXPECT_OK(module);
  if (!module.ok()) return hlo::Module();
  HONE_EXPECT_OK(hlo::VerifyModule(*module));
  return *std::move(module);
}

// A graph with nodes by name.
class Unrolled : public testing::NamedGraph {
 public:
  explicit Unrolled(const std::string& text) : Unrolled(Parse(text)) {}
  explicit Unrolled(const hlo::Module& module) {
    const absl::StatusOr<OpGraph> graph =
        ImportHlo(module, {.loops = Loops::kUnrolled});
    HONE_EXPECT_OK(graph);
    if (graph.ok()) testing::NamedGraph::operator=(testing::NamedGraph(*graph));
  }
};

TEST(UnrolledLoopsTest, AnIterationReadsWhatTheOneBeforeGave) {
  const Unrolled graph(kLoop);
  EXPECT_THAT(graph.names, ElementsAre("w", "x", "y.0", "z.0", "y.1", "z.1",
                                       "r", "j.0", "j.1"));
  // The weights of the loop are an argument that four nodes read.
  EXPECT_THAT(graph.edges,
              UnorderedElementsAre(
                  Pair("x y.0", 32), Pair("w y.0", 32), Pair("y.0 z.0", 32),
                  Pair("z.0 y.1", 32), Pair("w y.1", 32), Pair("y.1 z.1", 32),
                  Pair("z.1 r", 32), Pair("w r", 32), Pair("j.0 j.1", 4)));
  EXPECT_EQ(graph.nodes.at("y.1"), (OpNode{.id = 4,
                                           .name = "y.1",
                                           .opcode = "multiply",
                                           .flops = 8,
                                           .bytes = 96,
                                           .output_bytes = 32,
                                           .scope = "layer"}));
  EXPECT_EQ(graph.nodes.at("z.0").parameter_bytes, 32);
  EXPECT_EQ(graph.nodes.at("z.1").parameter_bytes, 32);
  // The counter of iteration 0 is added to itself, a constant, and one.
  EXPECT_EQ(graph.nodes.at("j.0").parameter_bytes, 8);
  EXPECT_EQ(graph.nodes.at("j.1").parameter_bytes, 4);
  EXPECT_TRUE(graph.nodes.at("r").is_output);
}

TEST(UnrolledLoopsTest, LoopsInLoops) {
  const Unrolled graph(kNested);
  EXPECT_THAT(graph.edges, UnorderedElementsAre(
                               Pair("y.0.0 y.0.1", 32), Pair("y.0.1 y.0.2", 32),
                               Pair("y.0.2 e.0", 32), Pair("e.0 y.1.0", 32),
                               Pair("y.1.0 y.1.1", 32), Pair("y.1.1 y.1.2", 32),
                               Pair("y.1.2 e.1", 32), Pair("j.0 j.1", 4),
                               Pair("j.0.0 j.0.1", 4), Pair("j.0.1 j.0.2", 4),
                               Pair("j.1.0 j.1.1", 4), Pair("j.1.1 j.1.2", 4)));
  EXPECT_EQ(graph.names.size(), 2 * (2 + 3 * 2));
  EXPECT_EQ(graph.nodes.at("y.0.0").parameter_bytes, 32);
  EXPECT_TRUE(graph.nodes.at("e.1").is_output);
  EXPECT_FALSE(graph.nodes.at("e.0").is_output);
}

TEST(UnrolledLoopsTest, ALoopOfUnknownTripCountStaysOneNode) {
  // Whose counter starts at an argument.
  const std::string text = absl::StrReplaceAll(
      kLoop, {{"  i = s32[] constant(0)\n", "  i = s32[] parameter(2)\n"}});
  const hlo::Module module = Parse(text);
  HONE_ASSERT_OK_AND_ASSIGN(const OpGraph one, ImportHlo(module));
  HONE_ASSERT_OK_AND_ASSIGN(const OpGraph unrolled,
                            ImportHlo(module, {.loops = Loops::kUnrolled}));
  EXPECT_EQ(one, unrolled);
  // Within one that is known, too.
  const Unrolled nested(absl::StrReplaceAll(
      kNested, {{"constant(3)", "constant(3)\n  k = s32[] add(n, n)"},
                {"compare(i, n), direction=LT\n}\nouter",
                 "compare(i, k), direction=NE\n}\nouter"},
                {"  zero = s32[] constant(0)\n", ""},
                {"tuple(zero, x)", "tuple(i, x)"}}));
  EXPECT_THAT(nested.edges,
              UnorderedElementsAre(Pair("l.0 e.0", 32), Pair("e.0 l.1", 32),
                                   Pair("l.1 e.1", 32), Pair("j.0 j.1", 4),
                                   Pair("j.0 l.1", 4)));
  // Each costs what it costs where the trip count is not known: one iteration.
  EXPECT_EQ(nested.nodes.at("l.0").flops, nested.nodes.at("l.1").flops);
}

TEST(UnrolledLoopsTest, LoopsThatRunNeverAreTheirInitialValues) {
  const Unrolled graph(
      absl::StrReplaceAll(kLoop, {{"constant(2)", "constant(0)"}}));
  EXPECT_THAT(graph.names, ElementsAre("x", "r"));
  EXPECT_THAT(graph.edges, UnorderedElementsAre(Pair("x r", 32)));
  EXPECT_EQ(graph.nodes.at("r").parameter_bytes, 32);
}

TEST(UnrolledLoopsTest, ValuesThatAreNoTuplesAndTuplesReadWhole) {
  const std::string text = R"(HloModule m
double {
  p = f32[4] parameter(0)
  ROOT r = f32[4] add(p, p)
}
swap {
  s = (f32[4], f32[2]) parameter(0)
  ROOT c = (f32[4], f32[2]) custom-call(s), custom_call_target="c"
}
a { p = f32[4] parameter(0)
  ROOT c = pred[] constant(false) }
b { p = (f32[4], f32[2]) parameter(0)
  ROOT c = pred[] constant(false) }
ENTRY main {
  x = f32[4] parameter(0)
  v = f32[4] while(x), condition=a, body=double, backend_config={"known_trip_count":{"n":"3"}}
  y = f32[2] parameter(1)
  t = (f32[4], f32[2]) tuple(v, y)
  w = (f32[4], f32[2]) while(t), condition=b, body=swap, backend_config={"known_trip_count":{"n":"2"}}
  e = f32[2] get-tuple-element(w), index=1
  ROOT o = (f32[2], (f32[4], f32[2])) tuple(e, w)
}
)";
  const Unrolled graph(text);
  EXPECT_THAT(graph.names, ElementsAre("r.0", "r.1", "r.2", "c.0", "c.1"));
  EXPECT_THAT(graph.edges,
              UnorderedElementsAre(Pair("r.0 r.1", 16), Pair("r.1 r.2", 16),
                                   Pair("r.2 c.0", 16), Pair("c.0 c.1", 24)));
}

TEST(UnrolledLoopsTest, AllOfALoopWaitsAndIsWaitedFor) {
  const Unrolled graph(absl::StrReplaceAll(
      kLoop, {{"condition=more", "condition=more, control-predecessors={n}"},
              {"  init =", "  n = f32[8] copy(p)\n  init ="},
              {"subtract(z, v)",
               "subtract(z, v)\n  a = f32[8] abs(v), "
               "control-predecessors={l}"}}));
  for (const std::string copy : {"y.0", "z.0", "j.0", "y.1", "z.1", "j.1"}) {
    EXPECT_EQ(graph.edges.count("n " + copy), 1) << copy;
    EXPECT_EQ(graph.edges.count(copy + " a"), 1) << copy;
  }
}

// A loop that does no work, as it runs never, or as its body does none.
TEST(UnrolledLoopsTest, WhatWaitsForALoopWithoutWorkWaitsForWhatThatDoes) {
  for (const auto& [trips, body] :
       {std::pair("0", "negate"), {"3", "bitcast"}}) {
    SCOPED_TRACE(body);
    const std::string loop = absl::StrCat(
        "condition=never, body=step, "
        "backend_config={\"known_trip_count\":{\"n\":\"",
        trips, "\"}}, control-predecessors=");
    const Unrolled graph(absl::StrReplaceAll(R"(HloModule m
never { s = f32[8] parameter(0)
  ROOT c = pred[] constant(false) }
step { s = f32[8] parameter(0)
  ROOT n = f32[8] BODY(s) }
outer { s = f32[8] parameter(0)
  e = f32[8] exponential(s)
  v = f32[8] while(s), LOOP{e}
  ROOT f = f32[8] log(s), control-predecessors={v, e} }
ENTRY main {
  a = f32[8] parameter(0)
  g = f32[8] sine(a)
  k = f32[8] tanh(a)
  u = f32[8] while(a), LOOP{g, k}
  w = f32[8] while(a), LOOP{u, g}
  h = f32[8] cosine(a), control-predecessors={w, u}
  o = f32[8] while(h), condition=never, body=outer, backend_config={"known_trip_count":{"n":"2"}}, control-predecessors={w}
  ROOT r = (f32[8], f32[8], f32[8], f32[8]) tuple(h, w, o, k)
}
)",
                                             {{"LOOP", loop}, {"BODY", body}}));
    EXPECT_THAT(
        graph.edges,
        UnorderedElementsAre(
            Pair("a g", 32), Pair("a k", 32), Pair("a h", 32), Pair("g h", 0),
            Pair("k h", 0), Pair("g e.0", 0), Pair("k e.0", 0),
            Pair("g f.0", 0), Pair("k f.0", 0), Pair("g e.1", 0),
            Pair("k e.1", 0), Pair("g f.1", 0), Pair("k f.1", 0),
            Pair("h e.0", 32), Pair("h f.0", 32), Pair("e.0 f.0", 0),
            Pair("f.0 e.1", 32), Pair("f.0 f.1", 32), Pair("e.1 f.1", 0)));
  }
}

TEST(UnrolledLoopsTest, ATripCountThatIsNoNumberIsUnknown) {
  for (const char* const count : {"-3", "1e5", "abc", ""}) {
    SCOPED_TRACE(count);
    const std::string stated = absl::StrCat(
        "body=step, backend_config={\"known_trip_count\":{\"n\":\"", count,
        "\"}}");
    // Here it is found, there it is not.
    const std::string text =
        absl::StrReplaceAll(kLoop, {{"body=step", stated}});
    EXPECT_EQ(Unrolled(text).edges, Unrolled(kLoop).edges);
    const Unrolled unknown(absl::StrReplaceAll(
        text, {{"  i = s32[] constant(0)\n", "  i = s32[] parameter(2)\n"}}));
    EXPECT_EQ(unknown.nodes.count("l"), 1);
  }
}

TEST(UnrolledLoopsTest, TooManyNodes) {
  const std::string many =
      absl::StrReplaceAll(kLoop, {{"constant(2)", "constant(40000)"}});
  EXPECT_THAT(
      ImportHlo(Parse(many), {.loops = Loops::kUnrolled}),
      StatusIs(absl::StatusCode::kInvalidArgument,
               "loop 'l' would be 120000 nodes, in 40000 iterations, of a "
               "graph of 120002 nodes with its loops unrolled, expected at "
               "most 100000"));
  HONE_EXPECT_OK(ImportHlo(Parse(many),
                           {.loops = Loops::kUnrolled, .max_nodes = 120'002}));
  // As one node it is no trouble.
  HONE_EXPECT_OK(ImportHlo(Parse(many)));
  // Trip counts are what a module says.
  const std::string stated = absl::StrReplaceAll(
      kNested, {{"body=inner",
                 "body=inner, "
                 "backend_config={\"known_trip_count\":{\"n\":\"1e300\"}}"},
                {"body=outer",
                 "body=outer, backend_config={\"known_trip_count\":{\"n\":"
                 "\"99999999999999999999999999999999\"}}"}});
  EXPECT_THAT(ImportHlo(Parse(stated), {.loops = Loops::kUnrolled}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("loop 'l' would be ")));
}

// 0 iterations of an infinite body are no reason to unroll another loop.
TEST(UnrolledLoopsTest, TooManyNodesBesideALoopThatNeverRuns) {
  const auto count = [](absl::string_view n) {
    return absl::StrCat(", backend_config={\"known_trip_count\":{\"n\":\"", n,
                        "\"}}\n");
  };
  const std::string huge(301, '1');
  const std::string text = absl::StrCat(
      R"(HloModule m
never { p = (f32[8], f32[8]) parameter(0)
  ROOT f = pred[] constant(false) }
leaf { p = (f32[8], f32[8]) parameter(0)
  x = f32[8] get-tuple-element(p), index=0
  y = f32[8] multiply(x, x)
  ROOT t = (f32[8], f32[8]) tuple(y, x) }
middle { p = (f32[8], f32[8]) parameter(0)
  ROOT w = (f32[8], f32[8]) while(p), condition=never, body=leaf)",
      count(huge), R"(}
outer { p = (f32[8], f32[8]) parameter(0)
  ROOT w = (f32[8], f32[8]) while(p), condition=never, body=middle)",
      count(huge), R"(}
ENTRY e {
  a = f32[8] parameter(0)
  s = (f32[8], f32[8]) tuple(a, a)
  none = (f32[8], f32[8]) while(s), condition=never, body=outer)",
      count("0"),
      "  ROOT many = (f32[8], f32[8]) while(none), condition=never, body=leaf",
      count("300000"), "}\n");
  EXPECT_THAT(ImportHlo(Parse(text), {.loops = Loops::kUnrolled}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("loop 'many' would be 300000 nodes")));
}

// A body without nodes takes memory, too.
TEST(UnrolledLoopsTest, TooManyInstructions) {
  const std::string text = R"(HloModule m
pass {
  s = (f32[4], f32[4]) parameter(0)
  a = f32[4] get-tuple-element(s), index=0
  b = f32[4] get-tuple-element(s), index=1
  ROOT t = (f32[4], f32[4]) tuple(b, a)
}
never { s = (f32[4], f32[4]) parameter(0)
  ROOT c = pred[] constant(false) }
ENTRY main {
  x = f32[4] parameter(0)
  t = (f32[4], f32[4]) tuple(x, x)
  ROOT w = (f32[4], f32[4]) while(t), condition=never, body=pass, backend_config={"known_trip_count":{"n":"1000000000000"}}
}
)";
  EXPECT_THAT(ImportHlo(Parse(text), {.loops = Loops::kUnrolled}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("loop 'w' would be "),
                             HasSubstr("instructions and operands"))));
}

// Each iteration reads the whole of a tuple that it only passes on, through
// another loop, too: one instruction, however many iterations there are.
TEST(UnrolledLoopsTest, ATupleReadWholeManyTimesIsOneInstruction) {
  constexpr int kElements = 1'000;
  constexpr int kIterations = 5'000;
  std::string shape = "(f32[]";
  std::string elements = "a";
  for (int i = 1; i < kElements; ++i) {
    absl::StrAppend(&shape, ", f32[]");
    absl::StrAppend(&elements, ", a");
  }
  shape += ")";
  const hlo::Module module = Parse(absl::StrReplaceAll(
      R"(HloModule m
never { s = SHAPE parameter(0)
  ROOT c = pred[] constant(false) }
same { ROOT s = SHAPE parameter(0) }
read { s = SHAPE parameter(0)
  v = SHAPE while(s), condition=never, body=same, ONCE
  c = f32[] custom-call(s), custom_call_target="c", custom_call_has_side_effect=true, control-predecessors={v}
  ROOT w = SHAPE while(v), condition=never, body=same, ONCE, control-predecessors={c} }
ENTRY main {
  a = f32[] parameter(0)
  t = SHAPE tuple(ELEMENTS)
  l = SHAPE while(t), condition=never, body=read, backend_config={"known_trip_count":{"n":"5000"}}
  ROOT r = f32[] get-tuple-element(l), index=3
}
)",
      {{"SHAPE", shape},
       {"ELEMENTS", elements},
       {"ONCE", "backend_config={\"known_trip_count\":{\"n\":\"1\"}}"}}));
  HONE_ASSERT_OK_AND_ASSIGN(const hlo::Module unrolled,
                            UnrollLoops(module, 100'000));
  size_t operands = 0;
  int calls = 0;
  for (const hlo::Instruction& i :
       unrolled.entry_computation().instructions()) {
    operands += i.operand_count();
    calls += i.opcode() == hlo::Opcode::kCustomCall ? 1 : 0;
  }
  EXPECT_EQ(calls, kIterations);
  EXPECT_LE(operands, kElements + kIterations + 1);
}

TEST(UnrolledLoopsTest, DeepNestsStayInTheirStack) {
  constexpr int kLevels = 5'000;
  std::string text = R"(HloModule m
never { s = f32[4] parameter(0)
  ROOT c = pred[] constant(false) }
b0 { s = f32[4] parameter(0)
  ROOT n = f32[4] negate(s) }
)";
  for (int i = 1; i <= kLevels; ++i) {
    absl::StrAppend(&text, i == kLevels ? "ENTRY " : "", "b", i,
                    " {\n s = f32[4] parameter(0)\n ROOT w = f32[4] while(s), "
                    "condition=never, body=b",
                    i - 1,
                    ", backend_config={\"known_trip_count\":{\"n\":\"1\"}}\n}"
                    "\n");
  }
  const Unrolled graph(text);
  EXPECT_EQ(graph.names.size(), 1);
}

// The work that an unrolled graph has by definition, and what it leaves out of
// the cost analysis: conditions, and the pointers that tuples and barriers
// write.
struct Work {
  hlo::Costs kept;
  hlo::Costs left_out;
};

Work operator*(const Work& work, double times) {
  return {work.kept * times, work.left_out * times};
}

Work WorkOf(const hlo::Module& module, const hlo::CostAnalysis& costs,
            const hlo::Computation& computation, int& loops) {
  Work sum;
  for (const hlo::Instruction& i : computation.instructions()) {
    if (i.opcode() == hlo::Opcode::kWhile && StatesTripCount(i)) {
      ++loops;
      Work body =
          WorkOf(module, costs, module.computation(i.called()[1]), loops);
      body.left_out += costs.ComputationCosts(i.called()[0]);
      const Work all = body * hlo::KnownTripCount(i);
      sum.kept += all.kept;
      sum.left_out += all.left_out;
      continue;
    }
    (DoesWork(i.opcode()) ? sum.kept : sum.left_out) +=
        costs.InstructionCosts(computation, i.id());
  }
  return sum;
}

double Flops(const hlo::Costs& costs) {
  return costs.flops + costs.transcendentals;
}
void ExpectNear(double a, double b) { EXPECT_NEAR(a, b, 1e-9 * b); }

// Returns the number of loops.
int ExpectTheSameWork(const hlo::Module& module) {
  const hlo::Module counted = WithTripCounts(module);
  const hlo::CostAnalysis costs(counted);
  int loops = 0;
  const Work work = WorkOf(counted, costs, counted.entry_computation(), loops);
  ExpectNear(Flops(work.kept) + Flops(work.left_out),
             Flops(costs.ModuleCosts()));
  ExpectNear(work.kept.bytes() + work.left_out.bytes(),
             costs.ModuleCosts().bytes());
  const absl::StatusOr<OpGraph> graph =
      ImportHlo(module, {.loops = Loops::kUnrolled});
  HONE_EXPECT_OK(graph);
  if (!graph.ok()) return 0;
  double flops = 0;
  double bytes = 0;
  for (const OpNode& node : graph->nodes()) {
    flops += node.flops;
    bytes += node.bytes;
  }
  ExpectNear(flops, Flops(work.kept));
  ExpectNear(bytes, work.kept.bytes());
  return loops;
}

TEST(UnrolledLoopsTest, CopiesHaveTheWorkOfTheirLoop) {
  EXPECT_EQ(ExpectTheSameWork(Parse(kLoop)), 1);
  EXPECT_EQ(ExpectTheSameWork(Parse(kNested)), 2);
  int loops = 0;
  for (const auto& entry : hone::testing::CorpusModules()) {
    SCOPED_TRACE(entry.name);
    HONE_ASSERT_OK_AND_ASSIGN(const hlo::Module module,
                              hlo::ParseHloText(entry.text, entry.name));
    loops += ExpectTheSameWork(module);
  }
  EXPECT_GE(loops, 5);
}

TEST(UnrolledLoopsTest, ScansOfTheCorpus) {
  int scans = 0;
  for (const auto& entry : hone::testing::CorpusModules()) {
    if (!absl::StrContains(entry.name, "_scan")) continue;
    SCOPED_TRACE(entry.name);
    HONE_ASSERT_OK_AND_ASSIGN(const hlo::Module module,
                              hlo::ParseHloText(entry.text, entry.name));
    HONE_ASSERT_OK_AND_ASSIGN(const OpGraph one, ImportHlo(module));
    HONE_ASSERT_OK_AND_ASSIGN(const OpGraph graph,
                              ImportHlo(module, {.loops = Loops::kUnrolled}));
    EXPECT_GT(graph.size(), 5 * one.size());
    for (const OpNode& node : graph.nodes()) EXPECT_NE(node.opcode, "while");
    ++scans;
  }
  EXPECT_GE(scans, 3);
}

TEST(UnrolledLoopsTest, RandomModulesOfEveryFeature) {
  int loops = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    hone::testing::RandomModuleOptions options =
        hone::testing::RandomFeatures(seed);
    options.set_amount(hone::testing::Feature::kLoops, 30);
    HONE_ASSERT_OK_AND_ASSIGN(
        const hlo::Module module,
        hlo::ParseHloText(hone::testing::RandomModuleText(seed, options)));
    loops += ExpectTheSameWork(module);
  }
  EXPECT_GE(loops, 100);
}

// An unrolled module computes what the module does.
TEST(UnrolledLoopsTest, RandomModulesComputeTheSame) {
  int loops = 0;
  for (uint64_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    hone::testing::RandomModuleOptions options;
    options.set_amount(hone::testing::Feature::kLoops, 60);
    if (seed % 3 == 0) {
      options.set_amount(hone::testing::Feature::kBarriers, 10);
      options.set_amount(hone::testing::Feature::kControlDependencies, 10);
    }
    HONE_ASSERT_OK_AND_ASSIGN(
        const hlo::Module module,
        hlo::ParseHloText(hone::testing::RandomModuleText(seed, options)));
    loops += ExpectTheSameWork(module);
    HONE_ASSERT_OK_AND_ASSIGN(hlo::Module unrolled,
                              UnrollLoops(WithTripCounts(module), 100'000));
    // Names repeat, and what is left is verified but for them.
    hlo::Computation& entry = unrolled.mutable_computation(unrolled.entry());
    for (const hlo::InstructionId id : entry.PostOrder()) {
      entry.mutable_instruction(id).set_name("");
    }
    HONE_ASSERT_OK(hlo::VerifyModule(unrolled));
    HONE_ASSERT_OK_AND_ASSIGN(const std::vector<hlo::Literal> arguments,
                              hlo::RandomArguments(module, seed));
    HONE_ASSERT_OK_AND_ASSIGN(const hlo::Literal expected,
                              hlo::Evaluate(module, arguments));
    HONE_ASSERT_OK_AND_ASSIGN(const hlo::Literal found,
                              hlo::Evaluate(unrolled, arguments));
    EXPECT_TRUE(found == expected);
  }
  EXPECT_GE(loops, 100);
}

}  // namespace
}  // namespace hone::graphs
