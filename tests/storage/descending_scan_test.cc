#include "storage/sqlite/descending_scan.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/temporary_directory.h"
#include "storage/sqlite/database.h"
#include "tests/support/status_matchers.h"

namespace hone::storage::sqlite {
namespace {

using ::testing::ElementsAre;

// The keys that a scan of these rows finds, which come in this order, as those
// of a damaged tree can.
std::vector<int64_t> Scan(const std::string& rows) {
  TemporaryDirectory directory;
  Events events;
  auto database =
      Database::Open(directory.path() + "/a.db", Database::Mode::kReadWrite,
                     absl::Seconds(1), &events);
  EXPECT_THAT(database, hone::testing::IsOk());
  HONE_EXPECT_OK((*database)->Execute(
      "CREATE TABLE a (key INTEGER); INSERT INTO a VALUES " + rows));
  auto query = (*database)->Prepare("SELECT key FROM a WHERE key <= ?1");
  EXPECT_THAT(query, hone::testing::IsOk());
  query->Bind(int64_t{99});
  DescendingScan scan(*query, 100);
  std::vector<int64_t> keys;
  // More steps than rows: the scan runs in circles.
  for (int i = 0; i < 20; ++i) {
    const absl::StatusOr<bool> found = scan.Next();
    EXPECT_THAT(found, hone::testing::IsOk());
    if (!found.ok() || !*found) break;
    keys.push_back(scan.position());
  }
  return keys;
}

TEST(DescendingScan, FindsAllRows) {
  EXPECT_THAT(Scan("(9), (7), (4)"), ElementsAre(9, 7, 4));
}

TEST(DescendingScan, SkipsRowsThatAreNotInOrder) {
  EXPECT_THAT(Scan("(9), (7), (9), (8), (2)"), ElementsAre(9, 7, 2));
}

}  // namespace
}  // namespace hone::storage::sqlite
