#include "tuning/registry.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/status_matchers.h"

namespace hone::tuning {
namespace {

using ::hone::testing::StatusIs;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

TEST(TaskRegistry, EveryTaskIsFoundUnderItsOwnName) {
  EXPECT_THAT(Tasks().ids(), Contains("pass_order"));
  for (absl::string_view name : Tasks().ids()) {
    HONE_ASSERT_OK_AND_ASSIGN(const Task* task, FindTask(name));
    EXPECT_EQ(task->name(), name);
  }
}

TEST(TaskRegistry, AnUnknownTaskIsToldTheKnownOnes) {
  EXPECT_THAT(FindTask("nope"),
              StatusIs(absl::StatusCode::kNotFound,
                       AllOf(HasSubstr("'nope'"), HasSubstr("pass_order"))));
}

}  // namespace
}  // namespace hone::tuning
