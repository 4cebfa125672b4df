#include "loops/lowering/rewrites/widen_chains.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "hlo/inference/verifier.h"
#include "hlo/ir/literal.h"
#include "loops/interpreter/interpreter.h"
#include "loops/lowering/lowering.h"
#include "tests/loops/lowering/lowered.h"
#include "tests/support/status_matchers.h"

namespace hone::loops {
namespace {

using hlo::ElementType;

// Returns the number of instructions of the entry that round f32 to bf16.
int CountRoundings(const hlo::Module& module) {
  int count = 0;
  const hlo::Computation& entry = module.entry_computation();
  for (const hlo::Instruction& i : entry.instructions()) {
    if (i.opcode() != hlo::Opcode::kConvert ||
        i.shape().element_type() != ElementType::kBf16) {
      continue;
    }
    const hlo::Shape& operand = entry[i.operand(0)].shape();
    count += operand.element_type() == ElementType::kF32 ? 1 : 0;
  }
  return count;
}

// Widens the chains of an entry with parameters a, b and c of bf16[4]. Returns
// the number of roundings; -1 if nothing was changed.
int Widen(absl::string_view body, absl::string_view others = "") {
  hlo::Module module = ParseModule(ModuleText(
      absl::StrCat("a = bf16[4] parameter(0)\nb = bf16[4] parameter(1)\n"
                   "c = bf16[4] parameter(2)\n",
                   body),
      others));
  const bool changed = WidenChains(module);
  HONE_EXPECT_OK(hlo::VerifyModule(module));
  return changed ? CountRoundings(module) : -1;
}

TEST(WidenChains, RoundsAtTheEndOnly) {
  EXPECT_EQ(Widen(R"(
  m = bf16[4] multiply(a, b)
  s = bf16[4] add(m, c)
  n = bf16[4] negate(s)
  x = bf16[4] maximum(n, a)
  ROOT t = bf16[4] tanh(x))"),
            1);
  // A reader that reads twice is one reader.
  EXPECT_EQ(Widen(R"(
  m = bf16[4] multiply(a, b)
  ROOT s = bf16[4] multiply(m, m))"),
            1);
  // What is read in f32 is not rounded at all.
  EXPECT_EQ(Widen(R"(
  m = bf16[4] multiply(a, b)
  ROOT w = f32[4] convert(m))"),
            0);
}

TEST(WidenChains, GivesSeveralReadersTheSameRoundedValue) {
  EXPECT_EQ(Widen(R"(
  m = bf16[4] multiply(a, b)
  s = bf16[4] add(m, c)
  x = bf16[4] multiply(s, s)
  y = bf16[4] subtract(x, s)
  ROOT t = (bf16[4], bf16[4]) tuple(y, m))"),
            // m as it was, s in bf16, y
            1);
  EXPECT_EQ(Widen(R"(
  m = bf16[4] multiply(a, b)
  s = bf16[4] add(m, c)
  ROOT t = (bf16[4], bf16[4]) tuple(m, s))"),
            -1);
}

TEST(WidenChains, KeepsWhatIsSummedAndReadAgain) {
  // Softmax: only the result is rounded, and the sum by the module itself.
  EXPECT_EQ(Widen(R"(
  e = bf16[4] exponential(a)
  w = f32[4] convert(e)
  zero = f32[] constant(0)
  sum = f32[] reduce(w, zero), dimensions={0}, to_apply=add
  narrow = bf16[] convert(sum)
  sums = bf16[4] broadcast(narrow), dimensions={}
  ROOT p = bf16[4] divide(e, sums))",
                  R"(
add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT s = f32[] add(x, y)
})"),
            2);
}

TEST(WidenChains, NotSingleOperations) {
  EXPECT_EQ(Widen("ROOT m = bf16[4] multiply(a, b)"), -1);
  EXPECT_EQ(Widen(R"(
  n = bf16[4] negate(a)
  ROOT m = bf16[4] multiply(n, b))"),
            -1);
}

TEST(WidenChains, NotConversionsOfTheModule) {
  // The digits that bf16 has no room for.
  EXPECT_EQ(Widen(R"(
  x = f32[4] convert(a)
  y = f32[4] exponential(x)
  high = bf16[4] convert(y)
  wide = f32[4] convert(high)
  ROOT low = f32[4] subtract(y, wide))"),
            -1);
}

TEST(WidenChains, NotWhatDecides) {
  // A mask by a value of which the digits beyond bf16 would count.
  EXPECT_EQ(Widen(R"(
  m = bf16[4] multiply(a, b)
  s = bf16[4] add(m, c)
  ROOT p = pred[4] compare(s, c), direction=LT)"),
            -1);
  EXPECT_EQ(Widen(R"(
  m = bf16[4] multiply(a, b)
  s = bf16[4] add(m, c)
  ROOT f = bf16[4] floor(s))"),
            -1);
  EXPECT_EQ(Widen(R"(
  m = bf16[4] multiply(a, b)
  s = bf16[4] add(m, c)
  ROOT i = s32[4] convert(s))"),
            -1);
  EXPECT_EQ(Widen(R"(
  m = bf16[4] multiply(a, b)
  s = bf16[4] add(m, c)
  ROOT o = bf16[4] sort(s), dimensions={0}, to_apply=less)",
                  R"(
less {
  x = bf16[] parameter(0)
  y = bf16[] parameter(1)
  ROOT p = pred[] compare(x, y), direction=LT
})"),
            -1);
}

// If y is x·x in bf16, the difference is not to be a small number.
TEST(WidenChains, NotWhereADifferenceHasAnEdge) {
  for (const char* edge : {"rsqrt(d)", "sqrt(d)", "log(d)", "log-plus-one(d)",
                           "divide(c, d)", "power(d, c)"}) {
    SCOPED_TRACE(edge);
    EXPECT_EQ(Widen(absl::StrCat(R"(
  m = bf16[4] multiply(a, a)
  d = bf16[4] subtract(m, b)
  ROOT r = bf16[4] )",
                                 edge)),
              -1);
    // A square is no such number.
    EXPECT_EQ(Widen(absl::StrReplaceAll(R"(
  e = bf16[4] subtract(a, b)
  d = bf16[4] multiply(e, e)
  ROOT r = bf16[4] EDGE)",
                                        {{"EDGE", edge}})),
              1);
  }
}

TEST(WidenChains, NotInLoopsOfModulesThatDecide) {
  constexpr absl::string_view kLoop = R"(
body {
  s = (s32[], bf16[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  v = bf16[4] get-tuple-element(s), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  q = bf16[4] multiply(v, v)
  r = bf16[4] tanh(q)
  ROOT t = (s32[], bf16[4]) tuple(next, r)
}
more {
  s = (s32[], bf16[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(9)
  ROOT p = pred[] compare(i, n), direction=LT
})";
  constexpr absl::string_view kEntry = R"(
  z = s32[] constant(0)
  m = bf16[4] multiply(a, b)
  x = bf16[4] add(m, c)
  t = (s32[], bf16[4]) tuple(z, x)
  l = (s32[], bf16[4]) while(t), condition=more, body=body
  v = bf16[4] get-tuple-element(l), index=1
  )";
  EXPECT_EQ(Widen(absl::StrCat(kEntry, "ROOT n = bf16[4] negate(v)"), kLoop),
            1);
  EXPECT_EQ(Widen(absl::StrCat(kEntry,
                               "ROOT p = pred[4] compare(v, c), direction=LT"),
                  kLoop),
            -1);
}

TEST(WidenChains, NotOfF16) {
  hlo::Module module = ParseModule(ModuleText(R"(
  a = f16[4] parameter(0)
  m = f16[4] multiply(a, a)
  ROOT s = f16[4] add(m, a))"));
  EXPECT_FALSE(WidenChains(module));
}

TEST(WidenChains, LoweredProgramsAreNearerToTheTruth) {
  // (1 + 2^-7)² - (1 + 2^-6) is 2^-14; rounded in between, it is 0.
  const hlo::Module module = ParseModule(ModuleText(R"(
  a = bf16[1] parameter(0)
  b = bf16[1] parameter(1)
  m = bf16[1] multiply(a, a)
  ROOT d = bf16[1] subtract(m, b))"));
  HONE_ASSERT_OK_AND_ASSIGN(const Program program, LowerToProgram(module));
  hlo::Literal a(hlo::Shape::Array(ElementType::kBf16, {1}));
  hlo::Literal b(a.shape_ptr());
  a.SetDouble(0, 1 + 0x1p-7);
  b.SetDouble(0, 1 + 0x1p-6);
  HONE_ASSERT_OK_AND_ASSIGN(const auto results, Interpret(program, {a, b}));
  EXPECT_EQ(results[0].AsDouble(0), 0x1p-14);
}

}  // namespace
}  // namespace hone::loops
