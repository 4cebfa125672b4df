#include "optimizers/registry.h"

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/status_matchers.h"
#include "tests/support/toy_problems.h"

namespace hone::optimizers {
namespace {

using ::hone::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

const std::filesystem::path kFolder =
    std::filesystem::path(HONE_SOURCE_DIR) / "optimizers";

TEST(OptimizerRegistry, KeepsTheStableIds) {
  std::set<std::string> ids;
  for (const OptimizerInfo& info : Optimizers()) ids.emplace(info.id);
  EXPECT_THAT(ids, ::testing::IsSupersetOf(
                       {"annealing", "beam", "default", "dqn", "finetune",
                        "greedy", "guided", "hdp", "policy", "ppo", "random"}));
}

// A source is an optimizer or has a header of its own; but for the entry of the
// shared object.
TEST(OptimizerRegistry, ListsEverySource) {
  std::set<std::string> optimizers;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(kFolder)) {
    std::filesystem::path path = entry.path();
    if (path.extension() != ".cc") continue;
    const std::string stem = path.stem().string();
    if (!std::filesystem::exists(path.replace_extension(".h"))) {
      optimizers.insert(stem);
    }
  }
  optimizers.erase("plugin");
  std::set<std::string> listed;
  for (const OptimizerInfo& info : Optimizers()) listed.emplace(info.id);
  EXPECT_EQ(optimizers, listed);
}

TEST(OptimizerRegistry, UnknownIdListsTheKnownOnes) {
  EXPECT_THAT(Optimizers().Find("gradient"),
              StatusIs(absl::StatusCode::kNotFound,
                       AllOf(HasSubstr("'gradient'"),
                             HasSubstr("annealing, beam, default"))));
  const auto problem = testing::NumberRewriting();
  EXPECT_THAT(CreateOptimizer("gradient", *problem, {}),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("beam")));
}

TEST(OptimizerRegistry, UnsupportedKindIsInvalid) {
  OptimizerInfo info = **Optimizers().Find("beam");
  info.kinds = kAssignment;
  EXPECT_THAT(CreateOptimizer(info, *testing::NumberRewriting(), {}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "optimizer 'beam' does not support sequential problems, "
                       "expected an assignment problem"));
  HONE_EXPECT_OK(CreateOptimizer(info, *testing::CappedSum(), {}));
  info.kinds = kSequential;
  EXPECT_THAT(
      CreateOptimizer(info, *testing::CappedSum(), {}),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("assignment")));
}

}  // namespace
}  // namespace hone::optimizers
