#include "hlo/fusion/fusion_space.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/hlo/fusion/support.h"

namespace hone::hlo {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> Names(const FusionSpace& space,
                               const std::vector<FusionIndex>& nodes) {
  std::vector<std::string> names;
  for (const FusionIndex node : nodes) names.push_back(space.NameOf(node));
  return names;
}

TEST(FusionSpace, WhatCrossesOrIsSeenIsNotFused) {
  const FusionSpace space(VerifiedModule(R"(HloModule m
callee {
  p = f32[4,4] parameter(0)
  inner = f32[4,4] negate(p)
  ROOT outer = f32[4,4] tanh(inner)
}
less {
  p = f32[] parameter(0)
  q = f32[] parameter(1)
  ROOT l = pred[] compare(p, q), direction=LT
}
ENTRY main {
  x = f32[4,4] parameter(0)
  to_call = f32[4,4] negate(x)
  called = f32[4,4] call(to_call), to_apply=callee
  to_custom = f32[4,4] sine(called)
  custom = f32[4,4] custom-call(to_custom), custom_call_target="f"
  to_sort = f32[4,4] cosine(custom)
  sorted = f32[4,4] sort(to_sort), dimensions={1}, to_apply=less
  held = f32[4,4] abs(sorted)
  free = f32[4,4] floor(held)
  unknown_attribute = f32[4,4] ceil(free), mystery={1}
  after = f32[4,4] exponential(unknown_attribute), control-predecessors={held}
  last = f32[4,4] log(after)
  kept = f32[4,4] sqrt(last)
  ROOT t = (f32[4,4], f32[4,4]) tuple(kept, last)
})"));
  EXPECT_THAT(Names(space, space.fusible()), ElementsAre("inner"));
  EXPECT_THAT(Names(space, space.swappable()), ElementsAre("inner"));
}

TEST(FusionSpace, ScheduledModulesStay) {
  const FusionSpace space(VerifiedModule(R"(HloModule m, is_scheduled=true
ENTRY main {
  x = f32[4] parameter(0)
  a = f32[4] negate(x)
  ROOT b = f32[4] tanh(a)
})"));
  EXPECT_THAT(space.fusible(), IsEmpty());
}

FusionRole RoleOfLast(const std::string& instruction,
                      const std::string& parameters) {
  const FusionSpace space(VerifiedModule(absl::StrCat(
      "HloModule m\nadd {\n  a = f32[] parameter(0)\n  b = f32[] "
      "parameter(1)\n  ROOT sum = f32[] add(a, b)\n}\nENTRY main {\n",
      parameters, "  zero = f32[] constant(0)\n  ROOT last = ", instruction,
      "\n}")));
  return space.node(NodeNamed(space, "last")).role;
}

TEST(FusionSpace, ReductionsAreHeroesBySize) {
  const std::string parameters = "  x = f32[16,15] parameter(0)\n";
  EXPECT_EQ(RoleOfLast("f32[15] reduce(x, zero), dimensions={0}, to_apply=add",
                       parameters),
            FusionRole::kHero);
  // With the initial value it reads 16 times what it writes.
  EXPECT_EQ(RoleOfLast("f32[1] reduce(y, zero), dimensions={1}, to_apply=add",
                       "  y = f32[1,15] parameter(0)\n"),
            FusionRole::kHero);
  EXPECT_EQ(RoleOfLast("f32[16] reduce(x, zero), dimensions={1}, to_apply=add",
                       parameters),
            FusionRole::kMovement);
}

// What XLA:CPU computes wrongly, or not at all, inside of a fusion.
TEST(FusionSpace, ContractionsThatXlaDoesNotFuseAreAlone) {
  const std::string parameters =
      "  x = f32[4,8,8,4] parameter(0)\n  k = f32[3,3,4,8] parameter(1)\n";
  const auto role = [&](const std::string& shape, const std::string& window,
                        const std::string& more) {
    return RoleOfLast(
        absl::StrCat("f32[", shape, "] convolution(x, k), window={size=3x3 ",
                     window, "}, dim_labels=b01f_01io->b01f", more),
        parameters);
  };
  EXPECT_EQ(role("4,8,8,8", "pad=1_1x1_1", ""), FusionRole::kHero);
  EXPECT_EQ(role("4,17,8,8", "pad=2_2x1_1 lhs_dilate=2x1", ""),
            FusionRole::kHero);
  EXPECT_EQ(role("4,9,8,8", "pad=2_2x1_1 stride=2x1 lhs_dilate=2x1", ""),
            FusionRole::kAlone);
  EXPECT_EQ(role("4,8,8,8", "pad=1_1x1_1 rhs_reversal=1x1", ""),
            FusionRole::kAlone);
  EXPECT_EQ(role("2,8,8,8", "pad=1_1x1_1", ", batch_group_count=2"),
            FusionRole::kAlone);
  EXPECT_EQ(RoleOfLast("s32[4,4] dot(x, x), lhs_contracting_dims={1}, "
                       "rhs_contracting_dims={0}",
                       "  x = s8[4,4] parameter(0)\n"),
            FusionRole::kAlone);
}

}  // namespace
}  // namespace hone::hlo
