#include "hlo/ir/clone.h"

#include "gtest/gtest.h"

#include "hlo/analysis/fingerprint.h"
#include "hlo/inference/verifier.h"
#include "hlo/text/parser.h"
#include "tests/support/status_matchers.h"

namespace hone::hlo {
namespace {

constexpr char kModule[] = R"(
HloModule m
f {
  x = f32[4] parameter(0)
  y = f32[4] parameter(1)
  first = f32[4] custom-call(x), custom_call_target="effect"
  ROOT r = f32[4] subtract(y, x), control-predecessors={first}, metadata={op_name="sub"}
}
f.clone {
  ROOT x = f32[4] parameter(0)
}
ENTRY e {
  p = f32[4] parameter(0)
  q = f32[4] call(p), to_apply=f.clone
  ROOT r = f32[4] call(p, q), to_apply=f
})";

TEST(CloneInto, CopiesTheBodyOntoTheArguments) {
  HONE_ASSERT_OK_AND_ASSIGN(Module module, ParseHloText(kModule));
  Computation& entry = module.mutable_computation(module.entry());
  const InstructionId call = entry.root();
  const Computation& callee = module.computation(entry[call].called()[0]);
  const InstructionId result = CloneInto(callee, entry[call].operands(), entry);
  entry.ReplaceAllUses(call, result);
  entry.Remove(call);
  EXPECT_EQ(*entry[result].metadata(), "op_name=\"sub\"");
  EXPECT_EQ(entry[result].name(), "");
  HONE_EXPECT_OK(VerifyModule(module));
  module.RemoveUnreachableComputations();
  HONE_ASSERT_OK_AND_ASSIGN(const Module expected, ParseHloText(R"(
HloModule m
f.clone {
  ROOT x = f32[4] parameter(0)
}
ENTRY e {
  p = f32[4] parameter(0)
  q = f32[4] call(p), to_apply=f.clone
  first = f32[4] custom-call(p), custom_call_target="effect"
  ROOT r = f32[4] subtract(q, p), control-predecessors={first}
})"));
  EXPECT_EQ(Fingerprint(module), Fingerprint(expected));
}

TEST(ComputationCloner, ChoosesUnusedNames) {
  HONE_ASSERT_OK_AND_ASSIGN(Module module, ParseHloText(kModule));
  const Computation& entry = module.entry_computation();
  const ComputationId f = entry[entry.root()].called()[0];
  ComputationCloner cloner(module);
  const ComputationId a = cloner.Clone(f);
  const ComputationId b = cloner.Clone(f);
  const ComputationId c = cloner.Clone(a);
  EXPECT_EQ(module.computation(a).name(), "f.clone.1");
  EXPECT_EQ(module.computation(b).name(), "f.clone.2");
  EXPECT_EQ(module.computation(c).name(), "f.clone.1.clone");
  EXPECT_EQ(module.computation(a).live_count(),
            module.computation(f).live_count());
  HONE_EXPECT_OK(VerifyModule(module));
}

}  // namespace
}  // namespace hone::hlo
