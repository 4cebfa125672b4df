// Attributes around a loop stay in order when passes add elements to its state
// or remove some.

#include <string>

#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/hlo/passes/control_flow/run_pass.h"
#include "tests/hlo/passes/golden.h"

namespace hone::hlo {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kSimplify[] = "simplify-while-loops";
constexpr char kMotion[] = "while-loop-invariant-code-motion";
constexpr char kSinking[] = "while-loop-constant-sinking";

// A loop with a counter, an element that nothing else needs (x), one that it
// hands on (y) and work on that (e), for each pass to change. $W are the
// attributes of the loop, $T, $P and $R those of its initial state, its
// parameters and its next state.
std::string Loop(absl::string_view entry, absl::string_view w = "",
                 absl::string_view t = "", absl::string_view p = "",
                 absl::string_view r = "") {
  return absl::StrReplaceAll(
      absl::StrReplaceAll(R"(
HloModule m
cond {
  t = $S parameter(0)$P
  i = s32[] get-tuple-element(t), index=1
  n = s32[] constant(5)
  ROOT r = pred[] compare(i, n), direction=LT
}
body {
  t = $S parameter(0)$P
  x = f32[4] get-tuple-element(t), index=0
  i = s32[] get-tuple-element(t), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  y = f32[4] get-tuple-element(t), index=2
  e = f32[4] cosine(y)
  nx = f32[4] add(x, e)
  ROOT r = $S tuple(nx, j, y)$R
}
ENTRY main {
  a = f32[4] parameter(0)
  z = s32[] constant(0)
  b = f32[4] parameter(1)
  $ENTRY
})",
                          {{"$ENTRY", entry}}),
      {{"$S", "(f32[4], s32[], f32[4])"},
       {"$W", absl::StrCat("condition=cond, body=body", w)},
       {"$T", t},
       {"$P", p},
       {"$R", r}});
}

TEST(LoopState, AnInitialStateThatIsTheRootStays) {
  const std::string text = Loop(R"(ROOT t = $S tuple(a, z, b)
  w = $S while(t), $W)");
  for (const char* pass : {kSimplify, kMotion, kSinking}) {
    EXPECT_THAT(RunPass(pass, text),
                HasSubstr("ROOT t = (f32[4], s32[], f32[4]) tuple(a, z, b)"))
        << pass;
  }
}

TEST(LoopState, AnInitialStateWithOtherUsersStays) {
  for (const char* entry : {// Read, …
                            R"(t = $S tuple(a, z, b)
  w = $S while(t), $W
  x = f32[4] get-tuple-element(w), index=0
  u = f32[4] get-tuple-element(t), index=2
  ROOT r = f32[4] add(x, u))",
                            // … used whole, …
                            R"(t = $S tuple(a, z, b)
  w = $S while(t), $W
  i = s32[] get-tuple-element(w), index=1
  ROOT r = ($S, s32[]) tuple(t, i))",
                            // … and waited for.
                            R"(t = $S tuple(a, z, b)
  w = $S while(t), $W
  i = s32[] get-tuple-element(w), index=1
  u = f32[4] add(a, b), control-predecessors={t}
  ROOT r = (f32[4], s32[]) tuple(u, i))"}) {
    for (const char* pass : {kSimplify, kMotion, kSinking}) {
      EXPECT_THAT(RunPass(pass, Loop(entry)),
                  HasSubstr("t = (f32[4], s32[], f32[4]) tuple(a, z, b)"))
          << pass;
    }
  }
}

TEST(LoopState, AnInitialStateThatIsNoTupleInstructionIsRead) {
  const std::string text = Loop(R"(t = $S parameter(2)
  w = $S while(t), $W
  ROOT r = f32[4] get-tuple-element(w), index=0)");
  for (const char* pass : {kSimplify, kSinking}) ExpectUnchanged(pass, text);
  // cosine(y) moves, y being element 2 of the argument.
  EXPECT_THAT(RunPass(kMotion, text),
              AllOf(HasSubstr("(f32[4], s32[], f32[4], f32[4]) while"),
                    HasSubstr("t = (f32[4], s32[], f32[4]) parameter(2)")));
}

TEST(LoopState, ALoopThatIsTheRootKeepsItsShape) {
  const std::string text = Loop(R"(t = $S tuple(a, z, b)
  ROOT w = $S while(t), $W)");
  ExpectUnchanged(kSimplify, text);
  EXPECT_THAT(RunPass(kMotion, text),
              HasSubstr("(f32[4], s32[], f32[4], f32[4]) while"));
}

TEST(LoopState, BodiesOfOtherFormsAreLeftAlone) {
  const std::string identity = R"(
HloModule m
cond {
  t = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  n = s32[] constant(-1)
  ROOT r = pred[] compare(i, n), direction=LT
}
body {
  ROOT t = (s32[], f32[4]) parameter(0)
}
ENTRY main {
  z = s32[] parameter(0)
  a = f32[4] parameter(1)
  t = (s32[], f32[4]) tuple(z, a)
  w = (s32[], f32[4]) while(t), condition=cond, body=body
  ROOT r = s32[] get-tuple-element(w), index=0
})";
  const std::string choice =
      absl::StrReplaceAll(identity, {{"ROOT t = (s32[], f32[4]) parameter(0)\n",
                                      R"(t = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  c = f32[4] constant({1, 2, 3, 4})
  s = f32[4] sine(c)
  one = s32[] constant(1)
  j = s32[] add(i, one)
  u = (s32[], f32[4]) tuple(j, s)
  ROOT r = (s32[], f32[4]) copy(u)
)"}});
  const std::string used = absl::StrReplaceAll(
      choice, {{"ROOT r = (s32[], f32[4]) copy(u)",
                "v = ((s32[], f32[4])) tuple(t)\n"
                "  ROOT r = (s32[], f32[4]) get-tuple-element(v), index=0"}});
  const std::string scalar = R"(
HloModule m
cond {
  i = s32[] parameter(0)
  n = s32[] constant(5)
  ROOT r = pred[] compare(i, n), direction=LT
}
body {
  i = s32[] parameter(0)
  one = s32[] constant(1)
  ROOT j = s32[] add(i, one)
}
ENTRY main {
  z = s32[] constant(0)
  ROOT w = s32[] while(z), condition=cond, body=body
})";
  const std::string predicate = R"(
HloModule m
same {
  ROOT p = pred[] parameter(0)
}
ENTRY main {
  z = pred[] constant(false)
  ROOT w = pred[] while(z), condition=same, body=same
})";
  for (const std::string& text : {identity, choice, used, scalar, predicate}) {
    for (const char* pass :
         {kSimplify, kMotion, kSinking, "while-loop-trip-count-annotator"}) {
      ExpectUnchanged(pass, text);
    }
  }
}

// Element 0 is a tuple that nothing needs; its leaves count in the sharding,
// not in the origin.
TEST(LoopState, NestedTuplesGoWhole) {
  constexpr char kText[] = R"(
HloModule m
cond {
  t = ((f32[2], f32[3]), s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(t), index=1
  n = s32[] constant(5)
  ROOT r = pred[] compare(i, n), direction=LT
}
body {
  t = ((f32[2], f32[3]), s32[], s32[]) parameter(0)
  p = (f32[2], f32[3]) get-tuple-element(t), index=0
  i = s32[] get-tuple-element(t), index=1
  c = s32[] get-tuple-element(t), index=2
  one = s32[] constant(1)
  j = s32[] add(i, one)
  k = s32[] multiply(j, c)
  ROOT r = ((f32[2], f32[3]), s32[], s32[]) tuple(p, j, k), sharding={{replicated}, {replicated}, {maximal device=1}, {maximal device=0}}
}
ENTRY main {
  a = f32[2] parameter(0)
  b = f32[3] parameter(1)
  z = s32[] constant(0)
  p = (f32[2], f32[3]) tuple(a, b)
  t = ((f32[2], f32[3]), s32[], s32[]) tuple(p, z, z)
  w = ((f32[2], f32[3]), s32[], s32[]) while(t), condition=cond, body=body, origin={(({"a"}, {"b"}), {"i"}, {"c"})}
  i = s32[] get-tuple-element(w), index=1
  k = s32[] get-tuple-element(w), index=2
  ROOT r = s32[] add(i, k)
})";
  EXPECT_THAT(
      RunPass(kSimplify, kText),
      AllOf(HasSubstr("(s32[], s32[]) while"),
            HasSubstr(R"(origin={({"i"}, {"c"})})"),
            HasSubstr("sharding={{maximal device=1}, {maximal device=0}}")));
}

constexpr char kCounterOnly[] = R"(t = $S tuple(a, z, b)$T
  w = $S while(t), $W
  ROOT i = s32[] get-tuple-element(w), index=1)";

TEST(LoopState, AttributesFollowTheElements) {
  const std::string text = Loop(
      kCounterOnly,
      R"(, frontend_attributes={k="v"}, origin={({"w0"}, {"w1" {1}}, {})},)"
      R"( backend_config={"known_trip_count":{"n":"5"},)"
      R"("known_induction_variable":{"tuple_index":"1"},)"
      R"("dynamic_variables":[]})",
      R"(, origin={({"a,"}, {"z"}, {"b"})})",
      R"(, origin={({"x"}, {"i"}, {"y"})}, sharding={replicated})",
      R"(, origin={({"nx"}, {"j"}, {"y"})})");
  const std::string result = RunPass(kSimplify, text);
  EXPECT_THAT(
      result,
      AllOf(HasSubstr(R"(frontend_attributes={k="v"})"),
            HasSubstr(R"(origin={({"w1" {1}})})"),
            HasSubstr(R"(origin={({"z"})})"), HasSubstr(R"(origin={({"i"})})"),
            HasSubstr(R"(origin={({"j"})})"),
            HasSubstr(R"("known_induction_variable":{"tuple_index":"0"})"),
            HasSubstr("sharding={replicated}"), Not(HasSubstr("w0"))));
}

// Attributes that cannot follow the elements, each with the loop's state whole.
TEST(LoopState, AttributesThatCannotFollowKeepTheElements) {
  for (const char* attributes :
       {R"(, backend_config={"known_trip_count":{"n":"5"},)"
        R"("dynamic_variable_tuple_indices":[1]})",
        R"(, backend_config={"known_trip_count":{"n":"5"},)"
        R"("dynamic_variables":[{"tuple_index":"1"},{"tuple_index":"0"}]})",
        // Of one element, which XLA does not read.
        R"(, sharding={{devices=[2]0,1}, {replicated}, {maximal device=0}})"}) {
    ExpectUnchanged(kSimplify, Loop(kCounterOnly, attributes));
  }
}

TEST(LoopState, AnOriginWithoutValuesStays) {
  EXPECT_THAT(
      RunPass(kSimplify, Loop(kCounterOnly, ", origin={[synthetic_call]}")),
      AllOf(HasSubstr("(s32[]) while"), HasSubstr("{[synthetic_call]}")));
}

TEST(LoopState, AddedElementsHaveNoOrigin) {
  const std::string text = Loop(R"(t = $S tuple(a, z, b)$T
  w = $S while(t), $W
  ROOT x = f32[4] get-tuple-element(w), index=0)",
                                R"(, origin={({"w0"}, {"w1"}, {"w2"})})",
                                R"(, origin={({"a"}, {"z"}, {"b"})})",
                                R"(, origin={({"x"}, {"i"}, {"y"})})",
                                R"(, origin={({"nx"}, {"j"}, {"y"})})");
  EXPECT_THAT(RunPass(kMotion, text),
              AllOf(HasSubstr(R"(origin={({"w0"}, {"w1"}, {"w2"}, {})})"),
                    HasSubstr(R"(origin={({"a"}, {"z"}, {"b"}, {})})"),
                    HasSubstr(R"(origin={({"x"}, {"i"}, {"y"}, {})})"),
                    HasSubstr(R"(origin={({"nx"}, {"j"}, {"y"}, {})})")));
}

TEST(LoopState, LoopsWithControlDependenciesStay) {
  const std::string text = Loop(R"(t = $S tuple(a, z, b)
  c = f32[4] custom-call(a), custom_call_target="effect"
  w = $S while(t), $W, control-predecessors={c}
  ROOT i = s32[] get-tuple-element(w), index=1)");
  for (const char* pass : {kSimplify, kMotion, kSinking}) {
    ExpectUnchanged(pass, text);
  }
}

// The counter starts at 5, so the effect never happens.
TEST(LoopState, EffectsOfALoopThatNeverRunsGo) {
  const std::string text = absl::StrReplaceAll(
      Loop(R"(t = $S tuple(a, z, b)
  w = $S while(t), $W
  ROOT x = f32[4] get-tuple-element(w), index=0)"),
      {{"z = s32[] constant(0)", "z = s32[] constant(5)"},
       {"e = f32[4] cosine(y)",
        "e = f32[4] custom-call(y), custom_call_target=\"effect\""}});
  const std::string result = RunPass(kSimplify, text);
  EXPECT_THAT(result, AllOf(Not(HasSubstr("effect")), Not(HasSubstr("while"))));
}

}  // namespace
}  // namespace hone::hlo
