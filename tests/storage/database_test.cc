#include "storage/sqlite/database.h"

#include <memory>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <sys/stat.h>
#include <unistd.h>

#include "base/temporary_directory.h"
#include "tests/support/status_matchers.h"

namespace hone::storage::sqlite {
namespace {

using ::hone::testing::StatusIs;
using ::testing::HasSubstr;

TEST(DatabaseTest, APutTogetherQueryMayBeGoneBeforeItsStatement) {
  Events events;
  HONE_ASSERT_OK_AND_ASSIGN(
      const std::unique_ptr<Database> database,
      Database::Open(":memory:", Database::Mode::kReadWrite,
                     absl::ZeroDuration(), &events));
  std::string sql = "SELECT 1";
  {
    HONE_ASSERT_OK_AND_ASSIGN(const Statement one, database->Prepare(sql));
    sql = "SELECT 2";
  }
  HONE_ASSERT_OK_AND_ASSIGN(const int64_t two, database->QueryInt(sql));
  EXPECT_EQ(two, 2);
  HONE_ASSERT_OK_AND_ASSIGN(const int64_t one, database->QueryInt("SELECT 1"));
  EXPECT_EQ(one, 1);
}

// As one that root has restored.
TEST(DatabaseTest, AFileThatCannotBeWrittenIsRefused) {
  TemporaryDirectory directory;
  const std::string path = directory.path() + "/hone.db";
  Events events;
  const auto open = [&] {
    return Database::Open(path, Database::Mode::kReadWrite,
                          absl::ZeroDuration(), &events)
        .status();
  };
  HONE_ASSERT_OK(open());
  ASSERT_EQ(chmod(path.c_str(), 0444), 0);
  ASSERT_EQ(chmod(directory.path().c_str(), 0777), 0);
  // To root every file is writable.
  const bool is_root = geteuid() == 0;
  constexpr uid_t kNobody = 65534;
  if (is_root) {
    ASSERT_EQ(seteuid(kNobody), 0);
  }
  EXPECT_THAT(open(), StatusIs(absl::StatusCode::kUnavailable,
                               HasSubstr("cannot be written")));
  if (is_root) {
    ASSERT_EQ(seteuid(0), 0);
  }
}

}  // namespace
}  // namespace hone::storage::sqlite
