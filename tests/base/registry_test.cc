#include "base/registry.h"

#include <memory>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/status_matchers.h"

namespace hone {
namespace {

using ::hone::testing::StatusIs;
using ::testing::ElementsAre;

// An entry may have any fields beside the id.
struct Tool {
  absl::string_view id;
  int weight = 0;
  bool sharp = false;
};

Registry<Tool> Tools() {
  return Registry<Tool>("tool", {{"saw", 2, true}, {"hammer", 3}, {"awl", 1}});
}

TEST(Registry, EntriesAreSortedById) {
  const Registry<Tool> tools = Tools();
  EXPECT_THAT(tools.ids(), ElementsAre("awl", "hammer", "saw"));
  EXPECT_EQ(tools.size(), 3u);
  EXPECT_EQ(tools[1].weight, 3);
  int weight = 0;
  for (const Tool& tool : tools) weight += tool.weight;
  EXPECT_EQ(weight, 6);
}

TEST(Registry, AnEntryIsFoundWithItsFields) {
  const Registry<Tool> tools = Tools();
  HONE_ASSERT_OK_AND_ASSIGN(const Tool* saw, tools.Find("saw"));
  EXPECT_EQ(saw->weight, 2);
  EXPECT_TRUE(saw->sharp);
}

TEST(Registry, AnUnknownIdListsTheKnownOnes) {
  const Registry<Tool> tools = Tools();
  for (absl::string_view id : {"", "aw", "awls", "zzz"}) {
    EXPECT_THAT(tools.Find(id), StatusIs(absl::StatusCode::kNotFound,
                                         absl::StrCat("unknown tool '", id,
                                                      "', expected one of: "
                                                      "awl, hammer, saw")));
  }
}

TEST(RegistryDeathTest, AnIdStandsOnce) {
  EXPECT_DEATH(Registry<Tool>("tool", {{"saw"}, {"awl"}, {"saw"}}),
               "check failed");
}

}  // namespace
}  // namespace hone
