#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "hlo/passes/registry.h"
#include "tests/hlo/passes/control_flow/run_pass.h"
#include "tests/hlo/passes/golden.h"
#include "tests/support/status_matchers.h"

namespace hone::hlo {
namespace {

TEST(CallInliner, InlinesNestedCallsAtEverySite) {
  ExpectRewrites("call-inliner", R"(
HloModule m
inner {
  a = f32[4] parameter(0)
  ROOT r = f32[4] negate(a)
}
outer {
  a = f32[4] parameter(0)
  b = f32[4] parameter(1)
  c = f32[4] call(b), to_apply=inner
  ROOT r = f32[4] subtract(a, c)
}
ENTRY e {
  p = f32[4] parameter(0)
  q = f32[4] parameter(1)
  x = f32[4] call(p, q), to_apply=outer
  ROOT y = f32[4] call(q, x), to_apply=outer
})",
                 R"(
HloModule m
ENTRY e {
  p = f32[4] parameter(0)
  q = f32[4] parameter(1)
  c.1 = f32[4] negate(q)
  x = f32[4] subtract(p, c.1)
  c.2 = f32[4] negate(x)
  ROOT y = f32[4] subtract(q, c.2)
})");
}

TEST(CallInliner, HandlesBodiesThatReturnAParameter) {
  ExpectRewrites("call-inliner", R"(
HloModule m
second {
  a = f32[4] parameter(0)
  ROOT b = f32[4] parameter(1)
}
ENTRY e {
  p = f32[4] parameter(0)
  q = f32[4] parameter(1)
  ROOT r = f32[4] call(p, q), to_apply=second
})",
                 R"(
HloModule m
ENTRY e {
  p = f32[4] parameter(0)
  ROOT q = f32[4] parameter(1)
})");
}

TEST(CallInliner, InlinesInsideLoopsAndKeepsOtherUsesOfTheComputation) {
  ExpectRewrites("call-inliner", R"(
HloModule m
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}
condition {
  x = f32[] parameter(0)
  n = f32[] constant(10)
  ROOT r = pred[] compare(x, n), direction=LT
}
body {
  x = f32[] parameter(0)
  one = f32[] constant(1)
  ROOT r = f32[] call(x, one), to_apply=sum
}
ENTRY e {
  p = f32[4] parameter(0)
  z = f32[] constant(0)
  s = f32[] reduce(p, z), dimensions={0}, to_apply=sum
  ROOT w = f32[] while(s), condition=condition, body=body
})",
                 R"(
HloModule m
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}
condition {
  x = f32[] parameter(0)
  n = f32[] constant(10)
  ROOT r = pred[] compare(x, n), direction=LT
}
body {
  x = f32[] parameter(0)
  one = f32[] constant(1)
  ROOT r = f32[] add(x, one)
}
ENTRY e {
  p = f32[4] parameter(0)
  z = f32[] constant(0)
  s = f32[] reduce(p, z), dimensions={0}, to_apply=sum
  ROOT w = f32[] while(s), condition=condition, body=body
})");
}

TEST(CallInliner, RemovesWhatTheCallerDoesNotUse) {
  ExpectRewrites("call-inliner", R"(
HloModule m
f {
  a = f32[4] parameter(0)
  b = f32[4] negate(a)
  c = f32[4] abs(a)
  ROOT r = (f32[4], f32[4]) tuple(b, c)
}
ENTRY e {
  p = f32[4] parameter(0)
  unused_call = (f32[4], f32[4]) call(p), to_apply=f
  unused = f32[4] get-tuple-element(unused_call), index=1
  call = (f32[4], f32[4]) call(p), to_apply=f
  ROOT g = f32[4] get-tuple-element(call), index=0
})",
                 R"(
HloModule m
ENTRY e {
  p = f32[4] parameter(0)
  b = f32[4] negate(p)
  c = f32[4] abs(p)
  t = (f32[4], f32[4]) tuple(b, c)
  ROOT g = f32[4] get-tuple-element(t), index=0
})");
}

TEST(CallInliner, KeepsEffectsAndMetadata) {
  Module module = ParseForTest(R"(
HloModule m
f {
  a = f32[4] parameter(0)
  effect = f32[4] custom-call(a), custom_call_target="effect"
  ROOT r = f32[4] negate(a), metadata={op_name="inside"}
}
ENTRY e {
  p = f32[4] parameter(0)
  ROOT r = f32[4] call(p), to_apply=f, metadata={op_name="call"}
})");
  HONE_ASSERT_OK_AND_ASSIGN(const Pass* pass, FindPass("call-inliner"));
  HONE_ASSERT_OK_AND_ASSIGN(const bool changed, pass->Run(module));
  EXPECT_TRUE(changed);
  const Computation& entry = module.entry_computation();
  EXPECT_EQ(entry.live_count(), 3);
  EXPECT_EQ(*entry[entry.root()].metadata(), "op_name=\"inside\"");
}

TEST(CallInliner, KeepsCallsThatMustStay) {
  ExpectUnchanged("call-inliner", R"(
HloModule m
f {
  a = f32[4] parameter(0)
  ROOT r = f32[4] negate(a)
}
ENTRY e {
  p = f32[4] parameter(0)
  a = f32[4] call(p), to_apply=f, frontend_attributes={inlineable="false"}
  b = f32[4] call(p), to_apply=f
  ROOT r = f32[4] add(a, b), control-predecessors={b}
})");
}

// Doubling calls 60 deep stand for 2^60 instructions.
TEST(CallInliner, StopsBeforeTheModuleExplodes) {
  std::string text = R"(
HloModule m
f0 {
  a = f32[] parameter(0)
  ROOT r = f32[] negate(a)
}
)";
  for (int i = 1; i <= 60; ++i) {
    absl::StrAppend(&text, "f", i, " {\n  a = f32[] parameter(0)\n",
                    "  b = f32[] call(a), to_apply=f", i - 1, "\n",
                    "  ROOT r = f32[] call(b), to_apply=f", i - 1, "\n}\n");
  }
  absl::StrAppend(&text, "ENTRY e {\n  a = f32[] parameter(0)\n",
                  "  ROOT r = f32[] call(a), to_apply=f60\n}\n");
  Module module = ParseForTest(text);
  HONE_ASSERT_OK_AND_ASSIGN(const Pass* pass, FindPass("call-inliner"));
  HONE_ASSERT_OK_AND_ASSIGN(const bool changed, pass->Run(module));
  EXPECT_TRUE(changed);
  EXPECT_LT(module.instruction_count(), 2'000'000);
}

// Attributes of the call itself stay with a call.
TEST(CallInliner, KeepsCallsWithAttributesOfTheirOwn) {
  for (const char* attribute :
       {R"(frontend_attributes={_xla_compute_type="host"})",
        R"(frontend_attributes={ _xla_compute_type="host"})",
        R"(frontend_attributes={a="b", inlineable="false"})",
        R"(frontend_attributes={a="b",_xla_stream_annotation="1"})",
        R"(backend_config={"device_type":"host"})",
        // The root inside has another one.
        R"(sharding={replicated})", R"(frontend_attributes={k="2"})"}) {
    ExpectUnchanged("call-inliner", absl::StrCat(R"(
HloModule m
f {
  a = f32[4] parameter(0)
  e = f32[4] custom-call(a), custom_call_target="effect"
  ROOT r = f32[4] negate(e), sharding={devices=[2]0,1}, frontend_attributes={k="1"}
}
ENTRY e {
  p = f32[4] parameter(0)
  ROOT r = f32[4] call(p), to_apply=f, )",
                                                 attribute, "\n}"));
  }
  ExpectUnchanged("call-inliner", R"(
HloModule m
f {
  a = f32[4] parameter(0)
  ROOT r = f32[4] negate(a)
}, execution_thread="side"
ENTRY e {
  p = f32[4] parameter(0)
  ROOT r = f32[4] call(p), to_apply=f
})");
}

TEST(CallInliner, ReadsTheKeysOfAttributesNotTheirValues) {
  constexpr char kAttributes[] =
      R"(frontend_attributes={a="{_xla_b,_xla_c, _xla_d",inlineable="true"})";
  ExpectRewrites("call-inliner",
                 absl::StrCat(R"(
HloModule m
f {
  a = f32[4] parameter(0)
  ROOT r = f32[4] negate(a)
}
ENTRY e {
  p = f32[4] parameter(0)
  ROOT r = f32[4] call(p), to_apply=f, )",
                              kAttributes, "\n}"),
                 absl::StrCat(R"(
HloModule m
ENTRY e {
  p = f32[4] parameter(0)
  ROOT r = f32[4] negate(p), )",
                              kAttributes, "\n}"));
}

TEST(CallInliner, CarriesAttributesAndOrder) {
  const std::string result = RunPass("call-inliner", R"(
HloModule m
f {
  a = f32[4] parameter(0)
  first = f32[4] custom-call(a), custom_call_target="first", sharding={replicated}
  second = f32[4] custom-call(a), custom_call_target="second", control-predecessors={first}
  ROOT r = f32[4] negate(a), frontend_attributes={j="1"}
}
ENTRY e {
  p = f32[4] parameter(0)
  r = f32[4] call(p), to_apply=f, sharding={devices=[2]0,1}, frontend_attributes={k="v"}, origin={{"o"}}
  ROOT s = f32[4] call(r), to_apply=f
})");
  EXPECT_NE(result.find(R"(sharding={devices=[2]0,1})"), std::string::npos);
  EXPECT_NE(result.find(R"({j="1",k="v"})"), std::string::npos) << result;
  EXPECT_NE(result.find(R"(origin={{"o"}})"), std::string::npos) << result;
  size_t orders = 0;
  for (size_t at = result.find("control-predecessors"); at != result.npos;
       at = result.find("control-predecessors", at + 1)) {
    ++orders;
  }
  EXPECT_EQ(orders, 2u) << result;
  EXPECT_EQ(result.find("call("), result.find("custom-call(") + 7) << result;
}

// The bitcast reads the array in the order that the parameter lies in.
TEST(CallInliner, KeepsTheLayoutThatABitcastSees) {
  const std::string result = RunPass("call-inliner", R"(
HloModule m
f {
  a = f32[2,3]{0,1} parameter(0)
  ROOT r = f32[6] bitcast(a)
}
ENTRY e {
  p = f32[2,3] parameter(0)
  ROOT r = f32[6] call(p), to_apply=f
})");
  EXPECT_NE(result.find("f32[2,3]{0,1} copy"), std::string::npos) << result;
}

}  // namespace
}  // namespace hone::hlo
