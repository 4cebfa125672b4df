#include "storage/sqlite/database.h"

#include <memory>
#include <string>

#include "gtest/gtest.h"

#include "tests/support/status_matchers.h"

namespace hone::storage::sqlite {
namespace {

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

}  // namespace
}  // namespace hone::storage::sqlite
