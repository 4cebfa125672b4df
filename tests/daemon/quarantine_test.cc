#include "daemon/quarantine.h"

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "storage/memory_store.h"
#include "tests/support/status_matchers.h"
#include "tuning/search.h"

namespace hone::daemon {
namespace {

using ::hone::testing::StatusIs;
using ::testing::_;
using ::testing::HasSubstr;

class ModuleQuarantineTest : public ::testing::Test {
 protected:
  storage::MemoryStore store_;
  Metrics metrics_;
  Quarantine quarantine_{store_, metrics_};
};

TEST_F(ModuleQuarantineTest, FailuresOfProcessesAreCountedAndSetAModuleAside) {
  const absl::Status failure =
      tuning::ProcessFailure(absl::InternalError("ended by signal 9"));
  for (int i = 1; i < Quarantine::kMaxFailures; ++i) {
    quarantine_.Count("a", failure);
    quarantine_.Count("b", absl::InternalError("no failure of a process"));
    HONE_EXPECT_OK(quarantine_.Check("a"));
  }
  quarantine_.Count("a", failure);
  EXPECT_EQ(metrics_.process_failures.Value(), Quarantine::kMaxFailures);
  EXPECT_EQ(metrics_.modules_quarantined.Value(), 1);
  EXPECT_THAT(quarantine_.Check("a"),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("ended by signal 9, 3 times")));
  HONE_EXPECT_OK(quarantine_.Check("b"));
}

TEST_F(ModuleQuarantineTest, OutlivesTheDaemonUntilItsRelease) {
  quarantine_.Add("a", "reason");
  Quarantine next(store_, metrics_);
  HONE_ASSERT_OK(next.Load());
  EXPECT_THAT(next.Check("a"),
              StatusIs(absl::StatusCode::kFailedPrecondition, _));
  HONE_EXPECT_OK(next.Release("a"));
  HONE_EXPECT_OK(next.Check("a"));
  EXPECT_THAT(next.Release("a"), StatusIs(absl::StatusCode::kNotFound, _));
}

}  // namespace
}  // namespace hone::daemon
