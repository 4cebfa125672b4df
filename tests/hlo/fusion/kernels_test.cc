#include "hlo/fusion/kernels.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "hlo/analysis/fingerprint.h"
#include "hlo/inference/verifier.h"
#include "hlo/text/printer.h"
#include "tests/hlo/fusion/support.h"
#include "tests/support/status_matchers.h"

namespace hone::hlo {
namespace {

using ::hone::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// "NAME xEXECUTIONS" of each kernel.
std::vector<std::string> Summary(const Module& module) {
  absl::StatusOr<std::vector<Kernel>> kernels = KernelsOf(module);
  EXPECT_TRUE(kernels.ok()) << kernels.status();
  std::vector<std::string> lines;
  for (const Kernel& kernel : *kernels) {
    EXPECT_TRUE(VerifyModule(kernel.module).ok())
        << VerifyModule(kernel.module);
    EXPECT_EQ(module.computation(kernel.computation)[kernel.instruction].name(),
              kernel.module.name());
    lines.push_back(
        absl::StrCat(kernel.module.name(), " x", kernel.executions));
  }
  return lines;
}

TEST(KernelsOf, MultipliesExecutionsOfControlFlow) {
  EXPECT_THAT(Summary(VerifiedModule(R"(HloModule m
inner_body {
  s = (s32[], f32[8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  v = f32[8] get-tuple-element(s), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  w = f32[8] tanh(v)
  ROOT t = (s32[], f32[8]) tuple(next, w)
}
inner_condition {
  s = (s32[], f32[8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(5)
  ROOT less = pred[] compare(i, n), direction=LT
}
called {
  a = f32[8] parameter(0)
  ROOT sine = f32[8] sine(a)
}
yes {
  a = f32[8] parameter(0)
  ROOT negated = f32[8] negate(a)
}
no {
  a = f32[8] parameter(0)
  ROOT same = f32[8] copy(a)
}
ENTRY main {
  x = f32[8] parameter(0)
  p = pred[] parameter(1)
  zero = s32[] constant(0)
  c = f32[8] call(x), to_apply=called
  d = f32[8] call(c), to_apply=called
  t = (s32[], f32[8]) tuple(zero, d)
  loop = (s32[], f32[8]) while(t), condition=inner_condition, body=inner_body, backend_config={"known_trip_count":{"n":"5"}}
  y = f32[8] get-tuple-element(loop), index=1
  z = f32[8] conditional(p, y, y), true_computation=yes, false_computation=no
  ROOT r = f32[8] add(z, x)
})")),
              ElementsAre("r x1", "sine x2", "less x6", "next x5", "w x5",
                          "negated x0.5", "same x0.5"));
}

TEST(KernelsOf, NestedLoopsStayFinite) {
  std::string text = "HloModule m\n";
  const std::string count = "1" + std::string(250, '0');
  for (int i = 0; i < 3; ++i) {
    absl::StrAppend(
        &text, "c", i,
        " { s = f32[4] parameter(0)\n ROOT p = pred[] constant(0) }\n", "b", i,
        " { s = f32[4] parameter(0)\n t = f32[4] tanh(s)\n ROOT r = f32[4] ",
        i == 0
            ? std::string("negate(t)")
            : absl::StrCat("while(t), condition=c", i - 1, ", body=b", i - 1,
                           ", backend_config={\"known_trip_count\":{\"n\":\"",
                           count, "\"}}"),
        " }\n");
  }
  absl::StrAppend(&text,
                  "ENTRY e { x = f32[4] parameter(0)\n ROOT w = f32[4] "
                  "while(x), condition=c2, body=b2 }\n");
  EXPECT_THAT(Summary(VerifiedModule(text)),
              ElementsAre("t x1", "t x1e+18", "t x1e+18", "r x1e+18"));
}

// As XLA writes it: several results, a fusion inside, a call inside.
constexpr char kFromXla[] = R"(HloModule m
nested {
  a = f32[8,4] parameter(0)
  ROOT n = f32[8,4] negate(a)
}
called {
  a = f32[8,4] parameter(0)
  ROOT n = f32[8,4] tanh(a)
}
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT sum = f32[] add(a, b)
}
pair {
  a = f32[8,4] parameter(0)
  b = f32[8,4] parameter(1)
  ROOT t = (f32[8,4], f32[8,4]) tuple(a, b)
}
fused {
  a = f32[8,4] parameter(0)
  zero = f32[] parameter(1)
  n = f32[8,4] fusion(a), kind=kLoop, calls=nested, metadata={op_name="n"}
  c = f32[8,4] call(n), to_apply=called
  p = (f32[8,4], f32[8,4]) fusion(n, c), kind=kLoop, calls=pair
  second = f32[8,4] get-tuple-element(p), index=1
  s = f32[4] reduce(second, zero), dimensions={0}, to_apply=add
  ROOT t = (f32[8,4], f32[4]) tuple(c, s)
}
ENTRY main {
  x = f32[8,4] parameter(0)
  zero = f32[] constant(0)
  f = (f32[8,4], f32[4]) fusion(x, zero), kind=kInput, calls=fused, sharding={{replicated}, {replicated}}
  g0 = f32[8,4] get-tuple-element(f), index=0
  g1 = f32[4] get-tuple-element(f), index=1
  ROOT r = f32[4] reduce(g0, zero), dimensions={0}, to_apply=add
})";

TEST(KernelsOf, InlinesWhatXlaNests) {
  const Module module = VerifiedModule(kFromXla);
  HONE_ASSERT_OK_AND_ASSIGN(const std::vector<Kernel> kernels,
                            KernelsOf(module));
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(
      PrintModule(kernels[0].module, {.layouts = false}),
      R"(HloModule f, entry_computation_layout={(f32[8,4], f32[])->(f32[8,4], f32[4])}

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT sum = f32[] add(a, b)
}

ENTRY kernel {
  param_0 = f32[8,4] parameter(0)
  param_1 = f32[] parameter(1)
  negate = f32[8,4] negate(param_0)
  tanh = f32[8,4] tanh(negate)
  s = f32[4] reduce(tanh, param_1), dimensions={0}, to_apply=add
  ROOT t = (f32[8,4], f32[4]) tuple(tanh, s)
}
)");
  // A scalar constant is part of the kernel of a single instruction.
  EXPECT_EQ(kernels[1].module.entry_computation().parameters().size(), 1u);
}

TEST(KernelsOf, EqualKernelsHaveEqualFingerprints) {
  HONE_ASSERT_OK_AND_ASSIGN(const std::vector<Kernel> kernels,
                            KernelsOf(VerifiedModule(R"(HloModule m
ENTRY main {
  x = f32[8] parameter(0)
  y = f32[8] tanh(x), metadata={op_name="first"}
  z = f32[8] tanh(y), frontend_attributes={a="b"}
  ROOT w = f32[8] sine(z)
})")));
  ASSERT_EQ(kernels.size(), 3u);
  EXPECT_EQ(FastFingerprint(kernels[0].module),
            FastFingerprint(kernels[1].module));
  EXPECT_FALSE(FastFingerprint(kernels[0].module) ==
               FastFingerprint(kernels[2].module));
}

TEST(KernelsOf, CommunicationAndTransfersAreNone) {
  EXPECT_THAT(Summary(VerifiedModule(R"(HloModule m
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT sum = f32[] add(a, b)
}
ENTRY main {
  x = f32[8] parameter(0)
  token = token[] after-all()
  in = (f32[8], token[]) infeed(token)
  y = f32[8] get-tuple-element(in), index=0
  sum = f32[8] all-reduce(y), replica_groups={}, to_apply=add
  ROOT r = f32[8] add(sum, x)
})")),
              ElementsAre("r x1"));
  EXPECT_THAT(Summary(VerifiedModule(
                  "HloModule m\nENTRY e { ROOT p = f32[4] parameter(0) }")),
              IsEmpty());
}

TEST(KernelsOf, AnUnknownOpcodeIsAKernel) {
  EXPECT_THAT(Summary(VerifiedModule(R"(HloModule m
ENTRY main {
  x = f32[8] parameter(0)
  y = f32[8] frobnicate(x), strength=3
  c = f32[8] custom-call(y), custom_call_target="f"
  ROOT t = (f32[8], f32[8]) tuple(y, c)
})")),
              ElementsAre("y x1", "c x1"));
}

void ExpectNoKernels(absl::string_view text, absl::string_view message) {
  EXPECT_THAT(KernelsOf(VerifiedModule(text)),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr(std::string(message))));
}

TEST(KernelsOf, NamesWhatDoesNotDecompose) {
  ExpectNoKernels(R"(HloModule m
ENTRY main {
  x = f32[8] parameter(0)
  t = (f32[8], f32[8]) tuple(x, x)
  ROOT c = f32[8] custom-call(t), custom_call_target="f"
})",
                  "instruction c: operand 0 is (f32[8], f32[8]), expected an "
                  "array of static size");
  ExpectNoKernels(R"(HloModule m
ENTRY main {
  x = f32[<=8] parameter(0)
  ROOT n = f32[<=8] negate(x)
})",
                  "instruction n: operand 0 is f32[<=8], expected");
  ExpectNoKernels(R"(HloModule m
c { s = f32[4] parameter(0)
  ROOT p = pred[] constant(0) }
b { s = f32[4] parameter(0)
  ROOT r = f32[4] negate(s) }
fused { s = f32[4] parameter(0)
  ROOT w = f32[4] while(s), condition=c, body=b }
ENTRY main {
  x = f32[4] parameter(0)
  ROOT f = f32[4] fusion(x), kind=kLoop, calls=fused
})",
                  "instruction f: has a while inside, expected none");
}

// Fusions that share what they nest may be exponentially larger than their
// text, or deeper than the stack.
TEST(KernelsOf, HostileFusionsEndInErrors) {
  std::string text = "HloModule m\n";
  std::string deep = text;
  for (int i = 0; i < 40; ++i) {
    const std::string inner =
        i == 0 ? "negate(a)"
               : absl::StrCat("fusion(a), kind=kLoop, calls=f", i - 1);
    const std::string outer =
        i == 0 ? "negate(b)"
               : absl::StrCat("fusion(b), kind=kLoop, calls=f", i - 1);
    absl::StrAppend(&text, "f", i, " { a = f32[4] parameter(0)\n b = f32[4] ",
                    inner, "\n ROOT c = f32[4] ", outer, " }\n");
  }
  ExpectNoKernels(absl::StrCat(text,
                               "ENTRY e { x = f32[4] parameter(0)\n ROOT top = "
                               "f32[4] fusion(x), kind=kLoop, calls=f39 }"),
                  "instruction top: is too large, expected at most 100000");
  // Also if what they nest adds nothing.
  std::string empty = "HloModule m\nf0 { ROOT a = f32[4] parameter(0) }\n";
  for (int i = 1; i < 60; ++i) {
    absl::StrAppend(&empty, "f", i,
                    " { a = f32[4] parameter(0)\n b = f32[4] fusion(a), "
                    "kind=kLoop, calls=f",
                    i - 1, "\n ROOT c = f32[4] fusion(b), kind=kLoop, calls=f",
                    i - 1, " }\n");
  }
  ExpectNoKernels(absl::StrCat(empty,
                               "ENTRY e { x = f32[4] parameter(0)\n ROOT top = "
                               "f32[4] fusion(x), kind=kLoop, calls=f59 }"),
                  "instruction top: is too large, expected at most 100000");
  for (int i = 0; i < 200; ++i) {
    absl::StrAppend(
        &deep, "f", i, " { a = f32[4] parameter(0)\n ROOT c = f32[4] ",
        i == 0 ? "negate(a)"
               : absl::StrCat("fusion(a), kind=kLoop, calls=f", i - 1),
        " }\n");
  }
  ExpectNoKernels(
      absl::StrCat(deep,
                   "ENTRY e { x = f32[4] parameter(0)\n ROOT top = "
                   "f32[4] fusion(x), kind=kLoop, calls=f199 }"),
      "instruction top: fusions nest too deep, expected at most 100");
}

}  // namespace
}  // namespace hone::hlo
