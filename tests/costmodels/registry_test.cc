#include "costmodels/registry.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/status_matchers.h"

namespace hone::costmodels {
namespace {

TEST(CostModelRegistry, IdsAreTheNames) {
  for (absl::string_view name : CostModels().ids()) {
    HONE_ASSERT_OK_AND_ASSIGN(auto model, CreateCostModel(name));
    EXPECT_EQ(model->name(), name);
  }
}

TEST(CostModelRegistry, ListsEverySource) {
  std::set<std::string> models;
  for (const auto& entry : std::filesystem::directory_iterator(
           std::filesystem::path(HONE_SOURCE_DIR) / "costmodels")) {
    std::filesystem::path path = entry.path();
    if (path.extension() != ".cc") continue;
    std::string stem = path.stem().string();
    std::replace(stem.begin(), stem.end(), '_', '-');
    if (!std::filesystem::exists(path.replace_extension(".h"))) {
      models.insert(stem);
    }
  }
  std::set<std::string> listed;
  for (absl::string_view name : CostModels().ids()) listed.emplace(name);
  EXPECT_EQ(models, listed);
}

TEST(CostModelRegistry, UnknownIdListsTheKnownOnes) {
  EXPECT_THAT(CreateCostModel("oracle"),
              testing::StatusIs(absl::StatusCode::kNotFound,
                                ::testing::HasSubstr("analytical")));
}

}  // namespace
}  // namespace hone::costmodels
