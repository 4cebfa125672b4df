#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"

#include "tests/hlo/passes/control_flow/run_pass.h"
#include "tests/hlo/passes/golden.h"

namespace hone::hlo {
namespace {

constexpr char kName[] = "simplify-conditional";

// f takes long, g does not.
constexpr char kBranches[] = R"(
HloModule m
f {
  a = f32[4,4] parameter(0)
  ROOT r = f32[4,4] dot(a, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
g {
  a = f32[4,4] parameter(0)
  ROOT r = f32[4,4] negate(a)
}
h {
  a = f32[4,4] parameter(0)
  ROOT r = f32[4,4] abs(a)
})";

TEST(SimplifyConditional, InlinesTheBranchOfAConstantPredicate) {
  ExpectRewrites(kName, absl::StrCat(kBranches, R"(
ENTRY e {
  x = f32[4,4] parameter(0)
  y = f32[4,4] parameter(1)
  p = pred[] constant(false)
  ROOT r = f32[4,4] conditional(p, x, y), true_computation=f, false_computation=g
})"),
                 R"(
HloModule m
ENTRY e {
  x = f32[4,4] parameter(0)
  y = f32[4,4] parameter(1)
  ROOT r = f32[4,4] negate(y)
})");
}

// Every index out of range means the last branch.
TEST(SimplifyConditional, InlinesTheBranchOfAConstantIndex) {
  for (const char* index : {"-1", "2", "7"}) {
    ExpectRewrites(kName,
                   absl::StrCat(kBranches, R"(
ENTRY e {
  x = f32[4,4] parameter(0)
  i = s32[] constant()",
                                index, R"()
  ROOT r = f32[4,4] conditional(i, x, x, x), branch_computations={f, g, h}
})"),
                   R"(
HloModule m
ENTRY e {
  x = f32[4,4] parameter(0)
  ROOT r = f32[4,4] abs(x)
})");
  }
}

TEST(SimplifyConditional, InlinesBranchesThatAreAllTheSame) {
  ExpectRewrites(kName, absl::StrCat(kBranches, R"(
ENTRY e {
  x = f32[4,4] parameter(0)
  p = pred[] parameter(1)
  ROOT r = f32[4,4] conditional(p, x, x), true_computation=g, false_computation=g
})"),
                 R"(
HloModule m
ENTRY e {
  x = f32[4,4] parameter(0)
  p = pred[] parameter(1)
  ROOT r = f32[4,4] negate(x)
})");
}

TEST(SimplifyConditional, SelectsBetweenCheapBranches) {
  ExpectRewrites(kName, absl::StrCat(kBranches, R"(
ENTRY e {
  x = f32[4,4] parameter(0)
  p = pred[] parameter(1)
  ROOT r = f32[4,4] conditional(p, x, x), true_computation=g, false_computation=h
})"),
                 R"(
HloModule m
ENTRY e {
  x = f32[4,4] parameter(0)
  p = pred[] parameter(1)
  q = pred[4,4] broadcast(p), dimensions={}
  a = f32[4,4] negate(x)
  b = f32[4,4] abs(x)
  ROOT r = f32[4,4] select(q, a, b)
})");
}

TEST(SimplifyConditional, SelectsElementsOfTuples) {
  ExpectRewrites(kName, R"(
HloModule m
f {
  a = f32[] parameter(0)
  n = f32[] negate(a)
  ROOT r = (f32[], f32[]) tuple(a, n)
}
g {
  a = f32[] parameter(0)
  n = f32[] abs(a)
  ROOT r = (f32[], f32[]) tuple(n, a)
}
ENTRY e {
  x = f32[] parameter(0)
  p = pred[] parameter(1)
  ROOT r = (f32[], f32[]) conditional(p, x, x), true_computation=f, false_computation=g
})",
                 R"(
HloModule m
ENTRY e {
  x = f32[] parameter(0)
  p = pred[] parameter(1)
  n = f32[] negate(x)
  a = f32[] abs(x)
  s = f32[] select(p, x, a)
  t = f32[] select(p, n, x)
  ROOT r = (f32[], f32[]) tuple(s, t)
})");
}

TEST(SimplifyConditional, KeepsExpensiveAndEmptyBranches) {
  ExpectUnchanged(kName, absl::StrCat(kBranches, R"(
ENTRY e {
  x = f32[4,4] parameter(0)
  p = pred[] parameter(1)
  ROOT r = f32[4,4] conditional(p, x, x), true_computation=f, false_computation=g
})"));
  ExpectUnchanged(kName, R"(
HloModule m
f {
  ROOT a = f32[4] parameter(0)
}
g {
  a = f32[4] parameter(0)
  ROOT r = f32[4] negate(a)
}
ENTRY e {
  x = f32[4] parameter(0)
  p = pred[] parameter(1)
  ROOT r = f32[4] conditional(p, x, x), true_computation=f, false_computation=g
})");
}

TEST(SimplifyConditional, KeepsEffects) {
  ExpectUnchanged(kName, R"(
HloModule m
f {
  a = f32[4] parameter(0)
  ROOT r = f32[4] custom-call(a), custom_call_target="effect"
}
g {
  a = f32[4] parameter(0)
  ROOT r = f32[4] negate(a)
}
ENTRY e {
  x = f32[4] parameter(0)
  p = pred[] constant(true)
  ROOT r = f32[4] conditional(p, x, x), true_computation=f, false_computation=g
})");
}

// Element 1 of the result equals element 0 in both branches, and nothing reads
// element 2. The second branch does not need b then.
TEST(SimplifyConditional, RemovesElements) {
  ExpectRewrites(kName, R"(
HloModule m
f {
  t = (f32[4,4], f32[4,4]) parameter(0)
  a = f32[4,4] get-tuple-element(t), index=0
  b = f32[4,4] get-tuple-element(t), index=1
  d = f32[4,4] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  c = f32[4,4] cosine(b)
  ROOT r = (f32[4,4], f32[4,4], f32[4,4]) tuple(d, d, c)
}
g {
  t = (f32[4,4], f32[4,4]) parameter(0)
  a = f32[4,4] get-tuple-element(t), index=0
  b = f32[4,4] get-tuple-element(t), index=1
  s = f32[4,4] sine(a)
  ROOT r = (f32[4,4], f32[4,4], f32[4,4]) tuple(s, s, b)
}
ENTRY e {
  x = f32[4,4] parameter(0)
  y = f32[4,4] parameter(1)
  p = pred[] parameter(2)
  t = (f32[4,4], f32[4,4]) tuple(x, y)
  c = (f32[4,4], f32[4,4], f32[4,4]) conditional(p, t, t), true_computation=f, false_computation=g
  a = f32[4,4] get-tuple-element(c), index=0
  b = f32[4,4] get-tuple-element(c), index=1
  ROOT r = f32[4,4] subtract(a, b)
})",
                 R"(
HloModule m
f {
  t = (f32[4,4], f32[4,4]) parameter(0)
  a = f32[4,4] get-tuple-element(t), index=0
  b = f32[4,4] get-tuple-element(t), index=1
  d = f32[4,4] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT r = (f32[4,4]) tuple(d)
}
g {
  t = (f32[4,4]) parameter(0)
  a = f32[4,4] get-tuple-element(t), index=0
  s = f32[4,4] sine(a)
  ROOT r = (f32[4,4]) tuple(s)
}
ENTRY e {
  x = f32[4,4] parameter(0)
  y = f32[4,4] parameter(1)
  p = pred[] parameter(2)
  t = (f32[4,4], f32[4,4]) tuple(x, y)
  u = (f32[4,4]) tuple(x)
  c = (f32[4,4]) conditional(p, t, u), true_computation=f, false_computation=g
  a = f32[4,4] get-tuple-element(c), index=0
  b = f32[4,4] get-tuple-element(c), index=0
  ROOT r = f32[4,4] subtract(a, b)
})");
}

// Elements that the other conditional reads stay in its own copy of the
// branches.
TEST(SimplifyConditional, CopiesBranchesThatConditionalsShare) {
  constexpr char kShared[] = R"(
HloModule m
f {
  a = f32[4,4] parameter(0)
  d = f32[4,4] dot(a, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  s = f32[4,4] sine(a)
  ROOT r = (f32[4,4], f32[4,4]) tuple(d, s)
}
g {
  a = f32[4,4] parameter(0)
  d = f32[4,4] dot(a, a), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  ROOT r = (f32[4,4], f32[4,4]) tuple(d, a)
})";
  ExpectRewrites(kName, absl::StrCat(kShared, R"(
ENTRY e {
  x = f32[4,4] parameter(0)
  p = pred[] parameter(1)
  c = (f32[4,4], f32[4,4]) conditional(p, x, x), true_computation=f, false_computation=g
  a = f32[4,4] get-tuple-element(c), index=0
  ROOT d = (f32[4,4], f32[4,4]) conditional(p, a, a), true_computation=f, false_computation=g
})"),
                 absl::StrCat(kShared, R"(
f.clone {
  a = f32[4,4] parameter(0)
  d = f32[4,4] dot(a, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT r = (f32[4,4]) tuple(d)
}
g.clone {
  a = f32[4,4] parameter(0)
  d = f32[4,4] dot(a, a), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  ROOT r = (f32[4,4]) tuple(d)
}
ENTRY e {
  x = f32[4,4] parameter(0)
  p = pred[] parameter(1)
  c = (f32[4,4]) conditional(p, x, x), true_computation=f.clone, false_computation=g.clone
  a = f32[4,4] get-tuple-element(c), index=0
  ROOT d = (f32[4,4], f32[4,4]) conditional(p, a, a), true_computation=f, false_computation=g
})"));
}

TEST(SimplifyConditional, EmptiesAResultThatNothingUses) {
  ExpectRewrites(kName, R"(
HloModule m
f {
  a = f32[4] parameter(0)
  c = f32[4] custom-call(a), custom_call_target="effect"
  ROOT r = (f32[4]) tuple(c)
}
g {
  a = f32[4] parameter(0)
  n = f32[4] negate(a)
  ROOT r = (f32[4]) tuple(n)
}
ENTRY e {
  x = f32[4] parameter(0)
  p = pred[] parameter(1)
  c = (f32[4]) conditional(p, x, x), true_computation=f, false_computation=g
  ROOT r = f32[4] sine(x)
})",
                 R"(
HloModule m
f {
  a = f32[4] parameter(0)
  c = f32[4] custom-call(a), custom_call_target="effect"
  ROOT r = () tuple()
}
g {
  a = f32[4] parameter(0)
  ROOT r = () tuple()
}
ENTRY e {
  x = f32[4] parameter(0)
  p = pred[] parameter(1)
  c = () conditional(p, x, x), true_computation=f, false_computation=g
  ROOT r = f32[4] sine(x)
})");
}

// The branches may have different sizes.
TEST(SimplifyConditional, KeepsDynamicResults) {
  for (const char* shape :
       {"f32[<=4]", "s8[2,<=4]", "(f32[2], f32[<=4])", "((f32[<=4]))"}) {
    const bool is_array = shape[0] != '(';
    ExpectUnchanged(kName, absl::StrReplaceAll(
                               R"(
HloModule m
f {
  x = $S parameter(0)
  ROOT r = $S $F(x)
}
g {
  x = $S parameter(0)
  ROOT r = $S $G(x)
}
ENTRY e {
  p = pred[] parameter(0)
  a = $S parameter(1)
  b = $S parameter(2)
  ROOT c = $S conditional(p, a, b), true_computation=f, false_computation=g
})",
                               {{"$S", shape},
                                {"$F", is_array ? "negate" : "copy"},
                                {"$G", is_array ? "abs" : "copy"}}));
  }
}

TEST(SimplifyConditional, InlinesADynamicBranchThatIsKnown) {
  ExpectRewrites(kName, R"(
HloModule m
f {
  x = f32[<=4] parameter(0)
  ROOT r = f32[<=4] negate(x)
}
g {
  ROOT x = f32[<=4] parameter(0)
}
ENTRY e {
  p = pred[] constant(true)
  a = f32[<=4] parameter(0)
  ROOT c = f32[<=4] conditional(p, a, a), true_computation=f, false_computation=g
})",
                 R"(
HloModule m
ENTRY e {
  a = f32[<=4] parameter(0)
  ROOT c = f32[<=4] negate(a)
})");
}

TEST(SimplifyConditional, KeepsTokens) {
  ExpectUnchanged(kName, R"(
HloModule m
f {
  t = (f32[], token[]) parameter(0)
  x = f32[] get-tuple-element(t), index=0
  k = token[] get-tuple-element(t), index=1
  n = f32[] negate(x)
  ROOT r = (f32[], token[]) tuple(n, k)
}
g {
  t = (f32[], token[]) parameter(0)
  x = f32[] get-tuple-element(t), index=0
  k = token[] get-tuple-element(t), index=1
  n = f32[] abs(x)
  ROOT r = (f32[], token[]) tuple(n, k)
}
ENTRY e {
  p = pred[] parameter(0)
  t = (f32[], token[]) parameter(1)
  ROOT c = (f32[], token[]) conditional(p, t, t), true_computation=f, false_computation=g
})");
}

// A tuple that a conditional takes and that something else needs.
TEST(SimplifyConditional, KeepsOperandsWithOtherUses) {
  constexpr char kPair[] = R"(
HloModule m
f {
  t = (f32[4,4], f32[4,4]) parameter(0)
  a = f32[4,4] get-tuple-element(t), index=0
  ROOT d = f32[4,4] dot(a, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
g {
  t = (f32[4,4], f32[4,4]) parameter(0)
  a = f32[4,4] get-tuple-element(t), index=1
  ROOT d = f32[4,4] dot(a, a), lhs_contracting_dims={0}, rhs_contracting_dims={0}
}
ENTRY e {
  p = pred[] parameter(0)
  $ENTRY
})";
  for (const char* entry : {// The root, with a dead conditional, …
                            R"(x = f32[4,4] parameter(1)
  ROOT t = (f32[4,4], f32[4,4]) tuple(x, x)
  c = f32[4,4] conditional(p, t, t), true_computation=f, false_computation=g)",
                            // … a parameter, …
                            R"(t = (f32[4,4], f32[4,4]) parameter(1)
  ROOT c = f32[4,4] conditional(p, t, t), true_computation=f, false_computation=g)",
                            // … and one that is used whole.
                            R"(x = f32[4,4] parameter(1)
  t = (f32[4,4], f32[4,4]) tuple(x, x)
  c = f32[4,4] conditional(p, t, t), true_computation=f, false_computation=g
  ROOT r = (f32[4,4], (f32[4,4], f32[4,4])) tuple(c, t))"}) {
    const std::string result =
        RunPass(kName, absl::StrReplaceAll(kPair, {{"$ENTRY", entry}}));
    EXPECT_NE(result.find("t = (f32[4,4], f32[4,4])"), std::string::npos);
  }
}

TEST(SimplifyConditional, AttributesFollowTheElements) {
  const std::string result = RunPass(kName, R"(
HloModule m
f {
  a = f32[4,4] parameter(0)
  d = f32[4,4] dot(a, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  s = f32[4,4] sine(a)
  ROOT r = (f32[4,4], f32[4,4]) tuple(d, s), origin={({"d"}, {"s"})}
}
g {
  ROOT a = (f32[4,4], f32[4,4]) parameter(0)
}
ENTRY e {
  x = f32[4,4] parameter(0)
  u = (f32[4,4], f32[4,4]) parameter(1)
  p = pred[] parameter(2)
  c = (f32[4,4], f32[4,4]) conditional(p, x, u), true_computation=f, false_computation=g, origin={({"c0"}, {"c1"})}
  ROOT a = f32[4,4] get-tuple-element(c), index=1
})");
  EXPECT_NE(result.find(R"(origin={({"s"})})"), std::string::npos) << result;
  EXPECT_NE(result.find(R"(origin={({"c1"})})"), std::string::npos) << result;
}

TEST(SimplifyConditional, KeepsConditionalsThatAreWaitedFor) {
  ExpectUnchanged(kName, R"(
HloModule m
f {
  a = f32[] parameter(0)
  ROOT r = f32[] negate(a)
}
ENTRY e {
  x = f32[] parameter(0)
  p = pred[] constant(true)
  c = f32[] conditional(p, x, x), true_computation=f, false_computation=f
  ROOT r = f32[] add(x, c), control-predecessors={c}
})");
}

// A tuple of 2^16 arrays would need more selects than may be added.
TEST(SimplifyConditional, KeepsResultsOfManyArrays) {
  std::string type = "f32[2]";
  std::string branch = "v0 = f32[2] negate(a)\n";
  for (int i = 1; i <= 16; ++i) {
    type = absl::StrCat("(", type, ", ", type, ")");
    absl::StrAppend(&branch, i == 16 ? "ROOT " : "", "v", i, " = ", type,
                    " tuple(v", i - 1, ", v", i - 1, ")\n");
  }
  ExpectUnchanged(
      kName, absl::StrCat("HloModule m\nf {\na = f32[2] parameter(0)\n", branch,
                          "}\ng {\na = f32[2] parameter(0)\n", branch,
                          "}\nENTRY e {\np = pred[] parameter(0)\n"
                          "x = f32[2] parameter(1)\nROOT c = ",
                          type,
                          " conditional(p, x, x), true_computation=f, "
                          "false_computation=g\n}\n"));
}

}  // namespace
}  // namespace hone::hlo
