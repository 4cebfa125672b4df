#include "gtest/gtest.h"
#include "storage/sqlite/sqlite_store.h"
#include "tests/support/status_matchers.h"
TEST(Smoke, Opens) {
  HONE_ASSERT_OK_AND_ASSIGN(auto s, hone::storage::SqliteStore::Create(testing::TempDir() + "/smoke_store"));
  HONE_ASSERT_OK_AND_ASSIGN(auto d, s->PutBlob("hello"));
  HONE_ASSERT_OK_AND_ASSIGN(auto b, s->GetBlob(d));
  EXPECT_EQ(b, "hello");
}
