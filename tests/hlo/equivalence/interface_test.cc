#include "hlo/equivalence/interface.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "hlo/text/parser.h"

namespace hone::hlo {
namespace {

using ::testing::HasSubstr;
using ::testing::Optional;

Module Parse(const std::string& text) {
  absl::StatusOr<Module> module = ParseHloText(text);
  EXPECT_TRUE(module.ok()) << module.status();
  return *std::move(module);
}

constexpr char kModule[] = R"(
HloModule m, input_output_alias={ {}: (0, {}, may-alias) }, num_partitions=2, entry_computation_layout={(f32[2,3]{1,0})->f32[2,3]{1,0}}
ENTRY e {
  p = f32[2,3]{1,0} parameter(0), sharding={replicated}
  ROOT r = f32[2,3]{1,0} negate(p), sharding={replicated}
})";

// What differs after the change.
std::optional<std::string> Changed(absl::string_view from,
                                   absl::string_view to) {
  const std::string changed = absl::StrReplaceAll(kModule, {{from, to}});
  EXPECT_NE(changed, kModule);
  return InterfaceDifference(Parse(kModule), Parse(changed));
}

TEST(InterfaceDifference, NamesWhatCallersSee) {
  EXPECT_THAT(Changed("(f32[2,3]{1,0})->", "(f32[2,3]{0,1})->"),
              Optional(std::string("entry layout of parameter 0: f32[2,3]{1,0} "
                                   "in the original, f32[2,3]{0,1} in the "
                                   "rewrite")));
  EXPECT_THAT(Changed("->f32[2,3]{1,0}", "->f32[2,3]{0,1}"),
              Optional(HasSubstr("entry layout of the result")));
  EXPECT_THAT(Changed("may-alias", "must-alias"),
              Optional(HasSubstr("input_output_alias of the module")));
  EXPECT_THAT(Changed(" num_partitions=2,", ""),
              Optional(std::string("num_partitions of the module: 2 in the "
                                   "original, 1 in the rewrite")));
  EXPECT_THAT(Changed("num_partitions=2", "num_partitions=2, replica_count=4"),
              Optional(HasSubstr("replica_count of the module: 1 in")));
  EXPECT_THAT(Changed("parameter(0), sharding={replicated}", "parameter(0)"),
              Optional(std::string("sharding of parameter 0: {replicated} in "
                                   "the original, none in the rewrite")));
  EXPECT_THAT(Changed("negate(p), sharding={replicated}",
                      "negate(p), sharding={devices=[2,1]0,1}"),
              Optional(HasSubstr("sharding of the result")));
}

TEST(InterfaceDifference, WhatIsLeftOutHasItsDefault) {
  EXPECT_EQ(Changed(", entry_computation_layout={(f32[2,3]{1,0})->f32[2,3]{1,0}"
                    "}",
                    ""),
            std::nullopt);
  EXPECT_EQ(Changed("{1,0}", ""), std::nullopt);
  EXPECT_EQ(Changed("num_partitions=2", "num_partitions=2, replica_count=1"),
            std::nullopt);
  EXPECT_NE(
      InterfaceDifference(Parse("HloModule m\nENTRY e {\n"
                                "  ROOT p = f32[8,4] parameter(0)\n}"),
                          Parse("HloModule m\nENTRY e {\n"
                                "  ROOT p = f32[8,4]{0,1} parameter(0)\n}")),
      std::nullopt);
}

TEST(InterfaceDifference, BlanksOriginsAndOrderDoNotCount) {
  EXPECT_EQ(Changed("{ {}: (0, {}, may-alias) }", "{{}:(0,{},may-alias)}"),
            std::nullopt);
  EXPECT_EQ(Changed("sharding={replicated}", "sharding={ replicated }"),
            std::nullopt);
  EXPECT_EQ(Changed("parameter(0)", "parameter(0), origin={{\"x\"}}"),
            std::nullopt);
  EXPECT_EQ(Changed("HloModule m,",
                    "HloModule m, is_scheduled=true, "
                    "frontend_attributes={a=\"b\"},"),
            std::nullopt);
  EXPECT_EQ(Changed("input_output_alias={ {}: (0, {}, may-alias) }, "
                    "num_partitions=2",
                    "num_partitions=2, "
                    "input_output_alias={ {}: (0, {}, may-alias) }"),
            std::nullopt);
}

TEST(StaticDifference, FindsAllKinds) {
  const auto beside = [](absl::string_view dead) {
    return Parse(
        absl::StrCat("HloModule m\nENTRY e {\n  p = f32[4,4] parameter(0)\n",
                     dead, "\n  ROOT r = f32[4,4] negate(p)\n}"));
  };
  EXPECT_EQ(StaticDifference(beside(""), beside("  d = f32[4,4] add(p, p)")),
            std::nullopt);
  EXPECT_THAT(StaticDifference(Parse(kModule), beside("")),
              Optional(HasSubstr("entry layout of parameter 0")));
  EXPECT_THAT(
      StaticDifference(
          beside(""),
          beside("  c = () custom-call(p), custom_call_target=\"print\", "
                 "custom_call_has_side_effect=true")),
      Optional(HasSubstr("side effect custom-call print")));
  EXPECT_THAT(
      StaticDifference(
          beside(""),
          beside("  d = f32[4,4] dot(p, p), lhs_contracting_dims={1}, "
                 "rhs_contracting_dims={0}, algorithm=dot_bf16_bf16_f32")),
      Optional(HasSubstr("algorithm of a dot")));
}

}  // namespace
}  // namespace hone::hlo
