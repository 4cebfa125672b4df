#include "hlo/rewrite/carried_attributes.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/hlo/rewrite/entry_module.h"

namespace hone::hlo {
namespace {

using ::testing::ElementsAre;
using ::testing::Optional;
using ::testing::Pair;

// `old` and `new`, with these attributes behind their operands.
Module TwoNegations(absl::string_view old_attributes,
                    absl::string_view new_attributes) {
  return EntryModule(absl::StrCat(R"(
  x = f32[4] parameter(0)
  old = f32[4] negate(x))",
                                  old_attributes, R"(
  new = f32[4] negate(x))",
                                  new_attributes, R"(
  ROOT t = (f32[4], f32[4]) tuple(old, new))"));
}

// The text of attribute `name` of `new` after it takes the place of `old`:
// "refused", or "none".
std::string Carried(absl::string_view name, absl::string_view old_attributes,
                    absl::string_view new_attributes, bool is_new) {
  Module module = TwoNegations(old_attributes, new_attributes);
  Computation& entry = module.mutable_computation(module.entry());
  const InstructionId old = Find(module, "old");
  const InstructionId replacement = Find(module, "new");
  if (!MayCarryAttributes(entry, old, entry[replacement], is_new)) {
    return "refused";
  }
  CarryAttributes(entry, old, replacement, is_new);
  const std::string* text = FindAttribute(entry[replacement], name);
  return text == nullptr ? "none" : *text;
}

TEST(CarriedAttributes, FollowTheTableOfTheHeader) {
  constexpr char kSharding[] = ", sharding={replicated}";
  EXPECT_EQ(Carried("sharding", kSharding, "", true), "{replicated}");
  EXPECT_EQ(Carried("sharding", kSharding, "", false), "{replicated}");
  EXPECT_EQ(
      Carried("sharding", kSharding, ", sharding={maximal device=0}", false),
      "refused");
  constexpr char kFrontend[] = R"(, frontend_attributes={a="1"})";
  EXPECT_EQ(Carried("frontend_attributes", kFrontend, "", true), R"({a="1"})");
  EXPECT_EQ(Carried("frontend_attributes", kFrontend, "", false), "refused");
  EXPECT_EQ(Carried("frontend_attributes", kFrontend, kFrontend, false),
            R"({a="1"})");
  EXPECT_EQ(Carried("origin", R"(, origin={{"o"}})", "", false), R"({{"o"}})");
  EXPECT_EQ(
      Carried("origin", R"(, origin={{"o"}})", R"(, origin={{"p"}})", true),
      R"({{"p"}})");
  EXPECT_EQ(Carried("foo", ", foo={1}", "", true), "refused");
}

TEST(CarriedAttributes, FrontendAttributesAreMergedUnlessTheyContradict) {
  const auto merged = [](absl::string_view a, absl::string_view b) {
    return Carried("frontend_attributes",
                   absl::StrCat(", frontend_attributes=", a),
                   absl::StrCat(", frontend_attributes=", b), true);
  };
  EXPECT_EQ(merged(R"({a="1"})", R"({b="2"})"), R"({b="2",a="1"})");
  EXPECT_EQ(merged(R"({a="1",b="2"})", R"({b="2"})"), R"({b="2",a="1"})");
  EXPECT_EQ(merged(R"({a="1",b="2"})", R"({b="3"})"), "refused");
  // Blanks are no part of a key.
  EXPECT_EQ(merged(R"({ a="1", b="2" })", R"({b="3"})"), "refused");
  EXPECT_EQ(merged(R"({a="x,b=\"y\""})", R"({b="3"})"),
            R"({b="3",a="x,b=\"y\""})");
}

TEST(CarriedAttributes, FrontendAttributesAreEntries) {
  const auto entries = [](absl::string_view attributes) {
    const Module module = TwoNegations(attributes, "");
    return FrontendAttributes(module.entry_computation()[Find(module, "old")]);
  };
  EXPECT_THAT(entries(""), Optional(ElementsAre()));
  EXPECT_THAT(
      entries(R"(, frontend_attributes={ _a="1,_b=2", c={d="4"}})"),
      Optional(ElementsAre(Pair("_a", "\"1,_b=2\""), Pair("c", R"({d="4"})"))));
  EXPECT_EQ(entries(", frontend_attributes={a}"), std::nullopt);
}

}  // namespace
}  // namespace hone::hlo
