#include "hlo/analysis/structural_equality.h"

#include "gtest/gtest.h"

#include "hlo/text/parser.h"
#include "tests/support/status_matchers.h"

namespace hone::hlo {
namespace {

// The instruction of that name in the entry computation.
const Instruction& Find(const Module& module, absl::string_view name) {
  const Computation& entry = module.entry_computation();
  for (InstructionId id : entry.LiveInstructions()) {
    if (entry[id].name() == name) return entry[id];
  }
  ADD_FAILURE() << name;
  return entry[entry.root()];
}

TEST(SameOperation, LooksAtEverythingButOperandsNamesAndMetadata) {
  HONE_ASSERT_OK_AND_ASSIGN(const Module module, ParseHloText(R"(
HloModule m
ENTRY e {
  p = f32[2,3] parameter(0)
  q = f32[2,3] parameter(1)
  a = f32[2,3] negate(p), metadata={op_name="a"}
  b = f32[2,3] negate(q)
  layout = f32[2,3]{0,1} negate(q)
  sharded = f32[2,3] negate(q), sharding={replicated}
  one = f32[] constant(1)
  uno = f32[] constant(1)
  two = f32[] constant(2)
  elided.1 = f32[9] constant({...})
  elided.2 = f32[9] constant({...})
  u.1 = f32[2,3] future-one(p)
  u.2 = f32[2,3] future-two(p)
  ROOT r = f32[2,3] add(a, b)
})"));
  const auto same = [&](absl::string_view x, absl::string_view y,
                        bool ignore_layout = false) {
    const bool result =
        SameOperation(Find(module, x), Find(module, y), ignore_layout);
    if (result) {
      EXPECT_EQ(HashOperation(Find(module, x)), HashOperation(Find(module, y)));
    }
    return result;
  };
  EXPECT_TRUE(same("a", "b"));
  EXPECT_FALSE(same("b", "layout"));
  EXPECT_TRUE(same("b", "layout", /*ignore_layout=*/true));
  EXPECT_FALSE(same("b", "sharded"));
  EXPECT_FALSE(same("p", "q"));
  EXPECT_TRUE(same("one", "uno"));
  EXPECT_FALSE(same("one", "two"));
  EXPECT_FALSE(same("elided.1", "elided.2"));
  EXPECT_TRUE(same("elided.1", "elided.1"));
  EXPECT_FALSE(same("u.1", "u.2"));
}

TEST(ComputationClasses, GroupsComputationsByContent) {
  HONE_ASSERT_OK_AND_ASSIGN(const Module module, ParseHloText(R"(
HloModule m
leaf.1 {
  a = f32[] parameter(0)
  ROOT r = f32[] negate(a)
}
leaf.2 {
  x = f32[] parameter(0)
  ROOT y = f32[] negate(x), metadata={op_name="y"}
}
leaf.3 {
  x = f32[] parameter(0)
  ROOT y = f32[] abs(x)
}
caller.1 {
  a = f32[] parameter(0)
  ROOT r = f32[] call(a), to_apply=leaf.1
}
caller.2 {
  a = f32[] parameter(0)
  ROOT r = f32[] call(a), to_apply=leaf.2
}
caller.3 {
  a = f32[] parameter(0)
  ROOT r = f32[] call(a), to_apply=leaf.3
}
ENTRY e {
  p = f32[] parameter(0)
  a = f32[] call(p), to_apply=caller.1
  b = f32[] call(a), to_apply=caller.2
  ROOT c = f32[] call(b), to_apply=caller.3
})"));
  const ComputationClasses classes(module);
  const Instruction& a = Find(module, "a");
  const Instruction& b = Find(module, "b");
  const Instruction& c = Find(module, "c");
  EXPECT_TRUE(classes.SameCalled(a, b));
  EXPECT_FALSE(classes.SameCalled(a, c));
  EXPECT_EQ(classes.ClassOf(a.called()[0]), classes.ClassOf(b.called()[0]));
  EXPECT_EQ(classes.ClassOf(c.called()[0]), c.called()[0]);
}

}  // namespace
}  // namespace hone::hlo
